//! `Part`: some indices of a tensor, with the offsets of their elements.

use smallvec::SmallVec;
use tensor_layout::strided::Slice;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap};

/// Some indices of a tensor, with the offsets of their elements.
///
/// Nearly every layout has one part that holds all indices. A layout has several parts if its last block is
/// narrower instead of padded, if its rows are rotated, or if a block table says where each block is, because
/// no single index map can express such a layout.
///
/// ```
/// use tensor_layout_text::named::NamedLayout;
///
/// let layout: NamedLayout = "sglang.packed_vnni2:bf16[48,32]".parse()?;
/// let [blocks, rest] = layout.parts.as_slice() else { panic!("32 rows, and 16 in a narrower block") };
/// assert_eq!((rest.indices[0].start, rest.map.sizes(), rest.map.base()), (32, &[16, 32][..], 1024));
/// assert_eq!(blocks.map.sizes(), [32, 32]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// The indices of the part: one slice for each axis, as [`IndexMap::slice`] takes them.
    pub indices: Vec<Slice>,
    /// The offsets of the part's elements in the buffer of the whole layout.
    pub map: IndexMap,
    /// The bits that differ from those of the plain tensor in every byte of the elements: `0x88` where the
    /// top bit of each value of four bits is stored flipped.
    pub flip: u8,
}

/// Every `step`-th index of an axis: `count` of them, from `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: u64,
    pub(crate) step: u64,
    pub(crate) count: u64,
}

/// One run for each axis.
pub(crate) type Runs = SmallVec<[Run; 6]>;

impl Run {
    pub(crate) fn new(slice: Slice, count: u64) -> Run {
        Run { start: slice.start, step: slice.step.max(1), count }
    }

    /// The number behind the last index of neighbouring indices.
    fn end(self) -> u64 {
        self.start.saturating_add(self.count)
    }

    /// Returns the indices of both runs. `None` if there is none.
    pub(crate) fn common(self, other: Run) -> Option<Run> {
        let (wide, narrow) = if self.step < other.step { (other, self) } else { (self, other) };
        let last = |run: Run| run.start.checked_add(run.count.checked_sub(1)?.checked_mul(run.step)?);
        let (end, first) = (last(self)?.min(last(other)?), self.start.max(other.start));
        let skipped = first.saturating_sub(wide.start).div_ceil(wide.step.max(1));
        // The common indices repeat with the least common multiple of the steps.
        (skipped..skipped.saturating_add(narrow.step)).find_map(|number| {
            let start = wide.start.checked_add(number.checked_mul(wide.step)?).filter(|&start| start <= end)?;
            let is_common = start.checked_sub(narrow.start)?.checked_rem(narrow.step)? == 0;
            let multiple = (1..=narrow.step).find(|times| wide.step.saturating_mul(*times).is_multiple_of(narrow.step));
            let step = wide.step.checked_mul(multiple?)?;
            let count = end.checked_sub(start)?.checked_div(step)?.checked_add(1)?;
            is_common.then_some(Run { start, step, count })
        })
    }

    /// Returns the positions of this run's indices in the run `whole`, which must contain all of them.
    pub(crate) fn within(self, whole: Run) -> Slice {
        let divided = |number: u64| number.checked_div(whole.step).unwrap_or(0);
        let start = divided(self.start.saturating_sub(whole.start));
        let step = divided(self.step).max(1);
        let end = self
            .count
            .checked_sub(1)
            .map_or(start, |last| start.saturating_add(last.saturating_mul(step)).saturating_add(1));
        Slice { start, end: Some(end), step }
    }
}

impl Part {
    /// Returns the one part of a layout that an index map describes.
    #[must_use]
    pub fn whole(map: IndexMap) -> Part {
        Part { indices: vec![Slice::ALL; map.sizes().len()], map, flip: 0 }
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.indices.iter().zip(self.map.sizes()).map(|(slice, &count)| Run::new(*slice, count))
    }

    /// Returns the indices that this part and the runs have in common, one run for each axis.
    pub(crate) fn common(&self, runs: &[Run]) -> Option<Runs> {
        self.runs().zip(runs).map(|(own, &other)| own.common(other)).collect()
    }

    /// Returns the map of some indices of the part.
    pub(crate) fn map_of(&self, runs: &[Run]) -> Result<IndexMap, Error> {
        let whole = self.runs().eq(runs.iter().copied());
        let slices: Vec<Slice> = self.runs().zip(runs).map(|(own, run)| run.within(own)).collect();
        if whole { Ok(self.map.clone()) } else { self.map.slice(&slices) }
    }

    /// Converts an index of the tensor to an index of the part. `None` if the part does not hold it.
    #[must_use]
    pub fn inside(&self, index: &[u64]) -> Option<Vec<u64>> {
        let place = |(&i, run): (&u64, Run)| {
            let from_start = i.checked_sub(run.start)?;
            let is_taken = from_start.checked_rem(run.step) == Some(0);
            from_start.checked_div(run.step).filter(|&place| is_taken && place < run.count)
        };
        let place: Option<Vec<u64>> = index.iter().zip(self.runs()).map(place).collect();
        place.filter(|_| index.len() == self.indices.len())
    }

    /// Converts an index of the part to an index of the tensor.
    #[must_use]
    pub fn outside(&self, index: &[u64]) -> Vec<u64> {
        let place = |(&i, run): (&u64, Run)| run.start.saturating_add(i.saturating_mul(run.step));
        index.iter().zip(self.runs()).map(place).collect()
    }
}

/// Refuses an index outside these sizes, as every layout does.
pub(crate) fn check_index(sizes: &[u64], index: &[u64]) -> Result<(), Error> {
    BufferTensorDesc::packed(DataType::U8, sizes)?.offset(index).map(drop)
}

/// Returns the indices that a part on one side and a part on the other have in common, for all pairs that
/// have some. Parts that follow each other along an axis, as the runs of a block table do, are found by their
/// first indices, so two tables take as many steps as they have common runs.
pub(crate) fn common<'p>(parts: &'p [Part], others: &'p [Part]) -> impl Iterator<Item = (&'p Part, Runs, &'p Part)> {
    let in_order = runs_in_order(others);
    parts.iter().flat_map(move |part| {
        let runs: Runs = part.runs().collect();
        let near = in_order.as_ref().and_then(|(axis, rows)| {
            let run = runs.get(*axis).filter(|run| run.step == 1)?;
            let first = rows.partition_point(|row| row.end() <= run.start);
            let last = rows.partition_point(|row| row.start < run.end());
            others.get(first..last)
        });
        near.unwrap_or(others).iter().filter_map(move |other| Some((part, other.common(&runs)?, other)))
    })
}

/// Returns the axis along which parts follow each other, and the indices of each part on it, if these are
/// neighbours.
fn runs_in_order(parts: &[Part]) -> Option<(usize, Vec<Run>)> {
    let axis = parts.first()?.indices.iter().position(|slice| *slice != Slice::ALL)?;
    let runs = parts.iter().map(|part| part.runs().nth(axis).filter(|run| run.step == 1));
    let runs = runs.collect::<Option<Vec<Run>>>()?;
    let mut neighbours = runs.iter().zip(runs.iter().skip(1));
    neighbours.all(|(run, next)| run.end() <= next.start).then_some((axis, runs))
}

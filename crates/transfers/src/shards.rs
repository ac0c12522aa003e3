//! Tensors that are split over ranks, and the transfers from one split to another.
//!
//! A rank holds some boxes of the whole tensor, each somewhere in a tensor of its own, which has a layout.
//! Every way to split a tensor takes ranges of an axis and puts them one behind another, so a rank of a
//! split, of an uneven cut or of fused parts is made by one step (`taking`), and steps nest.
//!
//! Each rank takes memory of its own, so a split has at most [`BOX_LIMIT`] boxes.

use std::ops::Range;

use tensor_layout::checked::{ELEMENTS, Proven, add, len_u64, mul};
use tensor_layout::plan::Code;
use tensor_layout::{Error, IndexMap, ToIndexMap};

/// The most boxes that the ranks of a split hold together, for a tensor of up to 8 axes. A rank counts as one
/// box at least. With more axes there are fewer boxes, so that they take less than 100 MB.
pub const BOX_LIMIT: u64 = 1 << 18;

/// The most pairs of a range and a box that a step looks at.
const PAIR_LIMIT: u64 = 1 << 24;

/// One axis of a box of the whole tensor that a rank holds, from the index `at` of the rank's own tensor on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) whole: Range<u64>,
    pub(crate) at: u64,
}

/// A box that a rank holds: a span for each axis.
pub(crate) type Part = Vec<Span>;

/// The tensor of a rank: its sizes, and the boxes of the whole tensor in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rank {
    sizes: Vec<u64>,
    pub(crate) parts: Vec<Part>,
}

/// Which part of a tensor each rank holds. Steps nest: a step divides every rank into several, which follow
/// each other.
///
/// ```
/// use tensor_layout_transfers::Shards;
///
/// // A projection of 8 query heads and 2 key and value heads of 64 rows each, over 4 ranks: two ranks share
/// // a key head.
/// let fused = Shards::of(&[12 * 64, 512])?.fused(0, &[(8, 64), (2, 64), (2, 64)], 4)?;
/// assert_eq!((fused.ranks(), fused.sizes(3)), (4, &[4 * 64, 512][..]));
/// // Two stages of 3 and 2 layers, with 2 ranks each.
/// let stages = Shards::of(&[5, 8, 64])?.cut(0, &[3, 2])?.split(1, 2)?;
/// assert_eq!((stages.ranks(), stages.sizes(2)), (4, &[2, 4, 64][..]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shards {
    sizes: Vec<u64>,
    ranks: Vec<Rank>,
}

/// A tensor over ranks, each with the layout of its own tensor.
#[derive(Debug, Clone)]
pub struct Sharded {
    shards: Shards,
    layouts: Vec<IndexMap>,
}

impl Shards {
    /// Returns a tensor of these sizes that one rank holds.
    ///
    /// # Errors
    ///
    /// `overflow` if the product of the sizes passes 64 bits.
    pub fn of(sizes: &[u64]) -> Result<Shards, Error> {
        sizes.iter().try_fold(1, |product, &size| mul(product, size, ELEMENTS))?;
        let part = sizes.iter().map(|&size| Span { whole: 0..size, at: 0 }).collect();
        Ok(Shards { sizes: sizes.to_vec(), ranks: vec![Rank { sizes: sizes.to_vec(), parts: vec![part] }] })
    }

    /// Splits each rank along an axis over `ranks` ranks. Each rank gets the same number of indices, rounded
    /// up. If the size is no multiple of the ranks, the last ranks get fewer indices or none.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `out_of_limits` for 0 ranks, or for more than [`BOX_LIMIT`] boxes.
    pub fn split(&self, axis: usize, ranks: usize) -> Result<Shards, Error> {
        self.divided(axis, ranks, |rank, size| Ok(vec![share(rank, size, ranks)]))
    }

    /// Cuts each rank along an axis into parts of these lengths.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `size_mismatch` if the lengths do not add up to the size; `out_of_limits` for no
    /// lengths, or for more than [`BOX_LIMIT`] boxes.
    pub fn cut(&self, axis: usize, lengths: &[u64]) -> Result<Shards, Error> {
        let mut ends = Vec::with_capacity(lengths.len());
        for &length in lengths {
            ends.push(add(ends.last().copied().unwrap_or(0), length, ELEMENTS)?);
        }
        self.divided(axis, lengths.len(), |rank, size| {
            let end = |rank: Option<usize>| rank.and_then(|rank| ends.get(rank)).copied().unwrap_or(0);
            match ends.last() {
                Some(&sum) if sum != size => Err(Code::SizeMismatch.on_axis(axis, sum, size)),
                _ => Ok(std::iter::once(end(rank.checked_sub(1))..end(Some(rank))).collect()),
            }
        })
    }

    /// Splits each rank along an axis that is made of parts, such as queries, keys and values, or gate and
    /// up. A part is a number of units (heads) and the length of a unit. Each rank gets its units of every
    /// part, one part behind another. If a part has fewer units than there are ranks, several ranks hold the
    /// same unit.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `size_mismatch` if the parts do not add up to the size; `out_of_limits` for 0
    /// ranks, for a part of 0 units, for more than [`BOX_LIMIT`] boxes, or if the ranks are no multiple of
    /// the units of a part with fewer.
    pub fn fused(&self, axis: usize, parts: &[(u64, u64)], ranks: usize) -> Result<Shards, Error> {
        self.fused_by(axis, parts, ranks, |units| {
            if units == 0 || (units < len_u64(ranks) && !len_u64(ranks).is_multiple_of(units)) {
                return Err(Error::out_of_limits("the number of units of a fused part", units, 1, len_u64(ranks)));
            }
            Ok(usize::try_from(units).map_or(1, |units| ranks.divided_by(units.clamp(1, ranks))))
        })
    }

    /// Splits each rank like [`fused`](Self::fused), but every unit has one holder: if a part has fewer units
    /// than there are ranks, the last ranks hold none of it. PyTorch's `_StridedShard` splits an axis so, of
    /// which the chunks of `torch.chunk` are the parts.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `size_mismatch` if the parts do not add up to the size; `out_of_limits` for 0
    /// ranks, or for more than [`BOX_LIMIT`] boxes.
    ///
    /// ```
    /// use tensor_layout_transfers::Shards;
    ///
    /// // _StridedShard(0, split_factor=2) of 5 rows over 4 ranks: rows 0 and 3, 1 and 4, 2, none.
    /// let strided = Shards::of(&[5])?.fused_once(0, &[(3, 1), (2, 1)], 4)?;
    /// assert_eq!((0..4).map(|rank| strided.sizes(rank)[0]).collect::<Vec<_>>(), [2, 2, 1, 0]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn fused_once(&self, axis: usize, parts: &[(u64, u64)], ranks: usize) -> Result<Shards, Error> {
        self.fused_by(axis, parts, ranks, |_| Ok(1))
    }

    /// Splits each rank by its share of the units of every part. `holders` says how many ranks hold a unit of
    /// a part, for the number of its units.
    fn fused_by(
        &self,
        axis: usize,
        parts: &[(u64, u64)],
        ranks: usize,
        holders: impl Fn(u64) -> Result<usize, Error>,
    ) -> Result<Shards, Error> {
        self.divided(axis, ranks, |rank, size| {
            let (mut start, mut ranges) = (0, Vec::new());
            for &(units, length) in parts {
                let holders = holders(units)?;
                let Range { start: first, end: last } =
                    share(rank.divided_by(holders), units, ranks.divided_by(holders));
                let at = |unit: u64| add(start, mul(unit, length, ELEMENTS)?, ELEMENTS);
                ranges.push(at(first)?..at(last)?);
                start = at(units)?;
            }
            if start == size { Ok(ranges) } else { Err(Code::SizeMismatch.on_axis(axis, start, size)) }
        })
    }

    /// Gives what each rank holds to `ranks` ranks.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for 0 ranks, or for more than [`BOX_LIMIT`] boxes.
    pub fn replicated(&self, ranks: usize) -> Result<Shards, Error> {
        self.check_ranks(ranks)?;
        self.of_ranks(self.ranks.iter().flat_map(|rank| std::iter::repeat_n(rank, ranks)).map(|rank| Ok(rank.clone())))
    }

    /// The ranks whose places in the list are given, in their order: experts that are moved, or ranks that
    /// are numbered in another way.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for a rank that does not exist, or for more than [`BOX_LIMIT`] boxes.
    pub fn ordered(&self, ranks: &[usize]) -> Result<Shards, Error> {
        let last = len_u64(self.ranks.len()).saturating_sub(1);
        self.of_ranks(ranks.iter().map(|&rank| {
            self.ranks.get(rank).cloned().ok_or_else(|| Error::out_of_limits("the rank", len_u64(rank), 0, last))
        }))
    }

    /// Divides each rank into several. `ranges` says which ranges of the axis a rank takes, for the number of
    /// the rank and the size of the axis.
    fn divided(
        &self,
        axis: usize,
        ranks: usize,
        ranges: impl Fn(usize, u64) -> Result<Vec<Range<u64>>, Error>,
    ) -> Result<Shards, Error> {
        if axis >= self.sizes.len() {
            return Err(Error::axis_out_of_range(axis, self.sizes.len()));
        }
        self.check_ranks(ranks)?;
        let mut pairs = 0;
        let each = self.ranks.iter().flat_map(|own| (0..ranks).map(move |rank| (own, rank)));
        self.of_ranks(each.map(|(own, rank)| {
            let ranges = ranges(rank, own.sizes.get(axis).copied().unwrap_or(0))?;
            pairs = len_u64(ranges.len()).saturating_mul(len_u64(own.parts.len())).saturating_add(pairs);
            if pairs > PAIR_LIMIT { Err(self.too_many(pairs)) } else { Ok(own.taking(axis, &ranges)) }
        }))
    }

    /// Refuses a step that would make `ranks` ranks of each rank, if that is none or too many.
    fn check_ranks(&self, ranks: usize) -> Result<(), Error> {
        if ranks == 0 {
            return Err(Error::out_of_limits("the number of ranks", 0, 1, u64::MAX));
        }
        let all = len_u64(self.ranks.len()).saturating_mul(len_u64(ranks));
        if all > self.most_boxes() { Err(self.too_many(all)) } else { Ok(()) }
    }

    /// Returns a split of these ranks, if they hold no more boxes than a split may have.
    fn of_ranks(&self, ranks: impl Iterator<Item = Result<Rank, Error>>) -> Result<Shards, Error> {
        let (mut made, mut boxes) = (Vec::new(), 0_u64);
        for rank in ranks {
            let rank = rank?;
            boxes = boxes.saturating_add(len_u64(rank.parts.len().max(1)));
            if boxes > self.most_boxes() {
                return Err(self.too_many(boxes));
            }
            made.push(rank);
        }
        Ok(Shards { sizes: self.sizes.clone(), ranks: made })
    }

    fn most_boxes(&self) -> u64 {
        BOX_LIMIT.times(8).divided_by(len_u64(self.sizes.len()).max(8))
    }

    fn too_many(&self, boxes: u64) -> Error {
        Error::out_of_limits("the number of boxes of all ranks", boxes, 1, self.most_boxes())
    }

    /// The sizes of the whole tensor.
    pub(crate) fn tensor(&self) -> &[u64] {
        &self.sizes
    }

    pub(crate) fn boxes(&self) -> &[Rank] {
        &self.ranks
    }

    /// The number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The sizes of the tensor of a rank. A layout may be larger, and then the rest is padding.
    #[must_use]
    pub fn sizes(&self, rank: usize) -> &[u64] {
        self.ranks.get(rank).map_or(&[], |rank| &rank.sizes)
    }

    /// Gives each rank a layout. `layout` is called with the number of a rank and its sizes.
    ///
    /// # Errors
    ///
    /// The errors of `layout`. `rank_mismatch` or `size_mismatch` if a layout does not hold the sizes.
    pub fn with_layouts<L: ToIndexMap>(
        self,
        mut layout: impl FnMut(usize, &[u64]) -> Result<L, Error>,
    ) -> Result<Sharded, Error> {
        let mut layouts = Vec::with_capacity(self.ranks.len());
        for rank in 0..self.ranks.len() {
            let sizes = self.sizes(rank);
            let map = layout(rank, sizes)?.to_index_map()?;
            if map.sizes().len() != sizes.len() {
                return Err(Error::rank_mismatch("axes of a rank's layout", sizes.len(), map.sizes().len()));
            }
            let short = map.sizes().iter().zip(sizes).position(|(has, needs)| has < needs);
            if let Some(axis) = short {
                let of = |sizes: &[u64]| sizes.get(axis).copied().unwrap_or(0);
                return Err(Code::SizeMismatch.on_axis(axis, of(map.sizes()), of(sizes)));
            }
            layouts.push(map);
        }
        Ok(Sharded { shards: self, layouts })
    }
}

impl Sharded {
    /// Which part of the tensor each rank holds.
    #[must_use]
    pub fn shards(&self) -> &Shards {
        &self.shards
    }

    /// The layouts of the ranks.
    #[must_use]
    pub fn layouts(&self) -> &[IndexMap] {
        &self.layouts
    }
}

/// Returns the indices that a rank gets of an axis of this size. Every rank gets the same number, rounded up,
/// and the last ranks get what is left.
// Proved for every input (proofs/lemmas.py):
// * share.inside: a share is inside the size, and as long as the others if it is not the last one.
// * share.starts: the first share begins at 0.
// * share.follows: a share ends where the next one begins.
// * share.covers: the last share ends with the size.
fn share(rank: usize, size: u64, ranks: usize) -> Range<u64> {
    let each = size.div_ceil(len_u64(ranks).max(1));
    let from = len_u64(rank).saturating_mul(each).min(size);
    from..from.saturating_add(each).min(size)
}

impl Rank {
    /// Returns a rank that takes ranges of an axis of this rank, one behind another.
    fn taking(&self, axis: usize, ranges: &[Range<u64>]) -> Rank {
        let (mut parts, mut before) = (Vec::new(), 0_u64);
        for range in ranges {
            for part in &self.parts {
                let Some(Span { whole, at }) = part.get(axis) else { continue };
                let held = *at..at.plus(whole.end.minus(whole.start));
                let (start, end) = (range.start.max(held.start), range.end.min(held.end));
                if start < end {
                    let index = |index: u64| whole.start.plus(index.minus(*at));
                    let taken = Span { whole: index(start)..index(end), at: before.plus(start.minus(range.start)) };
                    let mut part = part.clone();
                    part.get_mut(axis).into_iter().for_each(|span| *span = taken.clone());
                    parts.push(part);
                }
            }
            before = before.plus(range.end.minus(range.start));
        }
        let mut sizes = self.sizes.clone();
        sizes.get_mut(axis).into_iter().for_each(|size| *size = before);
        Rank { sizes, parts }
    }
}

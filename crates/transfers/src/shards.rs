//! Tensors that are split over ranks, and the transfers from one split to another.
//!
//! A rank holds some boxes of the whole tensor, each somewhere in a tensor of its own, which has a layout.
//! Every way to split a tensor takes ranges of an axis and puts them one behind another, so a rank of a
//! split, of an uneven cut or of fused parts is made by one step (`taking`), and steps nest.
//!
//! A plan intersects the boxes of a destination with those of the sources. An intersection is a slice of the
//! layouts of both ranks, where it is cut at the blocks of tiles that it begins inside of. If several ranks
//! hold a box, the one that has given the fewest elements so far gives it.

use std::ops::Range;

use tensor_layout::checked::{ELEMENTS, add, mul};
use tensor_layout::plan::{Code, Digit};
use tensor_layout::strided::Slice;
use tensor_layout::{Error, IndexMap, Relayout, ToIndexMap};

use super::executor::Executor;
use super::list::Transfers;
use super::nest::NEST_LIMIT;

/// A box of the whole tensor that a rank holds, from the index `at` of the rank's own tensor on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    whole: Vec<Range<u64>>,
    at: Vec<u64>,
}

/// The tensor of a rank: its sizes, and the boxes of the whole tensor in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rank {
    sizes: Vec<u64>,
    parts: Vec<Part>,
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

/// The transfers from one rank to another.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pair {
    /// The rank that is read.
    pub from: usize,
    /// The rank that is written.
    pub to: usize,
    /// The transfers between the buffers of the two ranks.
    pub transfers: Transfers,
}

impl Shards {
    /// Returns a tensor of these sizes that one rank holds.
    ///
    /// # Errors
    ///
    /// `overflow` if the product of the sizes passes 64 bits.
    pub fn of(sizes: &[u64]) -> Result<Shards, Error> {
        sizes.iter().try_fold(1, |product, &size| mul(product, size, ELEMENTS))?;
        let part = Part { whole: sizes.iter().map(|&size| 0..size).collect(), at: vec![0; sizes.len()] };
        Ok(Shards { sizes: sizes.to_vec(), ranks: vec![Rank { sizes: sizes.to_vec(), parts: vec![part] }] })
    }

    /// Splits each rank along an axis over `ranks` ranks. Each gets as many indices, and the last ones get
    /// fewer if the size is no multiple, down to none.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `out_of_limits` for 0 ranks.
    pub fn split(&self, axis: usize, ranks: usize) -> Result<Shards, Error> {
        self.divided(axis, ranks, |rank, size| Ok(vec![share(rank, size, ranks)]))
    }

    /// Cuts each rank along an axis into parts of these lengths.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `size_mismatch` if the lengths do not add up to the size.
    pub fn cut(&self, axis: usize, lengths: &[u64]) -> Result<Shards, Error> {
        let sum = lengths.iter().try_fold(0, |sum, &length| add(sum, length, ELEMENTS))?;
        self.divided(axis, lengths.len(), |rank, size| {
            if sum != size {
                return Err(Code::SizeMismatch.at(axis, sum, size));
            }
            let start: u64 = lengths.iter().take(rank).sum();
            let length = lengths.get(rank).copied().unwrap_or(0);
            Ok(std::iter::once(start..start + length).collect())
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
    /// ranks, for a part of 0 units, or if the ranks are no multiple of the units of a part with fewer.
    pub fn fused(&self, axis: usize, parts: &[(u64, u64)], ranks: usize) -> Result<Shards, Error> {
        self.divided(axis, ranks, |rank, size| {
            let (mut start, mut ranges) = (0, Vec::new());
            for &(units, length) in parts {
                let holders = usize::try_from(units).map_or(1, |units| ranks / units.clamp(1, ranks));
                if units == 0 || (units < number(ranks) && !number(ranks).is_multiple_of(units)) {
                    return Err(Error::out_of_limits("the number of units of a fused part", units, 1, number(ranks)));
                }
                let Range { start: first, end: last } = share(rank / holders, units, ranks / holders);
                let at = |unit: u64| add(start, mul(unit, length, ELEMENTS)?, ELEMENTS);
                ranges.push(at(first)?..at(last)?);
                start = at(units)?;
            }
            if start == size { Ok(ranges) } else { Err(Code::SizeMismatch.at(axis, start, size)) }
        })
    }

    /// Gives what each rank holds to `ranks` ranks.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for 0 ranks.
    pub fn replicated(&self, ranks: usize) -> Result<Shards, Error> {
        if ranks == 0 {
            return Err(Error::out_of_limits("the number of ranks", 0, 1, u64::MAX));
        }
        let repeated = self.ranks.iter().flat_map(|rank| std::iter::repeat_n(rank.clone(), ranks));
        Ok(Shards { sizes: self.sizes.clone(), ranks: repeated.collect() })
    }

    /// The ranks whose places in the list are given, in their order: experts that are moved, or ranks that
    /// are numbered in another way.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for a rank that does not exist.
    pub fn ordered(&self, ranks: &[usize]) -> Result<Shards, Error> {
        let last = number(self.ranks.len()).saturating_sub(1);
        let rank = |&rank: &usize| {
            self.ranks.get(rank).cloned().ok_or_else(|| Error::out_of_limits("the rank", number(rank), 0, last))
        };
        Ok(Shards { sizes: self.sizes.clone(), ranks: ranks.iter().map(rank).collect::<Result<_, _>>()? })
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
        if ranks == 0 {
            return Err(Error::out_of_limits("the number of ranks", 0, 1, u64::MAX));
        }
        let mut divided = Vec::new();
        for own in &self.ranks {
            let size = own.sizes.get(axis).copied().unwrap_or(0);
            for rank in 0..ranks {
                divided.push(own.taking(axis, &ranges(rank, size)?));
            }
        }
        Ok(Shards { sizes: self.sizes.clone(), ranks: divided })
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
                return Err(Code::RankMismatch.by(number(map.sizes().len()), number(sizes.len())));
            }
            let short = map.sizes().iter().zip(sizes).position(|(has, needs)| has < needs);
            if let Some(axis) = short {
                let of = |sizes: &[u64]| sizes.get(axis).copied().unwrap_or(0);
                return Err(Code::SizeMismatch.at(axis, of(map.sizes()), of(sizes)));
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

fn number(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The indices of a size that a rank gets: as many as the others, the last ones fewer.
fn share(rank: usize, size: u64, ranks: usize) -> Range<u64> {
    let each = size.div_ceil(number(ranks).max(1));
    let from = number(rank).saturating_mul(each).min(size);
    from..from.saturating_add(each).min(size)
}

impl Rank {
    /// Returns a rank that takes ranges of an axis of this rank, one behind another.
    fn taking(&self, axis: usize, ranges: &[Range<u64>]) -> Rank {
        let (mut parts, mut before) = (Vec::new(), 0);
        for range in ranges {
            for part in &self.parts {
                let mut part = part.clone();
                let (Some(at), Some(whole)) = (part.at.get_mut(axis), part.whole.get_mut(axis)) else { continue };
                let (start, end) = (range.start.max(*at), range.end.min(*at + (whole.end - whole.start)));
                if start < end {
                    *whole = whole.start + (start - *at)..whole.start + (end - *at);
                    *at = before + (start - range.start);
                    parts.push(part);
                }
            }
            before += range.end - range.start;
        }
        let mut sizes = self.sizes.clone();
        sizes.get_mut(axis).into_iter().for_each(|size| *size = before);
        Rank { sizes, parts }
    }
}

/// Plans the transfers from one split and its layouts to another: for each pair of ranks that share elements,
/// what the first sends to the second. Every element of every destination is written once, and nothing is
/// kept in between. Of several ranks that hold the same, those give next that have given the least.
///
/// # Errors
///
/// `rank_mismatch` or `size_mismatch` if the two sides split tensors of other sizes; `index_out_of_range` if
/// no source holds an index that a destination has; `overlapping_destination`; and the errors of
/// [`transfers`](crate::transfers).
///
/// ```
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout_transfers::{Executor, Shards, reshard};
///
/// // 8 heads over 4 ranks, and then over 8.
/// let cache = Shards::of(&[16, 8, 64])?;
/// let packed = |_, sizes: &[u64]| BufferTensorDesc::packed(tensor_layout::DataType::F16, sizes);
/// let (from, to) = (cache.split(1, 4)?.with_layouts(packed)?, cache.split(1, 8)?.with_layouts(packed)?);
/// let pairs = reshard(&from, &to, &Executor::with_loops(1))?;
/// assert_eq!(pairs.iter().map(|pair| (pair.from, pair.to)).take(3).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
/// assert_eq!(pairs[1].transfers.count(), 1);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn reshard(from: &Sharded, to: &Sharded, executor: &Executor) -> Result<Vec<Pair>, Error> {
    let (sizes, found) = (&from.shards.sizes, &to.shards.sizes);
    if sizes.len() != found.len() {
        return Err(Code::RankMismatch.by(number(found.len()), number(sizes.len())));
    }
    if let Some((axis, (&size, &found))) = sizes.iter().zip(found).enumerate().find(|(_, (a, b))| a != b) {
        return Err(Code::SizeMismatch.at(axis, found, size));
    }
    let mut given = vec![0_u64; from.shards.ranks.len()];
    let mut pairs = Vec::new();
    for (rank, (own, layout)) in to.shards.ranks.iter().zip(&to.layouts).enumerate() {
        layout.check_injective()?;
        let mut copies: Vec<Vec<Relayout>> = vec![Vec::new(); given.len()];
        for part in &own.parts {
            let mut open = vec![part.whole.clone()];
            open.retain(|part| part.iter().all(|range| range.start < range.end));
            while let Some(wanted) = open.pop() {
                let (giver, source, common) = giver(from, &given, &wanted)?;
                let elements = common.iter().map(|range| range.end - range.start).product::<u64>();
                if let Some(given) = given.get_mut(giver) {
                    *given = given.saturating_add(elements);
                }
                let (Some(read), Some(copies)) = (from.layouts.get(giver), copies.get_mut(giver)) else { continue };
                copies.extend(between((read, source), (layout, part), &common)?);
                without(wanted, &common, &mut open);
            }
        }
        for (giver, copies) in copies.into_iter().enumerate().filter(|(_, copies)| !copies.is_empty()) {
            let plans: Vec<&Relayout> = copies.iter().collect();
            pairs.push(Pair { from: giver, to: rank, transfers: Transfers::of(&plans, executor)? });
        }
    }
    Ok(pairs)
}

/// Returns the rank that gives some of a box next, its part, and what both have in common.
fn giver<'a>(
    from: &'a Sharded,
    given: &[u64],
    wanted: &[Range<u64>],
) -> Result<(usize, &'a Part, Vec<Range<u64>>), Error> {
    let parts =
        from.shards.ranks.iter().enumerate().flat_map(|(rank, own)| own.parts.iter().map(move |part| (rank, part)));
    let common = |part: &Part| -> Option<Vec<Range<u64>>> {
        let both = part.whole.iter().zip(wanted);
        let ranges = both.map(|(a, b)| a.start.max(b.start)..a.end.min(b.end));
        ranges.map(|range| (range.start < range.end).then_some(range)).collect()
    };
    let able = parts.filter_map(|(rank, part)| Some((rank, part, common(part)?)));
    able.min_by_key(|(rank, ..)| given.get(*rank).copied()).ok_or_else(|| {
        let axis = wanted.iter().position(|range| range.start > 0).unwrap_or(0);
        let index = wanted.get(axis).map_or(0, |range| range.start);
        Code::IndexOutOfRange.at(axis, index, from.shards.sizes.get(axis).copied().unwrap_or(0))
    })
}

/// Adds the boxes that are left of a box without the part that is `common`.
fn without(mut wanted: Vec<Range<u64>>, common: &[Range<u64>], open: &mut Vec<Vec<Range<u64>>>) {
    for (axis, taken) in common.iter().enumerate() {
        let Some(range) = wanted.get(axis).cloned() else { continue };
        for rest in [range.start..taken.start, taken.end..range.end] {
            if rest.start < rest.end {
                let mut other = wanted.clone();
                other.get_mut(axis).into_iter().for_each(|range| *range = rest.clone());
                open.push(other);
            }
        }
        wanted.get_mut(axis).into_iter().for_each(|range| *range = taken.clone());
    }
}

/// Plans the copies of a box from the tensor of one rank to that of another.
fn between(
    (read, source): (&IndexMap, &Part),
    (written, destination): (&IndexMap, &Part),
    common: &[Range<u64>],
) -> Result<Vec<Relayout>, Error> {
    let mut boxes: Vec<Vec<Range<u64>>> = vec![Vec::new()];
    for (axis, range) in common.iter().enumerate() {
        let (mut pieces, mut start) = (Vec::new(), range.start);
        while start < range.end {
            let mut length = range.end - start;
            for (map, part) in [(read, source), (written, destination)] {
                let (Some(at), Some(whole)) = (part.at.get(axis), part.whole.get(axis)) else { continue };
                let component = map.components().iter().find(|component| component.dims() == [axis]);
                let digits = component.map_or(&[][..], |component| component.chain.digits());
                length = inside_blocks(digits, start - whole.start + at, length);
            }
            pieces.push(start..start + length);
            start += length;
        }
        if pieces.len().saturating_mul(boxes.len()) > NEST_LIMIT {
            return Err(Error::undecided(
                "the transfers between tiles that begin at different indices",
                number(NEST_LIMIT),
            ));
        }
        let longer = |one: &Vec<Range<u64>>| {
            let one = one.clone();
            pieces.iter().map(move |piece| [&one[..], std::slice::from_ref(piece)].concat())
        };
        boxes = boxes.iter().flat_map(longer).collect();
    }
    let slice = |map: &IndexMap, part: &Part, piece: &[Range<u64>]| {
        let own = piece
            .iter()
            .zip(&part.whole)
            .zip(&part.at)
            .map(|((range, whole), at)| Slice::from(range.start - whole.start + at..range.end - whole.start + at));
        map.slice(&own.collect::<Vec<_>>())
    };
    let plan =
        |piece: &Vec<Range<u64>>| Relayout::new(&slice(read, source, piece)?, &slice(written, destination, piece)?);
    boxes.iter().map(plan).collect()
}

/// Returns how far a range goes at most, so that it begins at the start of a block or is inside one, at every
/// level.
fn inside_blocks(digits: &[Digit], mut start: u64, mut length: u64) -> u64 {
    for digit in digits {
        let divisor = digit.divisor.get();
        start %= divisor;
        if start == 0 {
            break;
        }
        length = length.min(divisor - start);
    }
    length
}

//! The transfers from one split of a tensor to another.
//!
//! A plan intersects the boxes of a destination with those of the sources ([`Givers`]). An intersection is a
//! slice of the layouts of both ranks, where it is cut at the blocks of tiles that it begins inside of. If
//! several ranks hold a box, the one that has given the fewest elements so far gives it.

use std::collections::BTreeMap;
use std::ops::Range;

use tensor_layout::checked::{Proven, len_u64};
use tensor_layout::plan::{Code, Digit};
use tensor_layout::strided::Slice;
use tensor_layout::{Error, IndexMap, Relayout};

use super::givers::{Givers, common};
use super::list::Transfers;
use super::nest::NEST_LIMIT;
use super::shards::{Part, Sharded, Span};
use super::transfer_limits::TransferLimits;

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

/// Plans the transfers from one split and its layouts to another: for each pair of ranks that share elements,
/// what the first sends to the second. Every element of every destination is written once, and nothing is
/// kept in between. If several ranks hold the same elements, the rank that has given the fewest so far gives
/// them.
///
/// # Errors
///
/// `rank_mismatch` or `size_mismatch` if the two sides split tensors of other sizes; `index_out_of_range` if
/// no source holds an index that a destination has; `overlapping_destination`; and the errors of
/// [`transfers`](crate::transfers).
///
/// ```
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout_transfers::{TransferLimits, Shards, reshard};
///
/// // 8 heads over 4 ranks, and then over 8.
/// let cache = Shards::of(&[16, 8, 64])?;
/// let packed = |_, sizes: &[u64]| BufferTensorDesc::packed(tensor_layout::DataType::F16, sizes);
/// let (from, to) = (cache.split(1, 4)?.with_layouts(packed)?, cache.split(1, 8)?.with_layouts(packed)?);
/// let pairs = reshard(&from, &to, &TransferLimits::with_loops(1))?;
/// assert_eq!(pairs.iter().map(|pair| (pair.from, pair.to)).take(3).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
/// assert_eq!(pairs[1].transfers.count(), 1);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn reshard(from: &Sharded, to: &Sharded, limits: &TransferLimits) -> Result<Vec<Pair>, Error> {
    let (sizes, found) = (from.shards().tensor(), to.shards().tensor());
    if sizes.len() != found.len() {
        return Err(Error::rank_mismatch("axes of the destination", sizes.len(), found.len()));
    }
    if let Some((axis, (&size, &found))) = sizes.iter().zip(found).enumerate().find(|(_, (a, b))| a != b) {
        return Err(Code::SizeMismatch.on_axis(axis, found, size));
    }
    let mut givers = Givers::of(from.shards().boxes());
    let mut pairs = Vec::new();
    for (rank, (own, layout)) in to.shards().boxes().iter().zip(to.layouts()).enumerate() {
        layout.check_injective()?;
        let mut copies: BTreeMap<usize, Vec<Relayout>> = BTreeMap::new();
        for part in &own.parts {
            let mut open: Vec<Vec<Range<u64>>> = vec![part.iter().map(|span| span.whole.clone()).collect()];
            open.retain(|part| part.iter().all(|range| range.start < range.end));
            while let Some(wanted) = open.pop() {
                let Some((giver, source)) = givers.next(&wanted) else { return Err(missing(&wanted, sizes)) };
                let Some(common) = common(source, &wanted) else { continue };
                let Some(read) = from.layouts().get(giver) else { continue };
                copies.entry(giver).or_default().extend(between((read, source), (layout, part), &common)?);
                without(wanted, &common, &mut open);
            }
        }
        for (giver, copies) in copies {
            let plans: Vec<&Relayout> = copies.iter().collect();
            pairs.push(Pair { from: giver, to: rank, transfers: Transfers::of(&plans, limits)? });
        }
    }
    Ok(pairs)
}

/// The error for a box that no source holds.
fn missing(wanted: &[Range<u64>], sizes: &[u64]) -> Error {
    let axis = wanted.iter().position(|range| range.start > 0).unwrap_or(0);
    let index = wanted.get(axis).map_or(0, |range| range.start);
    Code::IndexOutOfRange.on_axis(axis, index, sizes.get(axis).copied().unwrap_or(0))
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
            let mut length = range.end.minus(start);
            for (map, part) in [(read, source), (written, destination)] {
                let Some(span) = part.get(axis) else { continue };
                let component = map.components().iter().find(|component| component.dims() == [axis]);
                let digits = component.map_or(&[][..], |component| component.chain.digits());
                length = inside_blocks(digits, own_index(span, start), length);
            }
            let end = start.plus(length);
            pieces.push(start..end);
            start = end;
            // Tiles whose blocks are not aligned with each other could need a piece for each index.
            if pieces.len().saturating_mul(boxes.len()) > NEST_LIMIT {
                let what = "the transfers between tiles that begin at different indices";
                return Err(Error::undecided(what, len_u64(NEST_LIMIT)));
            }
        }
        let longer = |one: &Vec<Range<u64>>| {
            let one = one.clone();
            pieces.iter().map(move |piece| [&one[..], std::slice::from_ref(piece)].concat())
        };
        boxes = boxes.iter().flat_map(longer).collect();
    }
    let slice = |map: &IndexMap, part: &Part, piece: &[Range<u64>]| {
        let own =
            |(range, span): (&Range<u64>, &Span)| Slice::from(own_index(span, range.start)..own_index(span, range.end));
        map.slice(&piece.iter().zip(part).map(own).collect::<Vec<_>>())
    };
    let plan =
        |piece: &Vec<Range<u64>>| Relayout::new(&slice(read, source, piece)?, &slice(written, destination, piece)?);
    boxes.iter().map(plan).collect()
}

/// The index of a rank's own tensor for an index of the whole tensor.
fn own_index(span: &Span, index: u64) -> u64 {
    index.minus(span.whole.start).plus(span.at)
}

/// Returns how far a range goes at most, so that it begins at the start of a block or is inside one, at every
/// level.
fn inside_blocks(digits: &[Digit], mut start: u64, mut length: u64) -> u64 {
    for digit in digits {
        let divisor = digit.divisor.get();
        start = start.modulo(divisor);
        if start == 0 {
            break;
        }
        length = length.min(divisor.minus(start));
    }
    length
}

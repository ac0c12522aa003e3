//! Copies of caches whose blocks are in many places.
//!
//! A block table makes a cache of several parts, one for each run of neighbouring blocks. A copy between two
//! such caches is a list of copies between views of equal sizes: the runs of both sides are walked together,
//! and cut wherever one of them ends. A view may begin inside a block, but then ends with it, so a run is
//! also cut at the blocks of the other side where its view would not exist.
//!
//! ```text
//! from, blocks of 2 tokens    |7 7|2 2 3 3 4 4|9 9|          runs of 2, 6 and 2 tokens
//! to, blocks of 4 tokens      |5 5 5 5|6 6 6 6 1|            runs of 8 and 2 tokens
//! pairs                        0-1 2-7         8-9           3 copies
//! ```

use tensor_layout::strided::Slice;
use tensor_layout::{Error, IndexMap};

use crate::part::Part;

use super::layout::refused;

/// Returns pairs of views with equal sizes. The copies of all pairs are the copy of one layout to the other.
/// The parts of a cache are [`KvCache::parts`](super::KvCache::parts); any other layout is one part,
/// [`Part::whole`].
///
/// # Errors
///
/// `not_expressible` if the parts have not the same number of blocks or tokens, `overlapping_destination` if
/// a block of `to` is there twice, and `not_a_view` for a layout whose tiles cannot be cut where the parts
/// end.
///
/// ```
/// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType, ToIndexMap};
/// use tensor_layout_text::kv::{pairs, KvCache};
/// use tensor_layout_text::layout::Part;
///
/// // The 7 tokens of a sequence in blocks 3, 0 and 1, to one dense tensor.
/// let cache: KvCache = "kv:LBNHC:u8[L=1,B=[3,0,1]/4,T=7,H=1,N=3,C=2]".parse()?;
/// let dense = BufferTensorDesc::packed(DataType::U8, &[1, 7, 1, 2])?;
/// let (memory, mut sequence) = ((0..24).collect::<Vec<u8>>(), [0; 14]);
/// for (from, to) in pairs(&cache.parts(), &[Part::whole(dense.to_index_map()?)])? {
///     Relayout::new(&from, &to)?.run(&memory, &mut sequence[..])?;
/// }
/// assert_eq!(sequence, [18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn pairs(from: &[Part], to: &[Part]) -> Result<Vec<(IndexMap, IndexMap)>, Error> {
    let cut = |part: &Part| part.indices.iter().position(|slice| *slice != Slice::ALL);
    let axis = from.iter().chain(to).find_map(cut).unwrap_or(0);
    let range = |part: &Part| {
        let start = part.indices.get(axis).map_or(0, |slice| slice.start);
        (start, start.saturating_add(part.map.sizes().get(axis).copied().unwrap_or(1)))
    };
    let end = |parts: &[Part]| parts.last().map_or(0, |part| range(part).1);
    if end(from) != end(to) {
        return Err(refused(format!("one side has {} indices on axis {axis} and the other {}", end(from), end(to))));
    }
    refuse_repeated(to, axis)?;
    let (mut pairs, mut at) = (Vec::new(), 0_u64);
    let (mut sources, mut destinations) = (from.iter().peekable(), to.iter().peekable());
    while let (Some(&source), Some(&destination)) = (sources.peek(), destinations.peek()) {
        let both = [source, destination];
        let end = range(source).1.min(range(destination).1);
        // The ends of the blocks of either side after `at`, the furthest end first, so that the longest piece
        // that has a view is taken.
        let blocks = both.iter().flat_map(|part| {
            let start = range(part).0;
            let components = part.map.components().iter().filter(|component| component.dims().contains(&axis));
            let divisors = components.flat_map(|component| component.chain.digits()).map(|digit| digit.divisor.get());
            divisors.filter_map(move |block| {
                Some(start.saturating_add(
                    at.saturating_sub(start).checked_div(block)?.saturating_add(1).saturating_mul(block),
                ))
            })
        });
        let mut ends: Vec<u64> = blocks.filter(|&block| block < end).chain([end]).collect();
        ends.sort_unstable();
        let view = |part: &Part, end: u64| {
            let mut slices = vec![Slice::ALL; part.map.sizes().len()];
            let start = range(part).0;
            if let Some(slice) = slices.get_mut(axis) {
                *slice = (at.saturating_sub(start)..end.saturating_sub(start)).into();
            }
            part.map.slice(&slices)
        };
        let mut pair = Err(refused("a part is empty"));
        for &end in ends.iter().rev() {
            pair = view(source, end).and_then(|from| Ok((end, from, view(destination, end)?)));
            if pair.is_ok() {
                break;
            }
        }
        let (next, from, to) = pair?;
        pairs.push((from, to));
        at = next;
        sources.next_if(|_| range(source).1 == at);
        destinations.next_if(|_| range(destination).1 == at);
    }
    Ok(pairs)
}

/// Refuses parts of a destination that share a block. A part is a range of blocks, so if parts share a block,
/// then two that are neighbours in the order of their first offsets do.
fn refuse_repeated(parts: &[Part], axis: usize) -> Result<(), Error> {
    let first = |part: &Part| part.map.offset(&vec![0; part.map.sizes().len()]);
    let stored = parts.iter().filter(|part| parts.len() > 1 && part.map.element_count() > 0);
    let mut starts = stored.map(|part| Ok((first(part)?, part))).collect::<Result<Vec<_>, Error>>()?;
    starts.sort_by_key(|start| start.0);
    let index = |part: &Part, mut index: Vec<u64>| {
        let start = part.indices.get(axis).map_or(0, |slice| slice.start);
        index.get_mut(axis).into_iter().for_each(|at| *at = at.saturating_add(start));
        index
    };
    for (&(_, before), &(offset, part)) in starts.iter().zip(starts.iter().skip(1)) {
        if offset < before.map.physical_elements()
            && let Some(found) = before.map.inverse(offset)?
        {
            let own = index(part, vec![0; found.len()]);
            return Err(Error::overlapping_destination(&index(before, found), &own, offset));
        }
    }
    Ok(())
}

//! The copies between two caches with block tables: one plan for all blocks of one form.
//!
//! A block of a cache is stored like any other, so the copies of two blocks differ in their first bytes
//! alone. Each index is in a run of neighbouring blocks on either side, and the indices up to the end of the
//! nearer one are copied at once. A view may begin inside a block, but then ends with it. How many indices
//! these are, and where in both blocks they begin, is the form of the copy:
//!
//! ```text
//! source, blocks of 4       |7  . . .|2  . . .|5  . . .|
//! destination, blocks of 6  |0  . . . . .|4  . . . . .|
//! forms                      a        b   c   a            (4, 0, 0)  (2, 0, 4)  (2, 2, 0)
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use tensor_layout::checked::{self, BYTES};
use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::{Error, IndexMap};

use super::{KvCache, runs_of};

/// A copy, and the bytes that are added to its offsets on the source and on the destination.
type Placed = (Arc<Relayout>, [u64; 2]);

/// Returns the copies of one cache to another, in the order of the indices. `None` for caches of other sizes,
/// for blocks that are no whole bytes apart, and for tokens of a block that are stored in more than two
/// strides: a copy between their parts says what is wrong, or cuts them further.
///
/// # Errors
///
/// `overlapping_destination` if a block of `to` is there twice, and the errors of
/// [`Relayout::with_settings`].
pub(crate) fn block_copies(from: &KvCache, to: &KvCache, settings: &Settings) -> Result<Option<Vec<Placed>>, Error> {
    let sizes = from.sizes();
    let length = from.place.and_then(|place| sizes.get(place)).copied();
    let ([Some(mut source), Some(mut destination)], Some(length), true) =
        ([from, to].map(Blocks::of), length, from.place == to.place && sizes == to.sizes())
    else {
        return Ok(None);
    };
    to.refuse_repeated()?;
    let (mut plans, mut list, mut at) = (BTreeMap::<[u64; 3], Arc<Relayout>>::new(), Vec::new(), 0);
    while at < length {
        let (one, other) = (source.at(at), destination.at(at));
        let count = one.left.min(other.left).min(length.saturating_sub(at)).max(1);
        let form = [count, one.inside, other.inside];
        let plan = match plans.get(&form) {
            Some(plan) => plan.clone(),
            None => {
                let maps = (from.first_blocks(one.inside, count)?, to.first_blocks(other.inside, count)?);
                let plan = Arc::new(Relayout::with_settings(&maps.0, &maps.1, settings)?);
                plans.entry(form).or_insert(plan).clone()
            }
        };
        let place = |blocks: &Blocks<'_>, place: &Place| checked::mul(place.block, blocks.bytes, BYTES);
        list.push((plan, [place(&source, &one)?, place(&destination, &other)?]));
        at = at.saturating_add(count);
    }
    Ok(Some(list))
}

/// The blocks of a cache in the order of its indices.
struct Blocks<'c> {
    cache: &'c KvCache,
    /// The runs of neighbouring blocks that are not passed yet: the first index, its number among all indices
    /// in memory, and the end of the indices.
    runs: std::iter::Peekable<Box<dyn Iterator<Item = [u64; 3]> + 'c>>,
    /// The distance from one block to the next, in bytes.
    bytes: u64,
    /// A view that begins between two multiples of this number ends with the next multiple.
    step: u64,
}

/// Where an index is: its block, its position there, and the indices that a view has from there on.
struct Place {
    block: u64,
    inside: u64,
    left: u64,
}

impl<'c> Blocks<'c> {
    fn of(cache: &'c KvCache) -> Option<Blocks<'c>> {
        let bits = cache.block.checked_mul(cache.whole.element_bits().into())?;
        let place = cache.place?;
        let digits = cache.whole.components().iter().find(|component| component.dims().contains(&place));
        let step = match digits.map(|component| (component.dims(), component.chain.digits())) {
            None | Some(([_], [_])) => 1,
            Some(([_], [outer, _])) => outer.divisor.get(),
            _ => return None,
        };
        let (tokens, table) = (cache.tokens_of_block, cache.table());
        let run = move |(start, run): (u64, &[u64])| {
            let count = checked::len_u64(run.len()).saturating_mul(tokens);
            let first = run.first().map_or(0, |first| first.saturating_mul(tokens));
            [start, first, start.saturating_add(count)]
        };
        let first = cache.ranges.get(place).map_or(0, |range| range.start);
        let runs: Box<dyn Iterator<Item = [u64; 3]>> = match table {
            [] => Box::new(core::iter::once([0, first, u64::MAX])),
            table => Box::new(runs_of(table, tokens).map(run)),
        };
        bits.is_multiple_of(8).then(|| Blocks { cache, runs: runs.peekable(), bytes: bits.div_euclid(8), step })
    }

    /// Returns the place of an index, which is not below that of the last call.
    fn at(&mut self, index: u64) -> Place {
        while self.runs.next_if(|run| run[2] <= index).is_some() {}
        let [start, first, end] = self.runs.peek().copied().unwrap_or_default();
        let number = first.saturating_add(index.saturating_sub(start));
        let past = number.checked_rem(self.step).unwrap_or(0);
        let left = end.saturating_sub(index);
        let tokens = self.cache.tokens_of_block;
        Place {
            block: number.checked_div(tokens).unwrap_or(0),
            inside: number.checked_rem(tokens).unwrap_or(0),
            left: if past == 0 { left } else { left.min(self.step.saturating_sub(past)) },
        }
    }
}

impl KvCache {
    /// Returns a range of the first blocks, in a buffer that ends with it.
    fn first_blocks(&self, inside: u64, length: u64) -> Result<IndexMap, Error> {
        let mut ranges = self.ranges.clone();
        if let Some(range) = self.place.and_then(|place| ranges.get_mut(place)) {
            *range = Slice::from(inside..inside.saturating_add(length));
        }
        let map = self.whole.slice(&ranges)?;
        let end = map.span_elements();
        Ok(map.with_physical_elements(end)?.with_gap_owner(GapOwner::Others))
    }

    /// Refuses a table of a destination that names a block twice.
    fn refuse_repeated(&self) -> Result<(), Error> {
        let used = self.written.size("T").map_or(u64::MAX, |tokens| tokens.div_ceil(self.tokens_of_block.max(1)));
        let mut blocks: Vec<(u64, u64)> = self.table().iter().copied().zip(0..used).collect();
        blocks.sort_unstable();
        let pairs = blocks.iter().zip(blocks.iter().skip(1));
        let Some((&(block, first), &(_, second))) = pairs.into_iter().find(|(a, b)| a.0 == b.0) else { return Ok(()) };
        let at = |number: u64, mut index: Vec<u64>| {
            if let Some(place) = self.place.and_then(|place| index.get_mut(place)) {
                *place = number.saturating_mul(self.tokens_of_block);
            }
            index
        };
        let starts = self.ranges.iter().map(|range| range.start).collect();
        let offset = self.whole.offset(&at(block, starts))?;
        let [first, second] = [first, second].map(|number| at(number, vec![0; self.axes().len()]));
        Err(Error::overlapping_destination(&first, &second, offset))
    }
}

//! Any order of digits as tiles, by a radix sort.
//!
//! A tile whose entries are 1 or the whole size is a stable partition of the dimensions: those with entry 1
//! stay in front, the others move after them. A radix sort on the place each digit is to have, one such
//! tile for each bit of it, therefore reaches any order. The dimensions of size 1 that are left over are
//! swallowed with `*`.

use crate::checked::Exact;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::error::Error;
use crate::short_sort::sort_by_key;
use crate::tiled::{Tile, TileSize};

use super::memory_order::MemoryOrder;

/// A dimension order (major to minor, all dimensions of the map) and the tiles that bring it into the order
/// of memory.
pub(super) fn radix_sort(sizes: &[u64], memory: &MemoryOrder) -> Result<(Vec<usize>, Vec<Tile>), Error> {
    // Dimensions in the order of their top digits; those of size 1 are in front.
    let rank = sizes.len();
    let mut order: Vec<usize> = (0..rank).collect();
    let top = |dimension| memory.digits.iter().position(|digit| digit.dimension == dimension && digit.is_top);
    sort_by_key(&mut order, |&dimension| top(dimension));
    // The first is the one that a tile longer than the rank finds, which memory may pad.
    order.insert(0, rank);
    let tiles = tiles_for(sizes, &order, memory)?;
    order.retain(|&dimension| dimension < rank);
    Ok((order, tiles))
}

/// What a dimension of the expanded shape is, and its size: the digit at `level` of a dimension, or (if not
/// `single`) that one and all above it, if there are any. `None` is a leftover of size 1.
type Entry = (Option<(usize, usize, bool)>, u64);

/// The tiles that bring dimensions in this order (major to minor) into this order of digits.
fn tiles_for(sizes: &[u64], order: &[usize], memory: &MemoryOrder) -> Result<Vec<Tile>, Error> {
    let levels = |dimension: usize| memory.levels(dimension);
    let entry =
        |&dimension: &usize| -> Entry { (Some((dimension, 0, false)), sizes.get(dimension).copied().unwrap_or(1)) };
    let mut entries: Vec<Entry> = order.iter().map(entry).collect();
    let mut tiles = Vec::new();
    // A dimension that is to be padded is split once more, so that its last block is whole.
    let padded = |dimension: usize| {
        let sizes_of = |level| memory.size(dimension, level);
        let product = (0..levels(dimension)).try_fold(1_u64, |all, level| all.checked_mul(sizes_of(level)));
        product != Some(sizes.get(dimension).copied().unwrap_or(1))
    };
    let most = (0..=sizes.len()).map(|dimension| levels(dimension).plus(usize::from(padded(dimension)))).max();
    for _ in 1..most.unwrap_or(0) {
        tiles.push(apply(&mut entries, |(dimension, level, single), _| {
            let above = levels(dimension).plus(usize::from(padded(dimension)));
            if single || level.plus(1) >= above {
                return (1, Some((dimension, level, single)), None);
            }
            let block = memory.size(dimension, level);
            let next = level.plus(1);
            // Above the top digit there is only the one block that pads it.
            let rest = (next < levels(dimension)).then_some((dimension, next, false));
            (block, rest, Some((dimension, level, true)))
        })?);
    }
    let place = |entry: &Entry| entry.0.and_then(|(dimension, level, _)| memory.place(dimension, level));
    let bits = usize::BITS.minus(memory.digits.len().saturating_sub(1).leading_zeros());
    for bit in 0..bits {
        let order: SmallVec<[usize; 8]> = entries.iter().filter_map(place).collect();
        if order.is_sorted() {
            break;
        }
        tiles.push(apply(&mut entries, |digit, size| {
            let place = memory.place(digit.0, digit.1).unwrap_or(0);
            let moves = place.checked_shr(bit).is_some_and(|place| place & 1 == 1);
            if moves { (size, None, Some(digit)) } else { (1, Some(digit), None) }
        })?);
    }
    Ok(tiles)
}

type Digit = (usize, usize, bool);

/// Makes one tile of what `choose` says for each digit (the entry, and what its count and its place are),
/// and applies it. Leading dimensions that stay as they are need no entry.
fn apply(
    entries: &mut Vec<Entry>,
    choose: impl Fn(Digit, u64) -> (u64, Option<Digit>, Option<Digit>),
) -> Result<Tile, Error> {
    let stays = |&(digit, size): &Entry| digit.is_none_or(|digit| choose(digit, size).2.is_none());
    let prefix = entries.iter().take_while(|entry| stays(entry)).count();
    let touched = entries.split_off(prefix);
    let mut tile: SmallVec<[TileSize; 3]> = SmallVec::new();
    let mut places = Vec::new();
    let last = touched.len().saturating_sub(1);
    for (position, (digit, size)) in touched.into_iter().enumerate() {
        if digit.is_none() && position < last {
            tile.push(TileSize::Combine);
            continue;
        }
        let (block, count, place) = digit.map_or((1, None, None), |digit| choose(digit, size));
        let entry = NonZeroU64::new(block).ok_or(Error::zero_tile(0, position))?;
        tile.push(TileSize::Size(entry));
        entries.push((count, size.div_ceil(block)));
        places.push((place, block));
    }
    entries.extend(places);
    Tile::from_entries(&tile)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;

//! Spells any order of digits as tiles, by a radix sort.
//!
//! A tile whose entries are 1 or the whole size is a stable partition of the dimensions. The dimensions with
//! entry 1 stay in front, and the others move behind them. A radix sort uses one such tile for each bit of a
//! digit's position in memory, the lowest bit first: the digits whose bit is set move. After the highest bit,
//! the digits are in the order of memory. A `*` joins the dimensions of size 1 that remain.

use tensor_layout::Error;
use tensor_layout::checked::{self, Exact};
use tensor_layout::tiled::Tile;

use super::memory_order::{MemoryOrder, Position};

/// Returns a dimension order (major to minor, all dimensions of the map) and the tiles that bring the digits
/// into the order of memory.
pub(super) fn radix_sort(sizes: &[u64], memory: &MemoryOrder) -> Result<(Vec<usize>, Vec<Tile>), Error> {
    // Dimensions are sorted by the position of their top digit in memory, with dimensions of size 1 in front.
    let rank = sizes.len();
    let mut order: Vec<usize> = (0..rank).collect();
    let top = |dimension| memory.digits.iter().position(|digit| digit.dimension == dimension && digit.is_top);
    order.sort_by_key(|&dimension| top(dimension));
    let whole = |dimension: usize| memory.position(dimension, sizes.get(dimension).copied().unwrap_or(1));
    // The first entry is an added dimension of size 1, which may be padded. A tile longer than the rank
    // covers it.
    let mut entries: Vec<Entry> = core::iter::once(rank).chain(order.iter().copied()).map(|d| Some(whole(d))).collect();
    let mut tiles = Vec::new();
    // A dimension that has to be padded is split once more, so that its last block is whole.
    let parts = |dimension: usize| {
        let Position { bound, digits, .. } = whole(dimension);
        digits.len().plus(usize::from(memory.product(&digits) != Some(bound)))
    };
    for level in 1..(0..=rank).map(parts).max().unwrap_or(0) {
        let is_cut = |&&place: &&usize| {
            let digit = memory.digits.get(place);
            digit.is_some_and(|digit| digit.level.plus(1) == level && level < parts(digit.dimension))
        };
        tiles.push(apply(&mut entries, memory, |position| position.digits.last().filter(is_cut).is_some())?);
    }
    let bits = usize::BITS.minus(memory.digits.len().saturating_sub(1).leading_zeros());
    for bit in 0..bits {
        if entries.iter().flatten().flat_map(|position| &position.digits).is_sorted() {
            break;
        }
        let is_set = |place: &usize| place.checked_shr(bit).is_some_and(|place| place & 1 == 1);
        tiles.push(apply(&mut entries, memory, |position| position.digits.iter().any(is_set))?);
    }
    Ok((order, tiles))
}

/// A dimension of the shape after some tiles. `None` is a dimension of size 1 that a tile left.
type Entry = Option<Position>;

/// Makes one tile that moves the last digit of every entry for which `moves` is true, and applies this tile.
/// Leading dimensions that stay in place need no entry.
fn apply(entries: &mut Vec<Entry>, memory: &MemoryOrder, moves: impl Fn(&Position) -> bool) -> Result<Tile, Error> {
    let prefix = entries.iter().take_while(|entry| !entry.as_ref().is_some_and(&moves)).count();
    let touched = entries.split_off(prefix);
    let mut tile: Vec<i64> = Vec::new();
    let mut places: Vec<Entry> = Vec::new();
    let last = touched.len().saturating_sub(1);
    for (at, entry) in touched.into_iter().enumerate() {
        if entry.is_none() && at < last {
            tile.push(-1);
            continue;
        }
        let parts = entry.as_ref().filter(|position| moves(position)).and_then(|position| position.cut(1, memory));
        let (block, count, place) = match parts {
            Some([count, place]) => (place.bound, Some(count).filter(|count| !count.digits.is_empty()), Some(place)),
            None => (1, entry, None),
        };
        tile.push(checked::narrow(block, "a tile size")?);
        entries.push(count);
        places.push(place);
    }
    entries.extend(places);
    Tile::try_from(&tile[..])
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;

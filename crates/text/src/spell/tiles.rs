//! Tiles that bring the digits of a map into the order of memory: blocks, or a radix sort.
//!
//! Most layouts are *blocks*: whole dimensions in front, and then the digits of each dimension in descending
//! order, as in oneDNN's tags. The blocks are divided into runs in which the dimensions keep their order, and
//! each run takes one tile.
//!
//! Any other order takes a *radix sort*. A tile whose entries are 1 or the whole size is a stable partition of
//! the dimensions. The dimensions with entry 1 stay in front, and the others move behind them. A radix sort
//! uses one such tile for each bit of a digit's position in memory, the lowest bit first: the digits whose bit
//! is set move. After the highest bit, the digits are in the order of memory. A `*` joins the dimensions of
//! size 1 that remain.

use tensor_layout::Error;
use tensor_layout::checked::{self, Exact};
use tensor_layout::tiled::Tile;

use super::memory_order::MemoryOrder;

/// A layout in blocks. oneDNN's tags have the same two parts.
pub(crate) struct Blocked {
    /// The dimensions, major to minor.
    pub(crate) outer: Vec<usize>,
    /// The blocks, major to minor: the dimension and the number of elements.
    pub(crate) blocks: Vec<(usize, u64)>,
}

impl Blocked {
    /// Returns the blocks of an array of these sizes, or the dimension whose digits are not in descending
    /// order. A dimension that is not in front of all blocks follows the dimension before it.
    pub(crate) fn of(sizes: &[u64], memory: &MemoryOrder) -> Result<Blocked, usize> {
        let is_sorted = |dimension: &usize| memory.digits_of(*dimension).is_sorted();
        if let Some(unsorted) = (0..=sizes.len()).find(|dimension| !is_sorted(dimension)) {
            return Err(unsorted);
        }
        let is_whole_top = |&(place, digit): &(usize, &super::memory_order::Placed)| {
            let digits = memory.digits_of(digit.dimension);
            let block = memory.product(digits.iter().skip(1).copied());
            let bound = sizes.get(digit.dimension).copied().unwrap_or(1);
            digits.first() == Some(&place) && block.is_some_and(|block| bound.div_ceil(block) == digit.size)
        };
        let mut outer: Vec<usize> =
            memory.0.iter().enumerate().take_while(is_whole_top).map(|(_, digit)| digit.dimension).collect();
        let blocks = memory.0.iter().skip(outer.len()).map(|digit| (digit.dimension, digit.size)).collect();
        insert_missing(&mut outer, sizes.len());
        Ok(Blocked { outer, blocks })
    }

    /// Returns the tiles that describe the same layout. The blocks are divided into runs in which the
    /// dimensions are in memory order. For each run, one tile lists the part of each dimension that is in this
    /// run and the runs after it. The tile moves these parts after the rest.
    pub(crate) fn tiles(&self) -> Result<Vec<Tile>, Error> {
        // The dimension of size 1 in front of the shape has no place in `outer`.
        let place =
            |dimension: usize| self.outer.iter().position(|&outer| outer == dimension).map_or(0, |at| at.plus(1));
        let mut tiles = Vec::new();
        let mut before = usize::MAX;
        let first = self.blocks.iter().map(|&(dimension, _)| place(dimension)).min().unwrap_or(0);
        for (start, &(dimension, _)) in self.blocks.iter().enumerate() {
            if place(dimension) <= before {
                let mut sizes = vec![1_u64; self.outer.len().plus(1).saturating_sub(first)];
                for &(block, size) in self.blocks.iter().skip(start) {
                    if let Some(total) = sizes.get_mut(place(block).minus(first)) {
                        *total = checked::mul(*total, size, "a block")?;
                    }
                }
                tiles.push(Tile::new(&sizes)?);
            }
            before = place(dimension);
        }
        Ok(tiles)
    }
}

/// Inserts the axes that `order` lacks, each directly after the axis with the next lower number.
pub(crate) fn insert_missing(order: &mut Vec<usize>, rank: usize) {
    for axis in 0..rank {
        if !order.contains(&axis) {
            let before = axis.checked_sub(1).and_then(|before| order.iter().position(|&other| other == before));
            order.insert(before.map_or(0, |before| before.plus(1)), axis);
        }
    }
}

/// One dimension of the shape after some tiles: its size, and the positions of its digits in memory, the major
/// digit first. A dimension without digits has size 1, and a tile left it.
#[derive(Clone)]
struct Entry {
    bound: u64,
    digits: Vec<usize>,
}

/// Returns a dimension order (major to minor) and the tiles that bring the digits into the order of memory.
pub(super) fn radix_sort(sizes: &[u64], memory: &MemoryOrder) -> Result<(Vec<usize>, Vec<Tile>), Error> {
    // Dimensions are sorted by the position of their top digit in memory, with dimensions of size 1 in front.
    let rank = sizes.len();
    let mut order: Vec<usize> = (0..rank).collect();
    order.sort_by_key(|&dimension| memory.digits_of(dimension).first().copied());
    let whole = |dimension: usize| Entry {
        bound: sizes.get(dimension).copied().unwrap_or(1),
        digits: memory.digits_of(dimension),
    };
    // The first entry is an added dimension of size 1, which may be padded. A tile longer than the rank
    // covers it.
    let mut entries: Vec<Entry> = core::iter::once(rank).chain(order.iter().copied()).map(whole).collect();
    let mut tiles = Vec::new();
    // A dimension that has to be padded is split once more, so that its last block is whole.
    let parts = |dimension: usize| {
        let Entry { bound, digits } = whole(dimension);
        digits.len().plus(usize::from(memory.product(digits) != Some(bound)))
    };
    for level in 1..(0..=rank).map(parts).max().unwrap_or(0) {
        let is_cut = |place: &usize| {
            let digit = memory.0.get(*place);
            digit.is_some_and(|digit| digit.level.plus(1) == level && level < parts(digit.dimension))
        };
        tiles.push(apply(&mut entries, memory, |entry| entry.digits.last().is_some_and(is_cut))?);
    }
    for bit in 0..usize::BITS.minus(memory.0.len().saturating_sub(1).leading_zeros()) {
        if entries.iter().flat_map(|entry| &entry.digits).is_sorted() {
            break;
        }
        let is_set = |place: &usize| place.checked_shr(bit).is_some_and(|place| place & 1 == 1);
        tiles.push(apply(&mut entries, memory, |entry| entry.digits.iter().any(is_set))?);
    }
    Ok((order, tiles))
}

/// Makes one tile that moves the last digit of every entry for which `moves` is true, and applies this tile.
/// Leading dimensions that stay in place need no entry.
fn apply(entries: &mut Vec<Entry>, memory: &MemoryOrder, moves: impl Fn(&Entry) -> bool) -> Result<Tile, Error> {
    let touched = entries.split_off(entries.iter().take_while(|entry| !moves(entry)).count());
    let (mut tile, mut inside) = (Vec::new(), Vec::new());
    let last = touched.len().saturating_sub(1);
    for (at, entry) in touched.into_iter().enumerate() {
        if entry.digits.is_empty() && entry.bound == 1 && at < last {
            tile.push(-1);
        } else if moves(&entry) {
            let (high, low) = entry.digits.split_at(entry.digits.len().saturating_sub(1));
            let block = memory.product(low.iter().copied()).unwrap_or(1);
            tile.push(checked::narrow(block, "a tile size")?);
            entries.push(Entry { bound: entry.bound.div_ceil(block), digits: high.to_vec() });
            inside.push(Entry { bound: block, digits: low.to_vec() });
        } else {
            tile.push(1);
            entries.push(entry);
            inside.push(Entry { bound: 1, digits: Vec::new() });
        }
    }
    entries.append(&mut inside);
    Tile::try_from(&tile[..])
}

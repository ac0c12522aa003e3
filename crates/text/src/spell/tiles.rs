//! Tiles that bring the digits of a map into the order of memory: blocks, or a radix sort.
//!
//! Most layouts are *blocks*: whole dimensions in front, and then the digits of each dimension in descending
//! order, as in oneDNN's tags. The blocks are divided into runs in which the dimensions keep their order, and
//! each run takes one tile.
//!
//! Any other order takes a *radix sort*. First, tiles cut every digit off, so that each is a dimension. A
//! tile whose entries are 1 or the whole size is then a stable partition of the dimensions: those with
//! entry 1 stay in front, and the others move behind them. Digits that are in the order of memory already
//! form a run. A radix sort uses one tile for each bit of a digit's run, the lowest bit first: the digits
//! whose bit is set move. After the highest bit, the digits are in the order of memory. A `*` joins the
//! dimensions of size 1 that remain.

use tensor_layout::Error;
use tensor_layout::checked::{self, Proven};
use tensor_layout::short_sort::sort_by_key;
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
    /// order. `outer` has the dimensions in front of all blocks only.
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
        let outer: Vec<usize> =
            memory.0.iter().enumerate().take_while(is_whole_top).map(|(_, digit)| digit.dimension).collect();
        let blocks = memory.0.iter().skip(outer.len()).map(|digit| (digit.dimension, digit.size)).collect();
        Ok(Blocked { outer, blocks })
    }

    /// Adds the dimensions that are not in front of all blocks. Where possible, dimensions are added in the
    /// order of their first blocks, so that there are few runs. A dimension without digits follows the
    /// dimension before it.
    pub(super) fn with_all_dimensions(mut self, rank: usize) -> Blocked {
        for (at, &(dimension, _)) in self.blocks.iter().enumerate() {
            if dimension < rank && !self.outer.contains(&dimension) {
                let place = |&(later, _): &(usize, u64)| self.outer.iter().position(|&outer| outer == later);
                let earlier = self.blocks.iter().take(at).filter_map(place).max();
                let later = self.blocks.iter().skip(at).filter_map(place).find(|&later| Some(later) > earlier);
                let place = later.unwrap_or(self.outer.len());
                self.outer.insert(place, dimension);
            }
        }
        insert_missing(&mut self.outer, rank);
        self
    }

    /// Returns the tiles that describe the same layout. The blocks are divided into runs in which the
    /// dimensions are in memory order. For each run, one tile lists the part of each dimension that is in
    /// this run and the runs after it. The tile moves these parts after the rest.
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

/// One dimension of the shape after some tiles: its size, and the positions of its digits in memory, the
/// major digit first. A dimension without digits has size 1, and a tile left it.
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
    sort_by_key(&mut order, |&dimension| memory.digits_of(dimension).first().copied());
    let whole = |dimension: usize| Entry {
        bound: sizes.get(dimension).copied().unwrap_or(1),
        digits: memory.digits_of(dimension),
    };
    // The first entry is an added dimension of size 1, which may be padded. A tile longer than the rank
    // covers it.
    let mut entries: Vec<Entry> = core::iter::once(rank).chain(order.iter().copied()).map(whole).collect();
    let mut tiles = Vec::new();
    // A dimension whose top digit has to be padded is cut once more, so that its last block is whole.
    let parts = |dimension: usize| {
        let Entry { bound, digits } = whole(dimension);
        let block = memory.product(digits.iter().skip(1).copied()).unwrap_or(1);
        let top = memory.product(digits.first().copied()).unwrap_or(1);
        digits.len().plus(usize::from(bound.div_ceil(block) != top))
    };
    for level in 1..(0..=rank).map(parts).max().unwrap_or(0) {
        let is_cut = |place: &usize| {
            let digit = memory.0.get(*place);
            digit.is_some_and(|digit| digit.level.plus(1) == level && level < parts(digit.dimension))
        };
        tiles.push(apply(&mut entries, memory, |entry| entry.digits.last().is_some_and(is_cut))?);
    }
    // For each digit in the order of memory, the number of its run.
    let mut runs: Vec<usize> = Vec::with_capacity(memory.0.len());
    let mut before = None;
    for place in 0..memory.0.len() {
        let at = entries.iter().position(|entry| entry.digits.contains(&place));
        let run = runs.last().copied().unwrap_or(0);
        runs.push(run.plus(usize::from(at < before)));
        before = at;
    }
    for bit in 0..usize::BITS.minus(runs.last().copied().unwrap_or(0).leading_zeros()) {
        let is_set =
            |place: &usize| runs.get(*place).is_some_and(|run| run.checked_shr(bit).is_some_and(|run| run & 1 == 1));
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

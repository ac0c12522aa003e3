//! The shortest tiles for an order of digits: a search, level by level.
//!
//! A tile moves the minor digits of some dimensions, in the order of the dimensions, after everything else.
//! The last tile need not be searched for: how many digits it moves says which these are, and so every entry.
//! Of the tiles before it, all are tried, up to a number of steps.

use crate::checked::{Exact, next_index};
use crate::dims::Dims;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use smallvec::SmallVec;

use crate::short_sort::sort_by_key;
use crate::tiled::Tile;

use super::memory_order::MemoryOrder;

/// The most levels that are searched for. Longer spellings come from the radix sort.
const MOST_LEVELS: usize = 4;

/// The most dimensions that are tried in every order. Of more, only the orders are tried that memory
/// suggests.
const MOST_PERMUTED: usize = 4;

/// A dimension order (major to minor) and tiles: of those with the fewest levels one with the shortest text,
/// if there is one within `steps` steps. A step is one tile that is tried.
pub(super) fn search(sizes: &[u64], memory: &MemoryOrder, steps: &mut usize) -> Option<(Vec<usize>, Vec<Tile>)> {
    let rank = sizes.len();
    let position = |dimension| Position {
        dimension,
        bound: sizes.get(dimension).copied().unwrap_or(1),
        digits: (0..memory.levels(dimension)).rev().filter_map(|level| memory.place(dimension, level)).collect(),
    };
    let live: Vec<Position> = (0..=rank).map(position).filter(|position| !position.digits.is_empty()).collect();
    let sizes = memory.digits.iter().map(|digit| digit.size).collect();
    let mut search = Search { sizes, steps, tiles: TileLevels::new(), best: None };
    for levels in 0..=MOST_LEVELS {
        let mut found: Option<Vec<usize>> = None;
        for order in orders(&live, rank, memory.digits.len()) {
            let length = search.best.as_ref().map(|(length, _)| *length);
            search.extend(&order, levels);
            if search.best.as_ref().map(|(length, _)| *length) != length {
                found = Some(order.iter().map(|position| position.dimension).collect());
            }
        }
        if let (Some(live), Some((_, tiles))) = (found, search.best.take()) {
            // Dimensions without digits are in front, where no tile has to skip them.
            let mut order: Vec<usize> = (0..rank).filter(|dimension| !live.contains(dimension)).collect();
            order.extend(live.iter().filter(|&&dimension| dimension < rank));
            let tiles = tiles.iter().map(|entries| Tile::new(entries)).collect::<Result<_, _>>().ok()?;
            return Some((order, tiles));
        }
    }
    None
}

/// One dimension of the shape at some level.
#[derive(Clone, PartialEq)]
struct Position {
    /// The dimension of the map it is a part of.
    dimension: usize,
    bound: u64,
    /// The places of its digits in memory, the major digit first.
    digits: SmallVec<[usize; 8]>,
}

impl Position {
    /// The digits that stay, and the minor digits at `place` or after it.
    fn split_at(&self, place: usize) -> (&[usize], &[usize]) {
        let stay = self.digits.iter().rposition(|&digit| digit < place).map_or(0, |last| last.plus(1));
        self.digits.split_at_checked(stay).unwrap_or((&self.digits, &[]))
    }
}

/// Orders of the dimensions in which tiles may be found, the likely ones first.
fn orders(live: &[Position], rank: usize, digits: usize) -> Vec<Vec<Position>> {
    let mut orders: Vec<Vec<Position>> = Vec::new();
    let mut by_top = live.to_vec();
    sort_by_key(&mut by_top, |position| position.digits.first().copied());
    let mut by_last = live.to_vec();
    sort_by_key(&mut by_last, |position| position.digits.last().copied());
    let merged = (1..digits).rev().filter_map(|place| merged(live, place));
    let likely = core::iter::once(by_top).chain(merged).chain([by_last]);
    let all = if live.len() <= MOST_PERMUTED { permutations(live) } else { Vec::new() };
    for order in likely.chain(all) {
        // The dimension that a tile longer than the rank finds is in front of all others.
        let new_axis = order.iter().position(|position| position.dimension == rank);
        if new_axis.is_none_or(|at| at == 0) && !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// The order in which one tile can move the digits from `place` on, if there is one: that of the digits it
/// moves, and of the digits it leaves.
fn merged(live: &[Position], place: usize) -> Option<Vec<Position>> {
    let first =
        |position: &Position, moved: bool| position.digits.iter().copied().find(|&digit| (digit >= place) == moved);
    // Is the digit of one position in front of the other's, of those that stay or of those that move?
    let before =
        |a: &Position, b: &Position, moved| matches!((first(a, moved), first(b, moved)), (Some(a), Some(b)) if a < b);
    let mut rest = live.to_vec();
    let mut order = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let is_next = |position: &Position| {
            !rest.iter().any(|other| before(other, position, true) || before(other, position, false))
        };
        let next = (0..rest.len()).filter(|&at| rest.get(at).is_some_and(is_next));
        // What has nothing to move goes in front, where it needs no entry.
        let next = next.min_by_key(|&at| rest.get(at).map(|position| first(position, true).is_some()))?;
        order.push(rest.remove(next));
    }
    Some(order)
}

fn permutations(of: &[Position]) -> Vec<Vec<Position>> {
    let Some((last, others)) = of.split_last() else { return vec![Vec::new()] };
    let with_last = |order: Vec<Position>| {
        let insert = move |at: usize| {
            let mut order = order.clone();
            order.insert(at, last.clone());
            order
        };
        (0..of.len()).rev().map(insert)
    };
    permutations(others).into_iter().flat_map(with_last).collect()
}

/// The entries of some tiles.
type TileLevels = Vec<Dims>;

struct Search<'a> {
    /// How many values each digit takes, in the order of memory.
    sizes: Vec<u64>,
    /// How many more tiles may be tried.
    steps: &'a mut usize,
    /// The tiles tried so far.
    tiles: TileLevels,
    /// The shortest tiles that were found, and the length of their text.
    best: Option<(usize, TileLevels)>,
}

impl Search<'_> {
    /// Looks for `levels` more tiles that bring the positions into the order of memory.
    fn extend(&mut self, positions: &[Position], levels: usize) {
        match levels {
            0 => {
                if self.steps_left() && self.last_tile(positions, self.sizes.len()).is_some() {
                    self.record();
                }
            }
            1 => {
                for place in (0..self.sizes.len()).rev() {
                    if self.steps_left()
                        && let Some(tile) = self.last_tile(positions, place)
                    {
                        self.tiles.push(tile);
                        self.record();
                        self.tiles.pop();
                    }
                }
            }
            _ => {
                for first in (0..positions.len()).rev() {
                    let mut moved = Moved::new(positions.get(first..).unwrap_or(&[]));
                    while moved.next() && self.steps_left() {
                        if let Some((tile, tiled)) = self.apply(positions, first, &moved.counts) {
                            self.tiles.push(tile);
                            self.extend(&tiled, levels.minus(1));
                            self.tiles.pop();
                        }
                    }
                }
            }
        }
    }

    fn steps_left(&mut self) -> bool {
        let left = *self.steps > 0;
        *self.steps = self.steps.saturating_sub(1);
        left
    }

    fn record(&mut self) {
        let entry = |entry: &u64| entry.to_string().len().plus(1);
        let length = self.tiles.iter().map(|tile| tile.iter().map(entry).sum::<usize>().plus(1)).sum();
        if self.best.as_ref().is_none_or(|&(shortest, _)| length < shortest) {
            self.best = Some((length, self.tiles.clone()));
        }
    }

    /// The product of the sizes of some digits.
    fn product(&self, digits: &[usize]) -> Option<u64> {
        digits.iter().try_fold(1_u64, |product, &digit| product.checked_mul(*self.sizes.get(digit)?))
    }

    /// The tile that moves the digits from `place` on, if everything is in the order of memory then. Without
    /// digits to move, it has no entries.
    fn last_tile(&self, positions: &[Position], place: usize) -> Option<Dims> {
        let (mut next, mut next_moved) = (0, place);
        let mut tile: Dims = Dims::new();
        for position in positions {
            let (stay, moved) = position.split_at(place);
            for (digits, next) in [(stay, &mut next), (moved, &mut next_moved)] {
                for &digit in digits {
                    if digit != *next {
                        return None;
                    }
                    *next = next.plus(1);
                }
            }
            let entry = self.product(moved)?;
            if position.bound.div_ceil(entry) != self.product(stay)? {
                return None;
            }
            if !moved.is_empty() || !tile.is_empty() {
                tile.push(entry);
            }
        }
        Some(tile)
    }

    /// The tile that moves `moved` digits of the positions from `first` on, and the shape after it.
    fn apply(&self, positions: &[Position], first: usize, moved: &[usize]) -> Option<(Dims, Vec<Position>)> {
        let (stay, cut) = positions.split_at_checked(first)?;
        let mut shape = stay.to_vec();
        let (mut tile, mut places) = (Dims::new(), Vec::with_capacity(cut.len()));
        for (position, moved) in cut.iter().zip(moved) {
            let (high, low) = position.digits.split_at_checked(position.digits.len().checked_sub(*moved)?)?;
            let entry = self.product(low)?;
            tile.push(entry);
            shape.push(Position { bound: position.bound.div_ceil(entry), digits: high.into(), ..*position });
            places.push(Position { bound: entry, digits: low.into(), ..*position });
        }
        shape.extend(places);
        Some((tile, shape))
    }
}

/// Counts through all choices of how many digits of each position are moved; of the first position at least
/// one.
struct Moved {
    counts: SmallVec<[usize; 8]>,
    /// One more than the digits each position has.
    sizes: SmallVec<[usize; 8]>,
}

impl Moved {
    /// In front of the first choice.
    fn new(positions: &[Position]) -> Moved {
        let sizes: SmallVec<[usize; 8]> = positions.iter().map(|position| position.digits.len().plus(1)).collect();
        // One before (1, 0, 0, ..).
        let counts = positions
            .iter()
            .enumerate()
            .map(|(at, position)| if at == 0 { 0 } else { position.digits.len() })
            .collect();
        Moved { counts, sizes }
    }

    /// Goes on, the last position first. False after the last choice.
    fn next(&mut self) -> bool {
        next_index(&mut self.counts, &self.sizes)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;

//! Finds the shortest tiles for an order of digits by a search, level by level.
//!
//! A tile moves the minor digits of some dimensions behind all other digits, and keeps the order of the
//! dimensions. The search tries every choice of moved digits for every tile but the last, up to a number of
//! steps. The last tile needs no search: it must bring all digits into the order of memory, so the number of
//! digits that it moves determines which digits move, and every entry.

use smallvec::SmallVec;

use tensor_layout::checked::{Exact, next_index};
use tensor_layout::tiled::Tile;

use super::memory_order::{MemoryOrder, Position};

/// The most tiles of a spelling that are searched for. Each further tile multiplies the number of steps, so
/// maps that need more tiles are left to the radix sort.
const MOST_LEVELS: usize = 4;

/// The most dimensions that are tried in every order: four dimensions have 24 orders. With more dimensions,
/// only the orders that the order of memory suggests are tried.
const MOST_PERMUTED: usize = 4;

/// Returns a dimension order (major to minor) and tiles: among the spellings with the fewest levels, one with
/// the shortest text. Returns `None` if no spelling is found within `steps` steps. A step is one tile that is
/// tried.
pub(super) fn search(sizes: &[u64], memory: &MemoryOrder, steps: &mut usize) -> Option<(Vec<usize>, Vec<Tile>)> {
    let rank = sizes.len();
    let whole = |dimension: usize| memory.position(dimension, sizes.get(dimension).copied().unwrap_or(1));
    let live: Vec<Position> = (0..=rank).map(whole).filter(|position| !position.digits.is_empty()).collect();
    let orders = orders(&live, rank, memory.digits.len());
    let mut search = Search { memory, steps, tiles: Vec::new(), best: None };
    for levels in 0..=MOST_LEVELS {
        for order in &orders {
            search.extend(order, order, levels);
        }
        if let Some(Best { order: live, tiles, .. }) = search.best.take() {
            // Tiles act on the minor dimensions. Dimensions without digits come first, so that no tile has an
            // entry for them.
            let mut order: Vec<usize> = (0..rank).filter(|dimension| !live.contains(dimension)).collect();
            order.extend(live.iter().filter(|&&dimension| dimension < rank));
            return Some((order, tiles));
        }
    }
    None
}

/// Returns orders of the dimensions in which tiles may be found, the likely orders first.
fn orders(live: &[Position], rank: usize, digits: usize) -> Vec<Vec<Position>> {
    let mut orders: Vec<Vec<Position>> = Vec::new();
    let mut by_top = live.to_vec();
    by_top.sort_by_key(|position| position.digits.first().copied());
    let mut by_last = live.to_vec();
    by_last.sort_by_key(|position| position.digits.last().copied());
    let merged = (1..digits).rev().filter_map(|place| merged(live, place));
    let likely = core::iter::once(by_top).chain(merged).chain([by_last]);
    let all = if live.len() <= MOST_PERMUTED { permutations(live) } else { Vec::new() };
    for order in likely.chain(all) {
        // A tile longer than the rank covers one more dimension, of size 1, which must be in front of all
        // others.
        let new_axis = order.iter().position(|position| position.dimension == rank);
        if new_axis.is_none_or(|at| at == 0) && !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

/// Returns the order of the dimensions in which one tile can move the digits from `place` on, or `None` if
/// there is no such order. The order must agree with the digits that the tile moves and with the digits that
/// stay.
fn merged(live: &[Position], place: usize) -> Option<Vec<Position>> {
    let first =
        |position: &Position, moved: bool| position.digits.iter().copied().find(|&digit| (digit >= place) == moved);
    // Whether the first digit of `a` comes before the first digit of `b`. Only moved digits are compared, or
    // only digits that stay.
    let before =
        |a: &Position, b: &Position, moved| matches!((first(a, moved), first(b, moved)), (Some(a), Some(b)) if a < b);
    let mut rest = live.to_vec();
    let mut order = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let is_next = |position: &Position| {
            !rest.iter().any(|other| before(other, position, true) || before(other, position, false))
        };
        let next = (0..rest.len()).filter(|&at| rest.get(at).is_some_and(is_next));
        // A dimension without digits to move goes in front, where the tile needs no entry for it.
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

struct Search<'a> {
    memory: &'a MemoryOrder,
    /// The number of tiles that may still be tried.
    steps: &'a mut usize,
    /// The tiles of the levels that have been chosen so far.
    tiles: Vec<Tile>,
    best: Option<Best>,
}

/// The shortest tiles that were found, with their dimension order and the length of their text.
struct Best {
    length: usize,
    order: Vec<usize>,
    tiles: Vec<Tile>,
}

impl Search<'_> {
    /// Looks for `levels` more tiles that bring the positions into the order of memory. `positions` is the
    /// shape that the tiles so far make of `order`.
    fn extend(&mut self, order: &[Position], positions: &[Position], levels: usize) {
        let digits = self.memory.digits.len();
        if levels <= 1 {
            // Without a tile, no digit is moved.
            let places = if levels == 0 { digits..digits.plus(1) } else { 0..digits };
            for place in places.rev() {
                if self.steps_left()
                    && let Some(last) = self.last_tile(positions, place)
                {
                    self.record(order, last);
                }
            }
            return;
        }
        for first in (0..positions.len()).rev() {
            let (stay, cut) = positions.split_at(first);
            // The loop tries every number of moved digits for each position. The number of the last position
            // changes first. The first position moves at least one digit, so the loop begins just before
            // `(1, 0, 0, ..)`.
            let sizes: SmallVec<[usize; 8]> = cut.iter().map(|position| position.digits.len().plus(1)).collect();
            let mut moved: SmallVec<[usize; 8]> = cut.iter().map(|position| position.digits.len()).collect();
            moved.iter_mut().take(1).for_each(|first| *first = 0);
            while next_index(&mut moved, &sizes) && self.steps_left() {
                if let Some((tile, tiled)) = self.apply(stay, cut, &moved) {
                    self.tiles.push(tile);
                    self.extend(order, &tiled, levels.minus(1));
                    self.tiles.pop();
                }
            }
        }
    }

    fn steps_left(&mut self) -> bool {
        let left = *self.steps > 0;
        *self.steps = self.steps.saturating_sub(1);
        left
    }

    fn record(&mut self, order: &[Position], last: Tile) {
        let mut tiles = self.tiles.clone();
        tiles.extend(Some(last).filter(|tile| !tile.entries().is_empty()));
        let length = tiles.iter().map(|tile| tile.to_string().len()).sum();
        if self.best.as_ref().is_none_or(|best| length < best.length) {
            let order = order.iter().map(|position| position.dimension).collect();
            self.best = Some(Best { length, order, tiles });
        }
    }

    /// Returns the tile that moves the digits from `place` on behind all others. Returns `None` if the digits
    /// are not in the order of memory then. A tile that moves no digits has no entries.
    fn last_tile(&self, positions: &[Position], place: usize) -> Option<Tile> {
        let (mut next, mut next_moved) = (0, place);
        let mut tile: Vec<u64> = Vec::new();
        for position in positions {
            let moved = position.digits.iter().rev().take_while(|&&digit| digit >= place).count();
            let [count, block] = position.cut(moved, self.memory)?;
            for (digits, next) in [(&count.digits, &mut next), (&block.digits, &mut next_moved)] {
                for &digit in digits {
                    if digit != *next {
                        return None;
                    }
                    *next = next.plus(1);
                }
            }
            if Some(count.bound) != self.memory.product(&count.digits) {
                return None;
            }
            if moved > 0 || !tile.is_empty() {
                tile.push(block.bound);
            }
        }
        Tile::new(&tile).ok()
    }

    /// Returns the tile that moves `moved` digits of the positions in `cut`, and the shape after this tile.
    fn apply(&self, stay: &[Position], cut: &[Position], moved: &[usize]) -> Option<(Tile, Vec<Position>)> {
        let mut shape = stay.to_vec();
        let (mut tile, mut places) = (Vec::new(), Vec::with_capacity(cut.len()));
        for (position, &moved) in cut.iter().zip(moved) {
            let [count, place] = position.cut(moved, self.memory)?;
            tile.push(place.bound);
            shape.push(count);
            places.push(place);
        }
        shape.extend(places);
        Some((Tile::new(&tile).ok()?, shape))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;

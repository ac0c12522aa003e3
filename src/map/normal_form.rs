//! Turns tiles into digit chains: the levels are replayed backwards.
//!
//! Every dimension of the expanded shape is a digit of a logical dimension, and its stride is known. The
//! replay goes back level by level. A count and an index inside a tile join to the chain of the number that
//! the tile divided. A number that `*` had joined is cut again, if its chain allows a cut. If the chain does
//! not allow a cut, the dimensions stay fused. If fused dimensions are only digits of logical dimensions, no
//! sum of chains exists.

use crate::checked::{Proven, element_count};
use crate::short_sort::sort_by;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use super::digits::{Chain, Digit};
use super::index_map::{Component, Components};
use super::levels::{TileGroup, TileLevels, joined_range};

/// Returns the components of a layout, or `None` if the layout is Irreducible. No size may be 0.
pub(super) fn components(levels: &TileLevels) -> Option<Components> {
    let mut replay = Replay { levels, positions: SmallVec::new(), fused: Components::new() };
    replay.add_leaves();
    for depth in (0..levels.levels.len()).rev() {
        replay.undo(depth)?;
    }
    // The chains are moved out of the list one by one, because moving the whole list would take as long as
    // filling it.
    let mut components = replay.fused;
    components.reserve_exact(replay.positions.len());
    for (position, &axis) in replay.positions.iter_mut().zip(&levels.order) {
        if !position.chain.digits().is_empty() {
            components.push(Component::of(axis, position.bound, core::mem::take(&mut position.chain)));
        }
    }
    sort_by(&mut components, |a, b| a.dims.cmp(&b.dims));
    Some(components)
}

/// One dimension of the shape at some level. The chain is empty if the dimension is always 0, or if it
/// belongs to a fused component.
struct Position {
    bound: u64,
    chain: Chain,
}

struct Replay<'a> {
    levels: &'a TileLevels,
    /// The shape at the current level.
    positions: SmallVec<[Position; 8]>,
    /// The components found so far that fuse several dimensions.
    fused: Components,
}

impl Replay<'_> {
    /// Adds the dimensions after the last level. The buffer holds them in row-major order.
    fn add_leaves(&mut self) {
        let mut stride = 1_u64;
        self.positions.reserve_exact(self.levels.bounds.len());
        for &bound in self.levels.bounds.iter().rev() {
            self.positions.push(Position { bound, chain: Chain::strided(stride, bound) });
            // The product of the bounds was checked, so the stride fits 64 bits.
            stride = stride.times(bound);
        }
        self.positions.reverse();
    }

    /// Undoes the tile at `depth`: replaces its counts and its indices inside a tile by the dimensions that
    /// it divided.
    fn undo(&mut self, depth: usize) -> Option<()> {
        let level = self.levels.levels.get(depth)?;
        let tiled: SmallVec<[Position; 8]> = self.positions.drain(level.prefix..).collect();
        let (counts, places) = tiled.split_at_checked(level.groups.len())?;
        // Positions that no earlier level has touched are still whole logical dimensions.
        let earlier = self.levels.levels.iter().take(depth);
        let whole = earlier.map(|level| level.prefix).min().unwrap_or(usize::MAX);
        for ((group, count), place) in level.groups.iter().zip(counts).zip(places) {
            let mut chain = join(group, &count.chain, &place.chain)?;
            let mut rest = Joined { bounds: &group.bounds, ranges: &group.ranges };
            // The chain of the joined number is cut into chains of its dimensions, from the major side, as
            // far as possible.
            while let Some((segment, minor, high, low)) = rest.first_cut(&chain) {
                self.place(segment, high, whole, level.new_axes)?;
                (rest, chain) = (minor, low);
            }
            self.place(rest, chain, whole, level.new_axes)?;
        }
        self.positions.drain(..level.new_axes);
        Some(())
    }

    /// Appends the positions of neighbouring dimensions whose joined number has this chain. Returns `None` if
    /// the layout is Irreducible.
    fn place(&mut self, joined: Joined<'_>, chain: Chain, whole: usize, new_axes: usize) -> Option<()> {
        let first = self.positions.len();
        self.positions.extend(joined.bounds.iter().map(|&bound| Position { bound, chain: Chain::default() }));
        let varying = || (first..).zip(joined.ranges).filter(|&(_, &range)| range > 1).map(|(position, _)| position);
        let Some(major) = varying().next() else { return Some(()) };
        // A padded dimension of one value, joined after a dimension of several values, makes the joined
        // number count in steps above 1. The chain does not describe such steps.
        let after = joined.bounds.iter().zip(joined.ranges).skip(major.checked_sub(first)?);
        if after.filter(|&(_, &range)| range == 1).any(|(&bound, _)| bound > 1) {
            return None;
        }
        if varying().count() == 1 {
            self.positions.get_mut(major)?.chain = chain;
            return Some(());
        }
        let mut dims = SmallVec::new();
        for position in varying() {
            // A component can fuse whole dimensions only. If a position is only a part of a dimension, the
            // layout is Irreducible.
            let axis = position.checked_sub(new_axes).filter(|_| position < whole)?;
            dims.push(*self.levels.order.get(axis)?);
        }
        self.fused.push(Component { dims, extent: element_count(joined.bounds), chain });
        Some(())
    }
}

/// Returns the chain of the number that a tile divided into a count and an index inside the tile.
fn join(group: &TileGroup, count: &Chain, place: &Chain) -> Option<Chain> {
    let mut digits: SmallVec<[Digit; 4]> = SmallVec::new();
    for digit in count.digits() {
        let divisor = digit.divisor.get().checked_mul(group.tile.get())?;
        digits.push(Digit::new(NonZeroU64::new(divisor)?, digit.stride));
    }
    digits.extend_from_slice(place.digits());
    Some(Chain::normalised(digits.into_iter(), group.range))
}

/// Neighbouring dimensions that form one number: their sizes, and the number of values of each.
#[derive(Clone, Copy)]
struct Joined<'a> {
    bounds: &'a [u64],
    ranges: &'a [u64],
}

impl<'a> Joined<'a> {
    /// Returns the first cut of the chain, from the major side: the dimensions before and after the cut, and
    /// their chains.
    fn first_cut(self, chain: &Chain) -> Option<(Joined<'a>, Joined<'a>, Chain, Chain)> {
        (1..self.bounds.len()).find_map(|place| {
            let (major, minor) = self.bounds.split_at_checked(place)?;
            let (major_ranges, minor_ranges) = self.ranges.split_at_checked(place)?;
            let (major, minor) =
                (Joined { bounds: major, ranges: major_ranges }, Joined { bounds: minor, ranges: minor_ranges });
            if major.range() == 1 {
                return Some((major, minor, Chain::default(), chain.clone()));
            }
            let (high, low) = chain.cut(NonZeroU64::new(element_count(minor.bounds))?)?;
            let high = Chain::normalised(high.into_iter(), major.range());
            Some((major, minor, high, Chain::normalised(low.into_iter(), minor.range())))
        })
    }

    fn range(self) -> u64 {
        joined_range(self.bounds, self.ranges)
    }
}

//! The tiles of the operand, and those the TPU rule gives, under the sizes of a view.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use smallvec::SmallVec;

use crate::map::IndexMap;
use crate::short_sort::sort_by_key;
use crate::tiled::{ArrayShape, TpuTiles};

use super::wanted::Wanted;

/// The most dimension orders that are tried with one set of tiles: all of them for two minor dimensions of
/// 32.
const MOST_ORDERS: usize = 1024;

/// The view in the operand's tiles, or in the ones a TPU would give it.
///
/// Where the operand itself has the tiles of the TPU rule, the view gets them too, which depend on the sizes:
/// the operand's own if they fit as well. Any other tiles are carried over as they are.
pub(super) fn in_tiles_of(operand: &ArrayShape, wanted: &Wanted<'_>) -> Option<ArrayShape> {
    let tiles = operand.layout().tiles();
    let (followed, others): (Vec<_>, Vec<_>) = TpuTiles::ALL
        .into_iter()
        .partition(|&rule| !tiles.is_empty() && operand.tpu_tiles(rule).is_ok_and(|ruled| ruled == tiles));
    by_rule(&followed, Some(operand), wanted).or_else(|| unchanged(operand, wanted)).or_else(|| {
        let others = if tiles.is_empty() { Vec::new() } else { others };
        by_rule(&others, Some(operand), wanted)
    })
}

/// The map in the tiles a TPU would give it.
pub(super) fn as_on_a_tpu(wanted: &Wanted<'_>) -> Option<ArrayShape> {
    by_rule(&TpuTiles::ALL, None, wanted)
}

/// The tiles of these rules; of several spellings rather one with the operand's tiles.
fn by_rule(rules: &[TpuTiles], operand: Option<&ArrayShape>, wanted: &Wanted<'_>) -> Option<ArrayShape> {
    let mut first: Option<ArrayShape> = None;
    for order in orders(wanted.map(), operand, 2) {
        for &rule in rules {
            let Some(tiles) = wanted.untiled(&order).and_then(|shape| shape.tpu_tiles(rule).ok()) else { continue };
            let is_carried = operand.is_some_and(|operand| tiles == operand.layout().tiles());
            if (is_carried || first.is_none())
                && let Some(shape) = wanted.spelling(&order, &tiles)
            {
                if is_carried {
                    return Some(shape);
                }
                first = Some(shape);
            }
        }
    }
    first
}

/// The operand's tiles as they are.
fn unchanged(operand: &ArrayShape, wanted: &Wanted<'_>) -> Option<ArrayShape> {
    let tiles = operand.layout().tiles();
    if let Some(levels) = wanted.map().levels.as_deref() {
        let order: Vec<usize> = levels.order.to_vec();
        return wanted.spelling(&order, tiles);
    }
    let tiled = tiles.iter().map(|tile| tile.entries().len()).max().unwrap_or(0);
    orders(wanted.map(), Some(operand), tiled).into_iter().find_map(|order| wanted.spelling(&order, tiles))
}

/// Dimension orders, major to minor, in which tiles over the `tiled` minor dimensions may be found.
///
/// In all of them the other dimensions are in the order of their largest strides. Dimensions of size 1 are
/// among them where the operand has its own, if it has as many; else where the whole comes nearest to
/// row-major.
fn orders(map: &IndexMap, operand: Option<&ArrayShape>, tiled: usize) -> Vec<Vec<usize>> {
    let rank = map.sizes().len();
    let major_first = by_stride(map);
    if tiled == 0 {
        return vec![near_row_major(map, &major_first)];
    }
    let mut orders = Vec::new();
    let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut minor: SmallVec<[usize; 8]> = SmallVec::new();
    choose(&major_first, tiled.min(rank), &mut minor, &mut |minor| {
        let others: Vec<usize> = major_first.iter().copied().filter(|dimension| !minor.contains(dimension)).collect();
        let mut order = near_row_major(map, &others);
        order.extend(minor.iter().rev());
        for order in [operand.and_then(|operand| like_operand(map, operand, &order)), Some(order)].into_iter().flatten()
        {
            if seen.insert(order.clone()) {
                orders.push(order);
            }
        }
        orders.len() < MOST_ORDERS
    });
    orders
}

/// Calls `found` with every choice of `left` more dimensions, in every order, the last of `from` first, while
/// it answers true.
fn choose(
    from: &[usize],
    left: usize,
    chosen: &mut SmallVec<[usize; 8]>,
    found: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    let Some(left) = left.checked_sub(1) else { return found(chosen) };
    for &dimension in from.iter().rev() {
        if chosen.contains(&dimension) {
            continue;
        }
        chosen.push(dimension);
        let goes_on = choose(from, left, chosen, found);
        chosen.pop();
        if !goes_on {
            return false;
        }
    }
    true
}

/// The dimensions of size 1, then the others, the one with the largest stride first.
pub(super) fn by_stride(map: &IndexMap) -> Vec<usize> {
    let mut order: Vec<usize> = (0..map.sizes().len()).collect();
    // The stride, and the place among dimensions that `*` has joined. Dimensions of size 1 have neither.
    let stride = |dimension: &usize| {
        map.components.iter().find_map(|component| {
            let place = component.dims().iter().position(|other| other == dimension)?;
            Some((Reverse(component.chain.digits().iter().map(|digit| digit.stride).max()), place))
        })
    };
    sort_by_key(&mut order, stride);
    order
}

/// These dimensions in the order they have, but with those of size 1 where the whole comes nearest to
/// row-major.
pub(super) fn near_row_major(map: &IndexMap, order: &[usize]) -> Vec<usize> {
    let is_one = |dimension: &usize| map.sizes().get(*dimension) == Some(&1);
    let (mut ones, mut live): (Vec<usize>, Vec<usize>) = order.iter().partition(|dimension| is_one(dimension));
    sort_by_key(&mut ones, |&dimension| dimension);
    let mut minor_to_major = Vec::with_capacity(order.len());
    // The lexicographically largest: of the two candidates always the later dimension.
    while let Some(next) = if ones.last() > live.last() { ones.pop() } else { live.pop() } {
        minor_to_major.push(next);
    }
    minor_to_major.reverse();
    minor_to_major
}

/// This order with the dimensions of size 1 where the operand has its own. `None` if it has not as many, or
/// not as many others. A scalar's dimensions are in falling order.
fn like_operand(map: &IndexMap, operand: &ArrayShape, order: &[usize]) -> Option<Vec<usize>> {
    let is_one = |dimension: &usize| map.sizes().get(*dimension) == Some(&1);
    let (mut ones, live): (Vec<usize>, Vec<usize>) = order.iter().partition(|dimension| is_one(dimension));
    sort_by_key(&mut ones, |&dimension| dimension);
    if operand.rank() == 0 {
        ones.reverse();
        return Some(ones);
    }
    let (mut ones, mut live) = (ones.into_iter(), live.into_iter());
    let own = operand.layout().minor_to_major().iter().rev();
    let next = |&dimension: &usize| if operand.sizes().get(dimension) == Some(&1) { ones.next() } else { live.next() };
    let order: Vec<usize> = own.map(next).collect::<Option<_>>()?;
    (order.len() == map.sizes().len()).then_some(order)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests;

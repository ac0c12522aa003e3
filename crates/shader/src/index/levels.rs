//! Shader code for Irreducible layouts. It goes through the tile levels one by one, as their definition does.

use crate::code::{Code, Condition, Expr};
use tensor_layout::plan::TileLevels;

use super::range::{below, fuse, last_of, unfuse};

pub(super) fn offset(code: &mut Code, levels: &TileLevels, index: &[Expr]) -> Expr {
    let of = |&axis: &usize| index.get(axis).cloned().unwrap_or_else(|| Expr::from(0));
    let mut at: Vec<Expr> = levels.order().iter().map(of).collect();
    for level in levels.levels() {
        at.splice(0..0, std::iter::repeat_n(Expr::from(0), level.new_axes));
        let tiled: Vec<Expr> = at.drain(level.prefix..).collect();
        let (mut counts, mut places) = (Vec::new(), Vec::new());
        let mut rest = tiled.as_slice();
        for group in level.groups() {
            let (own, after) = rest.split_at_checked(group.bounds().len()).unwrap_or((rest, &[]));
            rest = after;
            let tile = u32::try_from(group.tile.get()).unwrap_or(u32::MAX);
            let joined = fuse(own, group.bounds()).at_most(last_of(group.range));
            if joined.most() < tile {
                counts.push(Expr::from(0));
                places.push(joined);
                continue;
            }
            let joined = code.bind("joined", joined);
            counts.push(&joined / tile);
            places.push(joined % tile);
        }
        at.extend(counts.into_iter().chain(places));
    }
    fuse(&at, &levels.bounds)
}

/// Returns the index at an offset, and the condition under which an element is stored there. The index is
/// legal in any case.
pub(super) fn index(code: &mut Code, levels: &TileLevels, offset: Expr) -> (Condition, Vec<Expr>) {
    let mut exists = below(&offset, levels.elements);
    let offset = code.bind("inside", offset.min(last_of(levels.elements)));
    let mut at = unfuse(code, "rest", offset, &levels.bounds);
    for level in levels.levels().iter().rev() {
        let tiled: Vec<Expr> = at.drain(level.prefix..).collect();
        let (counts, places) = tiled.split_at_checked(level.groups().len()).unwrap_or((&tiled, &[]));
        for ((group, count), place) in level.groups().iter().zip(counts).zip(places) {
            let joined = match u32::try_from(group.tile.get()) {
                Ok(tile) => count * tile + place,
                Err(_) => place.clone(),
            };
            let joined = code.bind("joined", joined);
            exists = exists.and(below(&joined, group.bound));
            // At padding the number may be out of range, but the index must be legal even there.
            let joined = joined.min(last_of(group.bound));
            at.extend(unfuse(code, "rest", joined, group.bounds()));
        }
        at.drain(..level.new_axes);
    }
    let mut index = vec![Expr::from(0); at.len()];
    for (&axis, i) in levels.order().iter().zip(at) {
        if let Some(slot) = index.get_mut(axis) {
            *slot = i;
        }
    }
    (exists, index)
}

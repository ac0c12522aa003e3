//! Sorts short lists, with one entry for each dimension, loop or digit.
//!
//! The sorts of the standard library compile to thousands of instructions for each type and key. Here, short
//! lists are sorted by insertion. Long lists, which nearly nobody has, are sorted by insertion with gaps that
//! shrink (Shell's sort), so that a list of any length takes bounded time.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// The longest list that is sorted by insertion. Up to this length, insertion is as fast as any other sort.
const SHORT: usize = 20;

/// Sorts a list by a key. Entries with the same key keep their order.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

pub(crate) fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if list.len() > SHORT {
        let order = |a, b| Some(compare(list.get(a)?, list.get(b)?));
        let from = places(list.len(), &|a, b| order(a, b).unwrap_or(Ordering::Equal));
        return reorder(list, from);
    }
    for end in 1..list.len() {
        let mut place = end;
        while let Some(before) = place.checked_sub(1)
            && let (Some(a), Some(b)) = (list.get(before), list.get(place))
            && compare(a, b) == Ordering::Greater
        {
            list.swap(before, place);
            place = before;
        }
    }
}

/// Returns the positions of `count` entries, in the ascending order of the entries.
#[inline(never)]
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    let mut gap = count;
    while gap > 1 {
        gap = gap.saturating_mul(4).div_euclid(9).max(1);
        for end in gap..count {
            let mut place = end;
            // Equal entries keep their order.
            while let Some(before) = place.checked_sub(gap)
                && let (Some(&a), Some(&b)) = (places.get(before), places.get(place))
                && compare(a, b).then(a.cmp(&b)) == Ordering::Greater
            {
                places.swap(before, place);
                place = before;
            }
        }
    }
    places
}

/// Moves the entry at position `from[i]` to position `i`, for all `i`. The entries are exchanged along one
/// cycle after the other.
fn reorder<T>(list: &mut [T], mut from: Vec<usize>) {
    for first in 0..list.len() {
        let mut at = first;
        while let Some(next) = from.get_mut(at).map(|place| core::mem::replace(place, at))
            && next != first
            && next != at
        {
            list.swap(at, next);
            at = next;
        }
    }
}

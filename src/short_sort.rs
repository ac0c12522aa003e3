//! Sorting of short lists: those with an entry a dimension, a loop or a digit.
//!
//! The sorts of slices are thousands of instructions for each type and key. Here that is so once.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Entries up to which insertion is as fast as any other way.
const SHORT: usize = 20;

/// Sorts a list by a key. Entries of equal keys stay in their order.
pub(crate) fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts a list. Equal entries stay in their order.
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

/// The places of `count` entries in ascending order.
#[inline(never)]
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Moves the entry that is at `from[i]` to `i`, for all `i`: one cycle of exchanges after the other.
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

#[cfg(test)]
mod tests;

//! Visits the elements of a part of a tensor one by one.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::checked::{self, Dims, Exact, OFFSET, next_index};
use crate::error::Error;

use super::index_map::IndexMap;

impl IndexMap {
    /// Calls `take` with the offset of each element inside the ranges. No range may be empty.
    pub(super) fn each_offset(&self, ranges: &[Range<u64>], mut take: impl FnMut(u64)) {
        let lengths: Dims = ranges.iter().map(|range| range.end.minus(range.start)).collect();
        let mut inside: Dims = Dims::from_elem(0, lengths.len());
        loop {
            let index: Dims = inside.iter().zip(ranges).map(|(i, range)| range.start.plus(*i)).collect();
            take(self.offset_inside(&index));
            if !next_index(&mut inside, &lengths) {
                return;
            }
        }
    }

    /// Returns, for each of the `length` offsets from `low` on, whether an element inside the ranges is
    /// stored there.
    pub(super) fn held(&self, ranges: &[Range<u64>], low: u64, length: u64) -> Result<Vec<bool>, Error> {
        let mut held = vec![false; checked::narrow(length, OFFSET)?];
        self.each_offset(ranges, |offset| {
            let place = offset.checked_sub(low).and_then(|place| usize::try_from(place).ok());
            if let Some(slot) = place.and_then(|place| held.get_mut(place)) {
                *slot = true;
            }
        });
        Ok(held)
    }
}

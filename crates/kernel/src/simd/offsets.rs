//! Where some rows of a plane begin, one by one: kernels need not know whether their pitch is constant.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::kernel::{Axis, MOST_ROWS};

/// The memory of some offsets.
pub(super) type Places = MaybeUninit<[usize; MOST_ROWS]>;

/// At most [`MOST`](Offsets::MOST) offsets.
pub(super) struct Offsets<'a> {
    places: &'a mut Places,
    /// The rows that they are of.
    rows: Range<usize>,
}

impl<'a> Offsets<'a> {
    /// As many rows as a stage of bytes has in eight lines.
    pub(super) const MOST: usize = MOST_ROWS;

    #[inline(always)]
    pub(super) fn new(places: &'a mut Places) -> Offsets<'a> {
        Offsets { places, rows: 0..0 }
    }

    /// Lists the offsets of some rows of an axis. Each list is filled from one axis only, so that the same
    /// rows need not be listed again.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST`](Offsets::MOST) rows.
    #[inline(always)]
    pub(super) fn fill(&mut self, axis: &Axis, rows: Range<usize>) {
        if self.rows != rows {
            self.fill_anew(axis, rows);
        }
    }

    #[inline(never)]
    fn fill_anew(&mut self, axis: &Axis, rows: Range<usize>) {
        assert!(rows.len() <= Self::MOST, "more offsets than a list holds");
        let places = self.places.as_mut_ptr().cast::<usize>();
        if let Some(pitch) = axis.stride() {
            // Several sums at a time, where a product each would be computed one by one.
            let mut offset = rows.start * pitch;
            for i in 0..rows.len() {
                // SAFETY: one of at most `MOST` entries.
                unsafe { places.add(i).write(offset) };
                offset = offset.wrapping_add(pitch);
            }
        } else {
            for (i, row) in rows.clone().enumerate() {
                // SAFETY: one of at most `MOST` entries.
                unsafe { places.add(i).write(axis.offset(row)) };
            }
        }
        self.rows = rows;
    }

    /// Lists the offsets of `count` rows that are `pitch` bytes apart.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST`](Offsets::MOST) rows.
    #[inline(always)]
    pub(super) fn fill_strided(&mut self, pitch: usize, count: usize) {
        if self.rows != (pitch..pitch + count) {
            assert!(count <= Self::MOST, "more offsets than a list holds");
            let places = self.places.as_mut_ptr().cast::<usize>();
            for i in 0..count {
                // SAFETY: one of at most `MOST` entries.
                unsafe { places.add(i).write(i * pitch) };
            }
            self.rows = pitch..pitch + count;
        }
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const usize {
        self.places.as_ptr().cast()
    }
}

//! Lists of the offsets of rows or of columns. A kernel that reads such a list needs no constant pitch.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::kernel::{Axis, MOST_ROWS};

pub(super) type List = MaybeUninit<[usize; MOST_ROWS]>;

pub(super) struct Offsets<'a> {
    list: &'a mut List,
    rows: Range<usize>,
}

impl<'a> Offsets<'a> {
    pub(super) const MOST: usize = MOST_ROWS;

    #[inline(always)]
    pub(super) fn new(list: &'a mut List) -> Offsets<'a> {
        Offsets { list, rows: 0..0 }
    }

    /// Lists the offsets of some rows of an axis. A list is always filled from the same axis, so nothing is
    /// done if it has these rows already.
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
        let list = self.list.as_mut_ptr().cast::<usize>();
        if let Some(pitch) = axis.stride() {
            // The pitch is added each time, because the compiler vectorizes 64-bit additions, but not
            // products.
            let mut offset = rows.start * pitch;
            for i in 0..rows.len() {
                // SAFETY: the list has `MOST` entries, and `i` is below the number of rows: at most `MOST`.
                unsafe { list.add(i).write(offset) };
                offset = offset.wrapping_add(pitch);
            }
        } else {
            for (i, row) in rows.clone().enumerate() {
                // SAFETY: the list has `MOST` entries, and `i` is below the number of rows: at most `MOST`.
                unsafe { list.add(i).write(axis.offset(row)) };
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
            let list = self.list.as_mut_ptr().cast::<usize>();
            for i in 0..count {
                // SAFETY: the list has `MOST` entries, and `i` is below `count`, which is at most `MOST`.
                unsafe { list.add(i).write(i * pitch) };
            }
            self.rows = pitch..pitch + count;
        }
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const usize {
        self.list.as_ptr().cast()
    }
}

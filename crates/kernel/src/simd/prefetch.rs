//! Prefetches for the panel that is transposed next.

use std::ops::Range;

use super::vector::Vector;
use crate::kernel::Axis;
use crate::machine::LINE;

/// The source lines of the next panel that are still to be prefetched, row by row.
#[derive(Clone, Copy)]
pub(super) struct PanelPrefetch<'a> {
    /// The address of the panel's first column in row 0 of its plane, and the offsets of the rows.
    from: *const u8,
    axis: &'a Axis,
    begin: *const u8,
    /// The row whose lines are prefetched next, and the end of the rows.
    row: usize,
    rows: usize,
    /// The next line of this row, and how many lines each row has.
    line: usize,
    lines: usize,
    /// Whether lines go into the L1 cache, instead of the L2 cache.
    near: bool,
}

impl<'a> PanelPrefetch<'a> {
    /// Makes the prefetches of the first `lines` lines of each row in `rows`.
    #[inline(always)]
    pub(super) fn new(from: *const u8, axis: &'a Axis, rows: Range<usize>, lines: usize) -> Self {
        let (row, rows) = (rows.start, rows.end);
        let prefetch = PanelPrefetch { from, axis, begin: from, row, rows, line: 0, lines, near: false };
        if row < rows { PanelPrefetch { begin: prefetch.row_begin(), ..prefetch } } else { prefetch }
    }

    #[inline(always)]
    pub(super) fn nothing(axis: &'a Axis) -> Self {
        PanelPrefetch::new(std::ptr::null(), axis, 0..0, 0)
    }

    #[inline(always)]
    pub(super) fn near(self, near: bool) -> Self {
        PanelPrefetch { near, ..self }
    }

    /// # Safety
    ///
    /// There is no condition besides the features of `V`.
    #[inline(always)]
    pub(super) unsafe fn issue<V: Vector>(&mut self, count: usize) {
        if self.row < self.rows {
            // SAFETY: there is no condition.
            unsafe { self.issue_lines::<V>(count) };
        }
    }

    /// Prefetches the next `count` lines. This is a function of its own, because every block issues
    /// prefetches, and most small copies have nothing to prefetch.
    ///
    /// # Safety
    ///
    /// There is no condition besides the features of `V`.
    #[inline(never)]
    unsafe fn issue_lines<V: Vector>(&mut self, count: usize) {
        let mut left = count;
        while self.row < self.rows && left > 0 {
            let some = (self.lines - self.line).min(left);
            for line in self.line..self.line + some {
                let line = self.begin.wrapping_add(line * LINE);
                // SAFETY: a prefetch may be given any address.
                unsafe { if self.near { V::prefetch_near(line) } else { V::prefetch(line) } };
            }
            left -= some;
            self.line += some;
            if self.line == self.lines {
                (self.line, self.row) = (0, self.row + 1);
                self.begin = self.row_begin();
            }
        }
    }

    /// The address at which the lines of the next row begin. After the last row this is the address of row 0.
    fn row_begin(self) -> *const u8 {
        if self.row < self.rows { self.from.wrapping_add(self.axis.offset(self.row)) } else { self.from }
    }
}

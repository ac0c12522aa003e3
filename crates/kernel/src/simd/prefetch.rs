//! Prefetches for the panel that is transposed next.

use std::ops::Range;

use super::vector::Vector;
use crate::kernel::Axis;
use crate::machine::LINE;

/// The source lines of the next panel that are still to be prefetched, row by row.
#[derive(Clone, Copy)]
pub(super) struct PanelPrefetch<'a> {
    /// The address of the panel's first column in row 0 of its plane, and the axis with the rows' offsets.
    from: *const u8,
    axis: &'a Axis,
    begin: *const u8,
    /// The row whose lines are prefetched next, and the number of the row at which the panel ends.
    row: usize,
    rows: usize,
    /// The next line of this row, and how many lines each row has.
    line: usize,
    lines: usize,
    /// Whether lines go into the L1 cache, instead of the L2 cache.
    near: bool,
}

impl<'a> PanelPrefetch<'a> {
    /// The prefetches of the first `lines` lines of each of the rows `rows`, to be issued later.
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
    /// The CPU has the features of `V`; there is no other condition.
    #[inline(always)]
    pub(super) unsafe fn issue<V: Vector>(&mut self, count: usize) {
        if self.row < self.rows {
            // SAFETY: there is no condition.
            unsafe { self.issue_lines::<V>(count) };
        }
    }

    /// Prefetches the next `count` lines. A function of its own: every block calls `issue`, which is inlined,
    /// and most small copies have nothing to prefetch.
    ///
    /// # Safety
    ///
    /// The CPU has the features of `V`; there is no other condition.
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

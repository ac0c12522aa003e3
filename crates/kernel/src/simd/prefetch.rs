//! Prefetching the panel that is transposed next.

use std::ops::Range;

use super::vector::Vector;
use crate::kernel::Axis;
use crate::line::LINE;

/// The lines of a panel that will be read next, row by row.
#[derive(Clone, Copy)]
pub(super) struct PanelPrefetch<'a> {
    /// The first column of the panel where row 0 of its plane begins, and the rows.
    from: *const u8,
    axis: &'a Axis,
    /// Where the next row begins.
    begin: *const u8,
    /// The next row, and the end of the rows.
    row: usize,
    rows: usize,
    /// The next line of the row, and how many it has.
    line: usize,
    lines: usize,
    /// Into the L1 cache, not the L2.
    near: bool,
}

impl<'a> PanelPrefetch<'a> {
    /// Prefetches `lines` lines of each of some rows.
    #[inline(always)]
    pub(super) fn new(from: *const u8, axis: &'a Axis, rows: Range<usize>, lines: usize) -> Self {
        let (row, rows) = (rows.start, rows.end);
        let prefetch = PanelPrefetch { from, axis, begin: from, row, rows, line: 0, lines, near: false };
        if row < rows { PanelPrefetch { begin: prefetch.row_begin(), ..prefetch } } else { prefetch }
    }

    /// Prefetches nothing.
    #[inline(always)]
    pub(super) fn nothing(axis: &'a Axis) -> Self {
        PanelPrefetch::new(std::ptr::null(), axis, 0..0, 0)
    }

    /// The same into the L1 cache if `near`.
    #[inline(always)]
    pub(super) fn near(self, near: bool) -> Self {
        PanelPrefetch { near, ..self }
    }

    /// Prefetches the next `count` lines.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`: a prefetch may go anywhere.
    #[inline(always)]
    pub(super) unsafe fn issue<V: Vector>(&mut self, count: usize) {
        if self.row < self.rows {
            // SAFETY: the same condition.
            unsafe { self.issue_lines::<V>(count) };
        }
    }

    /// The same: a call, because it is in every block, and most copies that are not large prefetch nothing.
    ///
    /// # Safety
    ///
    /// As for [`issue`](PanelPrefetch::issue).
    #[inline(never)]
    unsafe fn issue_lines<V: Vector>(&mut self, count: usize) {
        let mut left = count;
        while self.row < self.rows && left > 0 {
            let some = (self.lines - self.line).min(left);
            for line in self.line..self.line + some {
                let line = self.begin.wrapping_add(line * LINE);
                // SAFETY: a prefetch may go anywhere.
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

    /// Where the next row begins, if there is one.
    fn row_begin(self) -> *const u8 {
        if self.row < self.rows { self.from.wrapping_add(self.axis.offset(self.row)) } else { self.from }
    }
}

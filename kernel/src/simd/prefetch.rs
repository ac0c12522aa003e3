//! Prefetching the panel that is transposed next.

use std::ops::Range;

use super::pitch::Pitch;
use super::vector::Vector;
use crate::cost::{LINE, SHORT_PREFETCH};

/// The lines of a panel that will be read next, row by row.
#[derive(Clone, Copy)]
pub(super) struct PanelPrefetch<P> {
    /// The first column of the panel in row 0 of its plane.
    from: *const u8,
    pitch: P,
    /// The next row, and the end of the rows.
    row: usize,
    rows: usize,
    /// The next line of the row, and how many it has.
    line: usize,
    lines: usize,
    /// Into the L1 cache, not the L2.
    near: bool,
    /// Units of four bytes and more prefetch what belongs to a block at once: by trial, where rows are short, or share a set of the TLB.
    pub(super) at_once: bool,
}

impl<P: Pitch> PanelPrefetch<P> {
    /// Prefetches `lines` lines of each of some rows.
    #[inline(always)]
    pub(super) fn new(from: *const u8, pitch: P, rows: Range<usize>, lines: usize) -> PanelPrefetch<P> {
        PanelPrefetch { from, pitch, row: rows.start, rows: rows.end, line: 0, lines, near: false, at_once: true }
    }

    /// Prefetches nothing.
    #[inline(always)]
    pub(super) fn nothing(pitch: P) -> PanelPrefetch<P> {
        PanelPrefetch::new(std::ptr::null(), pitch, 0..0, 0)
    }

    /// Prefetches `lines` lines that follow each other, wherever the first row lies among them.
    #[inline(always)]
    pub(super) fn run(from: *const u8, pitch: P, lines: usize) -> PanelPrefetch<P> {
        PanelPrefetch::new(from.wrapping_sub(pitch.row(0)), pitch, 0..1, lines)
    }

    /// The same into the L1 cache if `near`.
    #[inline(always)]
    pub(super) fn paced(self, near: bool, one_tlb_set: bool) -> PanelPrefetch<P> {
        PanelPrefetch { near, at_once: one_tlb_set || self.lines <= SHORT_PREFETCH, ..self }
    }

    /// Prefetches the next `count` lines.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`: a prefetch may go anywhere.
    #[inline(always)]
    pub(super) unsafe fn issue<V: Vector>(&mut self, count: usize) {
        let mut left = count;
        while self.row < self.rows && left > 0 {
            let row = self.from.wrapping_add(self.pitch.row(self.row));
            let some = (self.lines - self.line).min(left);
            for line in self.line..self.line + some {
                let line = row.wrapping_add(line * LINE);
                // SAFETY: a prefetch may go anywhere.
                unsafe { if self.near { V::prefetch_near(line) } else { V::prefetch(line) } };
            }
            left -= some;
            self.line += some;
            if self.line == self.lines {
                (self.line, self.row) = (0, self.row + 1);
            }
        }
    }
}

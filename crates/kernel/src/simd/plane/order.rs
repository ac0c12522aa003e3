//! The order of the panels of a plane.

use std::ops::Range;

use crate::kernel::{Panels, count};

/// A range of columns and a range of rows.
pub(super) type Bounds = (Range<usize>, Range<usize>);

/// The panels of a plane: left to right, then down, through all columns that are kept at a time. The next
/// columns follow.
#[derive(Clone)]
pub(super) struct Order<'a> {
    pub(super) panels: &'a Panels,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The first row of the first panel. The rows in front of it do not fill a line of the destination.
    pub(super) head: usize,
    /// The first of the kept columns. The fields below are the first column and the first row of the next
    /// panel.
    pub(super) kept_from: usize,
    pub(super) column: usize,
    pub(super) row: usize,
}

impl Iterator for Order<'_> {
    type Item = Bounds;

    #[inline(always)]
    fn next(&mut self) -> Option<Bounds> {
        if self.kept_from >= self.columns || self.row >= self.rows {
            return None;
        }
        let kept_to = (self.kept_from.saturating_add(count(self.panels.kept))).min(self.columns);
        let columns = self.column..self.column.saturating_add(count(self.panels.width)).min(kept_to);
        let rows = self.row..self.row.saturating_add(count(self.panels.height)).min(self.rows);
        self.column = columns.end;
        if columns.end == kept_to {
            (self.column, self.row) = (self.kept_from, rows.end);
            if rows.end == self.rows {
                (self.kept_from, self.column, self.row) = (kept_to, kept_to, self.head);
            }
        }
        Some((columns, rows))
    }
}

/// The panels of a plane and then the panels of the next plane, each with the source address of its plane.
pub(super) struct Later<'a> {
    pub(super) panels: Order<'a>,
    pub(super) planes: [Option<*const u8>; 2],
    pub(super) all: &'a Order<'a>,
}

impl Iterator for Later<'_> {
    type Item = (*const u8, Bounds);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let plane = self.planes[0]?;
            if let Some(panel) = self.panels.next() {
                return Some((plane, panel));
            }
            (self.planes, self.panels) = ([self.planes[1], None], self.all.clone());
        }
    }
}

//! Panels that go by way of a stage.

use std::ops::Range;

use super::super::block::{How, Panel};
use super::super::leftover::drain;
use super::super::lines::{copy_lines, short};
use super::super::prefetch::PanelPrefetch;
use super::super::vector::Vector;
use super::{Buffers, PlanePanel, StagedPlanes};
use crate::kernel::{KEPT_COLUMNS, Stage};
use crate::line::LINE;

impl Buffers<'_> {
    /// Transposes a panel by way of the stage.
    ///
    /// # Safety
    ///
    /// As for [`PlanePanel::direct`], of panels with a stage that fit the plane. Panels come in order.
    #[inline(always)]
    pub(super) unsafe fn panel<V: Vector>(
        &mut self,
        mut part: PlanePanel<'_, '_, '_>,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let (columns, bytes) = (part.columns.clone(), part.rows.len() * part.planes.plane.unit);
        let (way, at_once) = (part.planes.way, part.planes.at_once);
        let pitch = match way.stage {
            // What is left of the rows; and past the cache, rows whose lines do not begin with units.
            Stage::Lines(lines) if bytes < usize::from(lines) * LINE || way.whole_lines && !part.how.streaming => {
                // SAFETY: the caller's rows and columns.
                return unsafe { part.direct(prefetch) };
            }
            Stage::Lines(lines) | Stage::Continue { lines, joined: false } => (usize::from(lines) + 1) * LINE,
            Stage::Continue { joined: true, .. } => bytes,
            Stage::Gather(lines) => {
                let wide = usize::from(lines) * LINE / part.planes.plane.unit;
                for first in columns.clone().step_by(wide) {
                    let columns = first..(first + wide).min(columns.end);
                    // SAFETY: the caller's rows, and some columns of the panel.
                    unsafe { self.gathered::<V>(&mut part, columns, prefetch) };
                }
                return;
            }
            Stage::None => return,
        };
        for first in columns.clone().step_by(at_once) {
            let columns = first..(first + at_once).min(columns.end);
            // SAFETY: the caller's rows, and some columns of the panel.
            unsafe { self.through::<V>(&part, columns, pitch, prefetch) };
        }
    }
}

impl Buffers<'_> {
    /// Transposes some columns into the stage, rows of it `pitch` bytes apart, and stores them from there.
    ///
    /// # Safety
    ///
    /// As for [`panel`](Buffers::panel), and the columns are at most `at_once`. Columns, and the rows of
    /// those that are continued, come in order.
    #[inline(always)]
    unsafe fn through<V: Vector>(
        &mut self,
        part: &PlanePanel<'_, '_, '_>,
        columns: Range<usize>,
        pitch: usize,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let PlanePanel { planes, iteration, rows, row_offsets, how, .. } = part;
        let &StagedPlanes { walk, plane, way, transpose, at_once } = *planes;
        let (unit, bytes) = (plane.unit, rows.len() * plane.unit);
        let first = self.rows.wrapping_add(LINE);
        self.columns.fill_strided(pitch, at_once);
        let mut panel = Panel {
            from: iteration.from.wrapping_add(columns.start * unit),
            to: first,
            rows: row_offsets.as_ptr(),
            columns: self.columns.as_ptr(),
            row_count: rows.len(),
            column_count: columns.len(),
            left: columns.start,
            unit,
            how: How { streaming: false, staged: true, ..*how },
            prefetch: *prefetch,
        };
        // SAFETY: rows and columns of the plane. `Panels::fit` says that the stage has room for the lines
        // of `at_once` columns, after a line in front of each.
        unsafe { transpose(&mut panel) };
        *prefetch = panel.prefetch;
        let to = |column: usize| iteration.to.wrapping_add(plane.columns.offset(column) + rows.start * unit);
        let (joined, continued) = match way.stage {
            Stage::Continue { joined, .. } => (joined, true),
            _ => (false, false),
        };
        if joined {
            let ends = (columns.start == 0, columns.end == plane.columns.extent);
            // SAFETY: the rows of the stage follow each other, as those of the plane do; `Panels::fit`
            // says that those of a whole stage are a line or more.
            return unsafe {
                drain::<V>(first, to(columns.start), columns.len() * bytes, ends, &mut self.leftovers[0])
            };
        }
        let ends = if continued { (rows.start == 0, rows.end == plane.rows.extent) } else { (true, true) };
        for (i, column) in columns.enumerate() {
            // SAFETY: the staged row was written, after a line for what was left; its place on the
            // destination is the plane's. `Panels::fit` says that a run which goes on is a line or more,
            // and that no two columns that are kept share a leftover.
            unsafe {
                let (from, to) = (first.add(i * pitch), to(column));
                if walk.streaming {
                    drain::<V>(from, to, bytes, ends, &mut self.leftovers[column % KEPT_COLUMNS]);
                } else {
                    staged_row::<V>(from, to, bytes);
                }
            }
        }
    }
}

impl Buffers<'_> {
    /// Copies some columns of the rows into the stage, and transposes them from there.
    ///
    /// # Safety
    ///
    /// As for [`panel`](Buffers::panel); the rows are at most a line of the destination, and the columns
    /// those of a row of the stage.
    #[inline(always)]
    unsafe fn gathered<V: Vector>(
        &mut self,
        part: &mut PlanePanel<'_, '_, '_>,
        columns: Range<usize>,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let PlanePanel { planes, iteration, rows, column_offsets, how, .. } = part;
        let (plane, transpose) = (planes.plane, planes.transpose);
        let Stage::Gather(lines) = planes.way.stage else { return };
        let (unit, pitch) = (plane.unit, (usize::from(lines) + 1) * LINE);
        let stage = self.rows.wrapping_add(LINE);
        for (i, row) in rows.clone().enumerate() {
            let from = iteration.from.wrapping_add(columns.start * unit + plane.rows.offset(row));
            // SAFETY: a row of the plane; `Panels::fit` says that the stage has room for these rows.
            unsafe { staged_row::<V>(from, stage.add(i * pitch), columns.len() * unit) };
        }
        self.columns.fill_strided(pitch, rows.len());
        column_offsets.fill(&plane.columns, columns.clone());
        let mut panel = Panel {
            from: stage,
            to: iteration.to.wrapping_add(rows.start * unit),
            rows: self.columns.as_ptr(),
            columns: column_offsets.as_ptr(),
            row_count: rows.len(),
            column_count: columns.len(),
            left: 0,
            unit,
            how: How { in_cache: true, ..*how },
            prefetch: *prefetch,
        };
        // SAFETY: the rows of the stage, which were written, and the rows and columns of the plane.
        unsafe { transpose(&mut panel) };
        *prefetch = panel.prefetch;
    }
}

/// Copies a row from or to a stage through the cache, four lines at a time: all are read before one is
/// written.
///
/// # Safety
///
/// `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn staged_row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize) {
    let whole = bytes - bytes % (4 * LINE);
    // SAFETY: all of them, and none twice.
    unsafe {
        for at in (0..whole).step_by(4 * LINE) {
            copy_lines::<V, 4>(from.add(at), to.add(at), false);
        }
        short(from.add(whole), to.add(whole), bytes - whole);
    }
}

//! Panels that go through a staging buffer. `kernel/panels.rs` explains when a staging buffer is worth its
//! cost.

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
    /// Transposes a panel through the staging buffer.
    ///
    /// # Safety
    ///
    /// * The conditions of [`PlanePanel::direct`].
    /// * The panels have a staging buffer and fit the plane. They come in order.
    #[inline(always)]
    pub(super) unsafe fn panel<V: Vector>(&mut self, part: PlanePanel<'_, '_, '_>, prefetch: &mut PanelPrefetch<'_>) {
        let (columns, bytes) = (part.columns.clone(), part.rows.len() * part.planes.plane.unit);
        let (panels, at_once) = (part.planes.panels, part.planes.at_once);
        let pitch = match panels.stage {
            // These rows go to the destination directly. They are the last rows of a plane and do not fill
            // the staging buffer, or they cannot be streamed because lines do not start with units.
            Stage::Lines(lines) if bytes < usize::from(lines) * LINE || panels.whole_lines && !part.how.streaming => {
                // SAFETY: the rows and columns are in the contract.
                return unsafe { part.direct(prefetch) };
            }
            Stage::Lines(lines) | Stage::Continue { lines, joined: false } => Stage::pitch(lines),
            Stage::Continue { joined: true, .. } => bytes,
            Stage::None => return,
        };
        for first in columns.clone().step_by(at_once) {
            let columns = first..(first + at_once).min(columns.end);
            // SAFETY: the rows are in the contract, and the columns are some of its columns.
            unsafe { self.through::<V>(&part, columns, pitch, prefetch) };
        }
    }
}

impl Buffers<'_> {
    /// Transposes some columns into the staging buffer, and stores the rows of the buffer, which are `pitch`
    /// bytes apart.
    ///
    /// # Safety
    ///
    /// * The conditions of [`panel`](Buffers::panel).
    /// * There are at most `at_once` columns.
    /// * Columns come in order. The rows of columns that are continued come in order too.
    #[inline(always)]
    unsafe fn through<V: Vector>(
        &mut self,
        part: &PlanePanel<'_, '_, '_>,
        columns: Range<usize>,
        pitch: usize,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let PlanePanel { planes, iteration, rows, row_offsets, how, .. } = part;
        let &StagedPlanes { walk, plane, panels, at_once, .. } = *planes;
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
        // SAFETY: the rows and columns are inside the plane. `Panels::fit` checked that the buffer has room
        // for the lines of `at_once` columns, after one line in front.
        unsafe { planes.by_buffer(pitch)(&mut panel) };
        *prefetch = panel.prefetch;
        let to = |column: usize| iteration.to.wrapping_add(plane.columns.offset(column) + rows.start * unit);
        let (joined, continued) = match panels.stage {
            Stage::Continue { joined, .. } => (joined, true),
            _ => (false, false),
        };
        if joined {
            let ends = (columns.start == 0, columns.end == plane.columns.extent);
            // SAFETY: the rows of the buffer follow each other, as the rows of the plane do. `Panels::fit`
            // checked that the rows of a whole buffer have at least a line together.
            return unsafe {
                drain::<V>(first, to(columns.start), columns.len() * bytes, ends, &mut self.leftovers[0])
            };
        }
        let ends = if continued { (rows.start == 0, rows.end == plane.rows.extent) } else { (true, true) };
        for (i, column) in columns.enumerate() {
            // SAFETY: the row of the buffer was written, after a line for its leftover, and goes to a row of
            // the plane. `Panels::fit` checked that a run which continues has a line or more, and that no two
            // kept columns share a leftover.
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

/// Copies a row to or from a staging buffer with ordinary stores, four lines at a time. The four lines are
/// loaded before the first of them is stored.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn staged_row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize) {
    let whole = bytes - bytes % (4 * LINE);
    // SAFETY: `whole` bytes and the rest after them are `bytes` bytes together.
    unsafe {
        for at in (0..whole).step_by(4 * LINE) {
            copy_lines::<V, 4>(from.add(at), to.add(at), false);
        }
        short(from.add(whole), to.add(whole), bytes - whole);
    }
}

//! Panels that go through a staging buffer. `kernel/panels.rs` explains when a staging buffer is worth its
//! cost.
//!
//! # Lines in parts
//!
//! Runs may continue each other on the destination and end inside cache lines. Non-temporal stores write
//! whole lines only, so a partial line waits for the next run.
//!
//! A row of the destination is produced in parts, by one panel after the other. If a part ends inside a line,
//! storing the partial line now and the rest of the line later would cost two writes to memory. So the last
//! line of a part is kept, and put in front of the next part:
//!
//! ```text
//! destination lines   |line 0          |line 1          |line 2          |
//! first part               aaaaaaaaaaaaaaaaa                                stored: the rest of line 0; kept: its part of line 1
//! second part                               bbbbbbbbbbbbbbbbbb              stored: line 1, whole; kept: its part of line 2
//! last part                                                   cccccc        stored: line 2 up to the end of the row
//! ```
//!
//! The parts are in a staging buffer that has a free line in front of each row. [`drain`] copies the kept
//! bytes into that line, right in front of the part, and starts from the last line border before it.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::lines::{copy_lines, first_and_last, short};
use super::super::prefetch::PanelPrefetch;
use super::super::square::{How, Panel};
use super::super::vector::Vector;
use super::super::walk::Iteration;
use super::Planes;
use crate::kernel::{KEPT_COLUMNS, STAGED_PITCH, Stage};
use crate::machine::LINE;

impl Planes<'_> {
    /// Transposes a part of a plane through the staging buffer, some columns at a time.
    ///
    /// # Safety
    ///
    /// * The conditions of [`Planes::direct`].
    /// * There is a staging buffer, and the panels fit the plane. They come in order.
    #[inline(always)]
    pub(super) unsafe fn by_stage<V: Vector>(
        &mut self,
        iteration: &Iteration,
        columns: Range<usize>,
        rows: Range<usize>,
        how: How,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let &mut Planes { plane, panels, .. } = self;
        let bytes = rows.len() * plane.unit;
        let pitch = match panels.stage {
            // These rows go to the destination directly. They are the last rows of a plane and do not fill
            // the staging buffer, or they cannot be streamed because lines do not start with units.
            Stage::Lines(lines) if bytes < usize::from(lines) * LINE || panels.whole_lines && !how.streaming => {
                // SAFETY: the rows and columns are in the contract.
                return unsafe { self.direct(iteration, columns, rows, how, prefetch) };
            }
            Stage::Lines(lines) | Stage::Continue { lines, joined: false } => Stage::pitch(lines),
            Stage::Continue { joined: true, .. } => bytes,
            Stage::None => return,
        };
        self.rows.fill(&plane.rows, rows.clone());
        let at_once = Stage::columns_at_once(plane.unit);
        for first in columns.clone().step_by(at_once) {
            let columns = first..(first + at_once).min(columns.end);
            // SAFETY: the rows are in the contract, and the columns are some of its columns.
            unsafe { self.through::<V>(iteration, columns, rows.clone(), (pitch, how), prefetch) };
        }
    }

    /// Transposes some columns into the staging buffer, and stores the rows of the buffer, which are `pitch`
    /// bytes apart.
    ///
    /// # Safety
    ///
    /// * The conditions of [`by_stage`](Planes::by_stage), and the offsets of the rows are listed.
    /// * The columns are at most as many as go into the buffer at a time.
    /// * Columns come in order. The rows of columns that are continued come in order too.
    #[inline(always)]
    unsafe fn through<V: Vector>(
        &mut self,
        iteration: &Iteration,
        columns: Range<usize>,
        rows: Range<usize>,
        (pitch, how): (usize, How),
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let &mut Planes { walk, plane, panels, transpose, staged, .. } = self;
        let Some(stage) = &mut self.stage else { return };
        let (unit, bytes) = (plane.unit, rows.len() * plane.unit);
        let first = stage.rows.wrapping_add(LINE);
        stage.columns.fill_strided(pitch, Stage::columns_at_once(unit));
        let mut panel = Panel {
            from: iteration.from.wrapping_add(columns.start * unit),
            to: first,
            rows: self.rows.as_ptr(),
            columns: stage.columns.as_ptr(),
            row_count: rows.len(),
            column_count: columns.len(),
            left: columns.start,
            unit,
            how: How { streaming: false, staged: true, ..how },
            prefetch: *prefetch,
        };
        // SAFETY: the rows and columns are inside the plane. `Panels::fit` checked that the buffer has room
        // for the lines of the columns, after one line in front.
        unsafe { if pitch == STAGED_PITCH { staged(&mut panel) } else { transpose(&mut panel) } };
        *prefetch = panel.prefetch;
        let to = |column: usize| iteration.to.wrapping_add(plane.columns.offset(column) + rows.start * unit);
        let (joined, continued) = match panels.stage {
            Stage::Continue { joined, .. } => (joined, true),
            _ => (false, false),
        };
        if joined {
            let ends = Ends { is_first: columns.start == 0, is_last: columns.end == plane.columns.extent };
            // SAFETY: the rows of the buffer follow each other, as the rows of the plane do. `Panels::fit`
            // checked that the rows of a whole buffer have at least a line together.
            return unsafe {
                drain::<V>(first, to(columns.start), columns.len() * bytes, ends, &mut stage.leftovers[0])
            };
        }
        let ends =
            Ends { is_first: !continued || rows.start == 0, is_last: !continued || rows.end == plane.rows.extent };
        for (i, column) in columns.enumerate() {
            // SAFETY: the row of the buffer was written, after a line for its leftover, and goes to a row of
            // the plane. `Panels::fit` checked that a run which continues has a line or more, and that no two
            // kept columns share a leftover.
            unsafe {
                let (from, to) = (first.add(i * pitch), to(column));
                if walk.streaming {
                    drain::<V>(from, to, bytes, ends, &mut stage.leftovers[column % KEPT_COLUMNS]);
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

/// The last `LINE` bytes of a run. The bytes after the run's last whole destination line are still to be
/// stored.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Leftover(MaybeUninit<[u8; LINE]>);

impl Leftover {
    pub(super) const NOTHING: Leftover = Leftover(MaybeUninit::uninit());
}

/// Whether a run is the first of its row, and whether it is the last.
#[derive(Clone, Copy)]
struct Ends {
    is_first: bool,
    is_last: bool,
}

/// Stores a run with non-temporal stores. Unless the run is the first of its row, the kept bytes are stored
/// in front of it. Unless the run is the last of its row, its last `LINE` bytes are kept.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
/// * Unless the run is the first, a line in front of `from` is writable, `kept` was filled by a run that ends
///   at `to`, and the destination line that holds `to` is writable from its start.
/// * Unless the run is the last, `bytes` is at least a line.
#[inline(always)]
unsafe fn drain<V: Vector>(
    from: *mut u8,
    to: *mut u8,
    bytes: usize,
    Ends { is_first, is_last }: Ends,
    kept: &mut Leftover,
) {
    debug_assert!(is_last || bytes >= LINE);
    let kept = kept.0.as_mut_ptr().cast::<u8>();
    // SAFETY: the destination gets the run and less than a line in front of it, for which there is a free
    // line in front of `from`. Vectors are stored to whole lines of these bytes. `kept` is filled only from a
    // run of at least a line.
    unsafe {
        let (at, to, left) = if is_first {
            let head = to.align_offset(LINE).min(bytes);
            short(from, to, head);
            (from.add(head).cast_const(), to.add(head), bytes - head)
        } else {
            let before = to.addr() % LINE;
            copy_lines::<V, 1>(kept, from.sub(LINE), false);
            (from.sub(before).cast_const(), to.sub(before), bytes + before)
        };
        let whole = left - left % LINE;
        for part in (0..whole).step_by(V::BYTES) {
            V::load(at.add(part)).store_non_temporal(to.add(part));
        }
        if is_last {
            short(at.add(whole), to.add(whole), left - whole);
        } else {
            copy_lines::<V, 1>(from.add(bytes - LINE), kept, false);
        }
    }
}

/// Copies the runs of a panel into a staging buffer. Their length is not that of a unit (1, 2, 4, 8 or 16
/// bytes), so registers cannot exchange them.
///
/// # Safety
///
/// * The conditions of [`TransposePanel`](super::super::square::TransposePanel), with a staging buffer as the
///   destination.
/// * Runs have 2 to 128 bytes.
pub(super) unsafe fn runs<V: Vector>(panel: &mut Panel<'_>) {
    // SAFETY: each arm is for runs of `SIZE` to `2 * SIZE` bytes, as the pattern of the arm says.
    unsafe {
        match panel.unit {
            ..4 => runs_of::<V, 2>(panel),
            4..8 => runs_of::<V, 4>(panel),
            8..16 => runs_of::<V, 8>(panel),
            16..32 => runs_of::<V, 16>(panel),
            32..64 => runs_of::<V, 32>(panel),
            _ => runs_of::<V, 64>(panel),
        }
    }
}

/// Copies the runs of a panel as two halves: their first `SIZE` bytes and their last `SIZE` bytes.
///
/// # Safety
///
/// * The conditions of [`runs`].
/// * Runs have `SIZE` to `2 * SIZE` bytes.
unsafe fn runs_of<V: Vector, const SIZE: usize>(panel: &mut Panel<'_>) {
    let lines = (panel.column_count * panel.unit).div_ceil(LINE);
    for row in 0..panel.row_count {
        // SAFETY: `from` is a run of the panel, inside its row. `to` is the entry for this row, in the
        // column's row of the staging buffer. Both have `unit` bytes.
        unsafe {
            panel.prefetch.issue::<V>(lines);
            let (from, to) = (panel.from.add(*panel.rows.add(row)), panel.to.add(row * panel.unit));
            for column in 0..panel.column_count {
                let to = to.add(*panel.columns.add(column));
                first_and_last::<SIZE>(from.add(column * panel.unit), to, panel.unit);
            }
        }
    }
}

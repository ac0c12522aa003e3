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

use super::super::lines::{copy_lines, first_and_last, short};
use super::super::offsets::Offsets;
use super::super::prefetch::PanelPrefetch;
use super::super::square::Panel;
use super::super::vector::Vector;
use crate::kernel::{KEPT_COLUMNS, STAGE};
use crate::machine::LINE;

/// The rows of a staging buffer, with one free line in front of the first row and one after the last.
#[repr(align(64))]
pub(super) struct StageRows(pub(super) MaybeUninit<[u8; STAGE + 2 * LINE]>);

pub(super) struct Buffers<'a> {
    pub(super) rows: *mut u8,
    pub(super) leftovers: &'a mut [Leftover; KEPT_COLUMNS],
    pub(super) columns: Offsets<'a>,
}

/// Copies a row to or from a staging buffer with ordinary stores, four lines at a time. The four lines are
/// loaded before the first of them is stored.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(super) unsafe fn staged_row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize) {
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
pub(super) struct Ends {
    pub(super) is_first: bool,
    pub(super) is_last: bool,
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
pub(super) unsafe fn drain<V: Vector>(
    from: *mut u8,
    to: *mut u8,
    bytes: usize,
    Ends { is_first, is_last }: Ends,
    kept: &mut Leftover,
) {
    debug_assert!(is_last || bytes >= LINE);
    let kept = kept.0.as_mut_ptr().cast::<u8>();
    let (at, to, left) = if is_first {
        let head = to.align_offset(LINE).min(bytes);
        // SAFETY: `head` bytes are the first ones of the run.
        unsafe {
            short(from, to, head);
            (from.add(head).cast_const(), to.add(head), bytes - head)
        }
    } else {
        let before = to.addr() % LINE;
        // SAFETY: the line in front of `from` is writable, and gets the line that `kept` holds. Less than a
        // line in front of `to` is in the line that holds `to`.
        unsafe {
            copy_lines::<V, 1>(kept, from.sub(LINE), false);
            (from.sub(before).cast_const(), to.sub(before), bytes + before)
        }
    };
    let whole = left - left % LINE;
    for part in (0..whole).step_by(V::BYTES) {
        // SAFETY: `part` is inside the whole lines of the `left` bytes. `to` is at a line, or the run ends
        // before the next line and `whole` is 0.
        unsafe { V::load(at.add(part)).store_non_temporal(to.add(part)) };
    }
    // SAFETY: what is left is less than a line of the run. `kept` gets the last line of a run, which has at
    // least a line unless it is the last one.
    unsafe {
        if is_last {
            short(at.add(whole), to.add(whole), left - whole);
        } else {
            copy_lines::<V, 1>(from.add(bytes - LINE), kept, false);
        }
    }
}

/// Copies the runs of a panel into a staging buffer, one by one. Registers exchange only units of 1, 2, 4, 8
/// or 16 bytes, and these runs have other lengths.
///
/// # Safety
///
/// * The conditions of [`TransposePanel`](super::super::square::TransposePanel), with a staging buffer as the
///   destination.
/// * Runs have 2 to 128 bytes.
pub(super) unsafe fn runs<V: Vector>(panel: &Panel<'_>, prefetch: &mut PanelPrefetch<'_>) {
    // SAFETY: each arm is for runs of `SIZE` to `2 * SIZE` bytes, as the pattern of the arm says.
    unsafe {
        match panel.unit {
            ..4 => runs_of::<V, 2>(panel, prefetch),
            4..8 => runs_of::<V, 4>(panel, prefetch),
            8..16 => runs_of::<V, 8>(panel, prefetch),
            16..32 => runs_of::<V, 16>(panel, prefetch),
            32..64 => runs_of::<V, 32>(panel, prefetch),
            _ => runs_of::<V, 64>(panel, prefetch),
        }
    }
}

/// Copies the runs of a panel as two halves: their first `SIZE` bytes and their last `SIZE` bytes.
///
/// # Safety
///
/// * The conditions of [`runs`].
/// * Runs have `SIZE` to `2 * SIZE` bytes.
unsafe fn runs_of<V: Vector, const SIZE: usize>(panel: &Panel<'_>, prefetch: &mut PanelPrefetch<'_>) {
    let lines = (panel.column_count * panel.unit).div_ceil(LINE);
    for row in 0..panel.row_count {
        // SAFETY: `from` is a run of the panel, inside its row. `to` is the entry for this row, in the
        // column's row of the staging buffer. Both have `unit` bytes.
        unsafe {
            prefetch.issue::<V>(lines);
            let (from, to) = (panel.from.add(*panel.rows.add(row)), panel.to.add(row * panel.unit));
            for column in 0..panel.column_count {
                let to = to.add(*panel.columns.add(column));
                first_and_last::<SIZE>(from.add(column * panel.unit), to, panel.unit);
            }
        }
    }
}

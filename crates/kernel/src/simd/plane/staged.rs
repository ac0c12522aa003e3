//! Panels that go through a staging buffer. `kernel/panels.rs` explains when a staging buffer is worth its
//! cost.
//!
//! # Lines in parts
//!
//! A run is what a panel contributes to a destination row. A run may end inside a cache line, where a later
//! run continues. Non-temporal stores write whole lines only, so the partial line waits for the later run.
//!
//! If the partial line were stored now, and the rest of the line later, the line would be written to memory
//! twice. So the last line of a run is kept, and put in front of the next run:
//!
//! ```text
//! destination lines   |line 0          |line 1          |line 2          |
//! first run                aaaaaaaaaaaaaaaaa                                stored: the rest of line 0; kept: its bytes of line 1
//! second run                                bbbbbbbbbbbbbbbbbb              stored: line 1, whole; kept: its bytes of line 2
//! last run                                                    cccccc        stored: line 2 up to the end of the row
//! ```
//!
//! Runs are in a staging buffer that has a free line in front of each row. [`drain`] copies the kept bytes
//! into that free line, right in front of the run, and stores from the last line border before the run on.

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
    // SAFETY: the contract covers `bytes` bytes: `whole` bytes by lines, and then the rest.
    unsafe {
        for at in (0..whole).step_by(4 * LINE) {
            copy_lines::<V, 4>(from.add(at), to.add(at), false);
        }
        short(from.add(whole), to.add(whole), bytes - whole);
    }
}

/// The last `LINE` bytes of a run. Those of them that follow the run's last whole destination line are not
/// stored yet.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Leftover(MaybeUninit<[u8; LINE]>);

impl Leftover {
    pub(super) const NOTHING: Leftover = Leftover(MaybeUninit::uninit());
}

/// Whether a run is the first run of its destination row, and whether it is the last run.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

/// Stores a run with non-temporal stores. Unless it is the first run of its row, the kept bytes of the run
/// before are stored, too. Unless it is the last run of its row, its last `LINE` bytes are kept.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
/// * Unless the run is the first, a line in front of `from` is writable, `kept` was filled by a run that ends
///   at `to`, and the destination line that `to` points into is writable from its start on.
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
        // SAFETY: `head` is at most `bytes`, the length of the run in the contract.
        unsafe {
            short(from, to, head);
            (from.add(head).cast_const(), to.add(head), bytes - head)
        }
    } else {
        let before = to.addr() % LINE;
        // SAFETY: the line in front of `from` is writable, and gets the `LINE` bytes of `kept`. The `before`
        // bytes in front of `to` are in the line of `to`, which is writable from its start.
        unsafe {
            copy_lines::<V, 1>(kept, from.sub(LINE), false);
            (from.sub(before).cast_const(), to.sub(before), bytes + before)
        }
    };
    let whole = left - left % LINE;
    for part in (0..whole).step_by(V::BYTES) {
        // SAFETY: `part` is below `whole`, which is at most `left`. `to` is at a line, or the run ends before
        // the next line and `whole` is 0.
        unsafe { V::load(at.add(part)).store_non_temporal(to.add(part)) };
    }
    // SAFETY: what is left is less than a line of the run. `kept` gets the run's last `LINE` bytes. Unless it
    // is the last run, it has as many.
    unsafe {
        if is_last {
            short(at.add(whole), to.add(whole), left - whole);
        } else {
            copy_lines::<V, 1>(from.add(bytes - LINE), kept, false);
        }
    }
}

/// Copies the runs of a panel into a staging buffer, one by one. These runs are units whose length is not 1,
/// 2, 4, 8 or 16 bytes, so registers cannot exchange them.
///
/// # Safety
///
/// * The conditions of [`TransposePanel`](super::super::square::TransposePanel), where the destination is a
///   staging buffer.
/// * Runs have 2 to 128 bytes.
pub(super) unsafe fn runs<V: Vector>(panel: &Panel<'_>, prefetch: &mut PanelPrefetch<'_>) {
    // SAFETY: `runs_of` has this function's contract. Each arm is for `SIZE` to `2 * SIZE` bytes.
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

/// Copies each run of a panel as two halves that may overlap: its first and its last `SIZE` bytes.
///
/// # Safety
///
/// * The conditions of [`runs`].
/// * Runs have `SIZE` to `2 * SIZE` bytes.
unsafe fn runs_of<V: Vector, const SIZE: usize>(panel: &Panel<'_>, prefetch: &mut PanelPrefetch<'_>) {
    let lines = (panel.column_count * panel.unit).div_ceil(LINE);
    for row in 0..panel.row_count {
        // SAFETY: `from` is a run of the panel, inside its row. `to` is where the run belongs in the staging
        // buffer, in the row of its column. Both have `unit` bytes.
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

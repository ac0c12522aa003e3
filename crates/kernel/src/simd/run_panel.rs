//! Panels of runs whose length is not that of a unit (1, 2, 4, 8 or 16 bytes), so that registers cannot
//! exchange them. A staging buffer collects the runs instead.

use super::block::Panel;
use super::lines::first_and_last;
use super::vector::Vector;
use crate::line::LINE;

/// Copies the runs of a panel into a staging buffer.
///
/// # Safety
///
/// * The conditions of [`TransposePanel`](super::block::TransposePanel), with a staging buffer as the
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

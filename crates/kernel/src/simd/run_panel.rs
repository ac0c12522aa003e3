//! Panels of runs that are no unit of a vector, which are copied into a stage.

use super::block::Panel;
use super::lines::first_and_last;
use super::vector::Vector;
use crate::line::LINE;

/// Copies the runs of a panel into a stage.
///
/// # Safety
///
/// As for a [`TransposePanel`](super::block::TransposePanel); runs have at least 2 bytes and at most 128.
pub(super) unsafe fn runs<V: Vector>(panel: &mut Panel<'_>) {
    // SAFETY: each arm is given runs of the size in its name up to twice as long.
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

/// # Safety
///
/// As for [`runs`]; they are of `SIZE` to twice as many bytes.
unsafe fn runs_of<V: Vector, const SIZE: usize>(panel: &mut Panel<'_>) {
    let lines = (panel.column_count * panel.unit).div_ceil(LINE);
    for row in 0..panel.row_count {
        // SAFETY: runs of the plane, and their places in the stage.
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

//! Planes that are too small or too narrow for panels. They are transposed unit by unit, or in blocks of
//! 16-byte units.

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::Plane;

/// # Safety
///
/// * The unit of the plane has 1, 2, 4 or 8 bytes.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
pub(super) unsafe fn transpose_units(walk: &Walk<'_>, plane: &Plane) {
    // SAFETY: each arm is compiled for the unit in its pattern. The rest is the contract of this function.
    unsafe {
        match plane.unit {
            1 => units::<1>(walk, plane),
            2 => units::<2>(walk, plane),
            4 => units::<4>(walk, plane),
            _ => units::<8>(walk, plane),
        }
    }
}

/// # Safety
///
/// * `plane.unit` is `UNIT`.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(never)]
unsafe fn units<const UNIT: usize>(walk: &Walk<'_>, plane: &Plane) {
    /// How many columns of each row are copied before the next row. The destination lines of these columns
    /// stay in the cache.
    const COLUMNS: usize = 64;
    assert!(plane.unit == UNIT);
    let Plane { columns, rows, .. } = plane;
    for iteration in walk.iterations() {
        for first in (0..columns.extent).step_by(COLUMNS) {
            for row in 0..rows.extent {
                let source = rows.offset(row);
                for column in first..(first + COLUMNS).min(columns.extent) {
                    // SAFETY: `row` and `column` are inside the plane, so `from` and `to` are the addresses
                    // of a unit.
                    unsafe {
                        let from = iteration.from.add(column * UNIT + source);
                        let to = iteration.to.add(columns.offset(column) + row * UNIT);
                        std::ptr::copy_nonoverlapping(from, to, UNIT);
                    }
                }
            }
        }
    }
}

/// Transposes planes of 16-byte units in squares, which have as many rows and columns as a vector has lanes.
/// The remaining units are copied one by one.
pub(super) struct TransposeLanes<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
}

impl Operation for TransposeLanes<'_> {
    /// # Safety
    ///
    /// * `plane.unit` is 16, and both pitches are constant.
    /// * In every iteration, the plane's span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let TransposeLanes { walk, plane } = self;
        assert!(plane.unit == 16);
        let (Some(source), Some(destination)) = (plane.rows.stride(), plane.columns.stride()) else { return };
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        let (whole_columns, whole_rows) = (columns - columns % LANES, rows - rows % LANES);
        for iteration in walk.iterations() {
            for column in (0..whole_columns).step_by(LANES) {
                let (mut from, to) =
                    (iteration.from.wrapping_add(16 * column), iteration.to.wrapping_add(column * destination));
                for row in (0..whole_rows).step_by(LANES) {
                    // SAFETY: `from` and `to` are at `row` and `column`, and the `LANES` rows and columns
                    // from there on are inside the plane. A vector has `LANES` units of 16 bytes.
                    unsafe {
                        let lines = V::load_transposed::<LANES>(std::array::from_fn(|i| from.add(i * source)), true);
                        for (i, &line) in lines.iter().enumerate() {
                            line.store(to.add(16 * row + i * destination));
                        }
                    }
                    from = from.wrapping_add(LANES * source);
                }
            }
            if (whole_columns, whole_rows) == (columns, rows) {
                continue;
            }
            for column in 0..columns {
                let first = if column < whole_columns { whole_rows } else { 0 };
                for row in first..rows {
                    // SAFETY: `row` and `column` are inside the plane, so these are the addresses of a unit.
                    unsafe {
                        let from = iteration.from.add(column * 16 + row * source);
                        let to = iteration.to.add(column * destination + row * 16);
                        to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                    }
                }
            }
        }
    }
}

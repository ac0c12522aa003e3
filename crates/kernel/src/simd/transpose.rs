//! Planes that are too small or too narrow for panels. They are transposed unit by unit, or in squares that
//! fill registers.

use super::square::transposed_lanes;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::Plane;

/// # Safety
///
/// * The unit of the plane has 1, 2, 4 or 8 bytes.
/// * In every iteration, the plane's span is readable on the source and writable on the destination.
pub(super) unsafe fn transpose_units(walk: &Walk<'_>, plane: &Plane) {
    // SAFETY: `units` has the contract of this function, and each arm is for the unit in its pattern.
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
    /// How many columns of each source row are copied before the next row. Their destination lines stay in
    /// the cache meanwhile.
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

/// Transposes planes of 4, 8 or 16-byte units in squares, which have as many rows and columns as a vector has
/// units. The remaining units are copied one by one.
pub(super) struct TransposeSquares<'a, const UNIT: usize, const IN_LANE: usize> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
}

impl<const UNIT: usize, const IN_LANE: usize> Operation for TransposeSquares<'_, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// * `plane.unit` is `UNIT`, and both pitches are constant.
    /// * In every iteration, the plane's span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16) };
        let TransposeSquares { walk, plane } = self;
        assert!(plane.unit == UNIT);
        let (Some(source), Some(destination)) = (plane.rows.stride(), plane.columns.stride()) else { return };
        let (columns, rows, units) = (plane.columns.extent, plane.rows.extent, IN_LANE * LANES);
        let (whole_columns, whole_rows) = (columns - columns % units, rows - rows % units);
        for iteration in walk.iterations() {
            for column in (0..whole_columns).step_by(units) {
                let (mut from, mut to) =
                    (iteration.from.wrapping_add(UNIT * column), iteration.to.wrapping_add(column * destination));
                for _ in (0..whole_rows).step_by(units) {
                    // SAFETY: `from` and `to` are the addresses of a unit, and the next `units` rows and
                    // columns from there on are inside the plane. A vector has `units` units.
                    unsafe { square::<V, UNIT, IN_LANE, LANES>((from, source), (to, destination)) };
                    (from, to) = (from.wrapping_add(units * source), to.wrapping_add(V::BYTES));
                }
            }
            if (whole_columns, whole_rows) == (columns, rows) {
                continue;
            }
            for column in 0..columns {
                let first = if column < whole_columns { whole_rows } else { 0 };
                for row in first..rows {
                    // SAFETY: `row` and `column` are inside the plane, and so are the unit's addresses.
                    unsafe {
                        let from = iteration.from.add(column * UNIT + row * source);
                        let to = iteration.to.add(column * destination + row * UNIT);
                        to.cast::<[u8; UNIT]>().write(from.cast::<[u8; UNIT]>().read());
                    }
                }
            }
        }
    }
}

/// Transposes a square: one vector of each of `IN_LANE * LANES` source rows, `pitch` bytes apart, becomes a
/// column of as many destination rows, `other` bytes apart.
///
/// # Safety
///
/// * The CPU has the features of `V`, which has `LANES` lanes of `IN_LANE` units.
/// * A vector is readable in each of the source rows, and writable in each of the destination rows.
#[inline(always)]
unsafe fn square<V: Vector, const UNIT: usize, const IN_LANE: usize, const LANES: usize>(
    (from, pitch): (*const u8, usize),
    (to, other): (*mut u8, usize),
) {
    // SAFETY: one vector of each source row is loaded, and one vector is stored to each destination row, as
    // the contract allows.
    unsafe {
        let mut groups = [[V::zero(); IN_LANE]; LANES];
        for i in 0..IN_LANE {
            let rows = std::array::from_fn(|lane| from.add((i + IN_LANE * lane) * pitch));
            let lines = V::load_transposed::<LANES>(rows, true);
            for (group, &line) in groups.iter_mut().zip(&lines) {
                group[i] = line;
            }
        }
        for (group, lanes) in groups.iter().enumerate() {
            for (i, line) in transposed_lanes::<V, UNIT, IN_LANE>(lanes).iter().enumerate() {
                line.store(to.add((group * IN_LANE + i) * other));
            }
        }
    }
}

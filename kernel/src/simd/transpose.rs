//! Planes of units of 1, 2, 4, 8 or 16 bytes: which way each goes.

use super::interleave::{Bytes, InterleaveRows, Three};
use super::panel::transpose_panels;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::cost::{FEW_LANES, MOST_INTERLEAVED, NARROW};
use crate::nest::Plane;

/// Transposes planes of units of `UNIT` bytes, `IN_LANE` of which fill 16.
pub(super) struct TransposeUnits<'a, const UNIT: usize, const IN_LANE: usize> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
}

impl<const UNIT: usize, const IN_LANE: usize> Operation for TransposeUnits<'_, UNIT, IN_LANE> {
    /// # Safety
    ///
    /// `plane.unit` is `UNIT`. In every iteration, the plane's span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(UNIT * IN_LANE == 16) };
        let TransposeUnits { walk, plane } = self;
        debug_assert!(plane.unit == UNIT);
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        // As many rows as a vector has units, or twice, make blocks as well, which mind cache-set conflicts.
        let units = IN_LANE * LANES;
        let (eight, sixteen) =
            (units > 8 || (units == 8 && walk.streaming), units > 16 || (units >= 8 && walk.streaming));
        // SAFETY: an axis that is dense on one side and has a pitch on the other is a few rows and the one in which they are
        // interleaved, with the lengths and pitches given here; all other ways take the plane as it is. What they touch is its span.
        unsafe {
            if plane.micro_tile.is_some() || columns.min(rows) > MOST_INTERLEAVED {
                return transpose_panels::<V, UNIT, IN_LANE, LANES>(walk, plane);
            }
            if let Some(pitch) = plane.interleaves() {
                match rows {
                    2 if units > 2 => return Bytes::interleave::<V, UNIT, 2>(walk, columns, pitch),
                    3 if units > 3 => return Three::interleave::<V, UNIT, 3>(walk, columns, pitch),
                    4 if units > 4 => return Bytes::interleave::<V, UNIT, 4>(walk, columns, pitch),
                    8 if eight => return Bytes::interleave::<V, UNIT, 8>(walk, columns, pitch),
                    16 if sixteen => return Bytes::interleave::<V, UNIT, 16>(walk, columns, pitch),
                    _ => {}
                }
            }
            if let Some(pitch) = plane.deinterleaves() {
                match columns {
                    2 if units > 2 => return Bytes::deinterleave::<V, UNIT, 2>(walk, rows, pitch),
                    3 if units > 3 => return Three::deinterleave::<V, UNIT, 3>(walk, rows, pitch),
                    4 if units > 4 => return Bytes::deinterleave::<V, UNIT, 4>(walk, rows, pitch),
                    8 if eight => return Bytes::deinterleave::<V, UNIT, 8>(walk, rows, pitch),
                    16 if sixteen => return Bytes::deinterleave::<V, UNIT, 16>(walk, rows, pitch),
                    _ => {}
                }
            }
            if columns.min(rows) * NARROW <= units && UNIT < 4 {
                return transpose_narrow::<UNIT>(walk, plane);
            }
            transpose_panels::<V, UNIT, IN_LANE, LANES>(walk, plane);
        }
    }
}

/// Planes with few rows or columns, unit by unit.
///
/// # Safety
///
/// `plane.unit` is `UNIT`. In every iteration, the plane's span is readable on the source and writable on the destination.
#[inline(always)]
unsafe fn transpose_narrow<const UNIT: usize>(walk: &Walk<'_>, plane: &Plane) {
    /// Columns that are copied of each row before the next: their destination rows stay in the cache.
    const COLUMNS: usize = 64;
    let Plane { columns, rows, .. } = plane;
    for iteration in walk.iterations(UNIT * columns.extent * rows.extent) {
        for first in (0..columns.extent).step_by(COLUMNS) {
            for row in 0..rows.extent {
                let source = rows.offset(row);
                for column in first..(first + COLUMNS).min(columns.extent) {
                    // SAFETY: a unit of the plane.
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

/// Is it a plane of so few 16-byte units that all but its blocks would cost?
pub(super) fn is_few_lanes(walk: &Walk<'_>, plane: &Plane) -> bool {
    !walk.streaming
        && plane.micro_tile.is_none()
        && plane.columns.extent * plane.rows.extent <= FEW_LANES
        && plane.has_constant_pitches()
}

/// Transposes planes of 16-byte units: as many rows and columns at a time as a vector has lanes, and what is left unit by unit.
pub(super) struct TransposeFewLanes<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
}

impl Operation for TransposeFewLanes<'_> {
    /// # Safety
    ///
    /// `plane.unit` is 16, and its pitches are constant. In every iteration, the plane's span is readable on the source and writable on
    /// the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let TransposeFewLanes { walk, plane } = self;
        debug_assert!(plane.unit == 16);
        let (Some(source), Some(destination)) = (plane.rows.stride(), plane.columns.stride()) else { return };
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        let (whole_columns, whole_rows) = (columns - columns % LANES, rows - rows % LANES);
        for iteration in walk.iterations(16 * columns * rows) {
            // SAFETY: blocks of as many rows and columns as there are lanes, and units, all of the plane.
            unsafe {
                for column in (0..whole_columns).step_by(LANES) {
                    let (mut from, to) = (iteration.from.add(16 * column), iteration.to.add(column * destination));
                    for row in (0..whole_rows).step_by(LANES) {
                        let lines = V::load_transposed::<LANES, true>(std::array::from_fn(|i| from.add(i * source)));
                        for (i, line) in lines.into_iter().enumerate() {
                            line.store(to.add(16 * row + i * destination));
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
                        let from = iteration.from.add(column * 16 + row * source);
                        let to = iteration.to.add(column * destination + row * 16);
                        to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                    }
                }
            }
        }
    }
}

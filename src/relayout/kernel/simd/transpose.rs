//! Planes of units of 1, 2, 4, 8 or 16 bytes: which way each goes.

use super::super::super::plan::cost::{FEW_LANES, NARROW};
use super::super::super::plan::nest::Plane;
use super::interleave::{Bytes, InterleaveRows, Three};
use super::panel::transpose_panels;
use super::vector::{Operation, Vector};
use super::walk::Walk;

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
        // As many rows as a vector has units make blocks as well, which mind cache-set conflicts.
        let units = IN_LANE * LANES;
        let (eight, sixteen) =
            (units > 8 || (units == 8 && walk.streaming), units > 16 || (units == 16 && walk.streaming));
        // SAFETY: an axis that is dense on one side and has a pitch on the other is a few rows and the one in which they are
        // interleaved, with the lengths and pitches given here; all other ways take the plane as it is. What they touch is its span.
        unsafe {
            if plane.micro_tile.is_some() {
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

/// The row pitches, source and destination, of a plane of so few 16-byte units that moving each takes less time than shuffling them
/// into whole vectors.
pub(super) fn few_lanes(walk: &Walk<'_>, plane: &Plane) -> Option<(usize, usize)> {
    let few = !walk.streaming && plane.micro_tile.is_none() && plane.columns.extent * plane.rows.extent <= FEW_LANES;
    plane.rows.stride().zip(plane.columns.stride()).filter(|_| few)
}

/// Transposes planes of 16-byte units, one by one.
pub(super) struct TransposeFewLanes<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    /// The row pitches, source and destination.
    pub(super) pitches: (usize, usize),
}

impl Operation for TransposeFewLanes<'_> {
    /// # Safety
    ///
    /// `plane.unit` is 16, and the pitches are those of its source and destination rows. In every iteration, the plane's span is
    /// readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        /// Units at a time: a loop with one in it takes a cycle for each, and two can be stored in one.
        const AT_ONCE: usize = 4;
        let TransposeFewLanes { walk, plane, pitches: (source, destination) } = self;
        debug_assert!(plane.unit == 16);
        let (columns, rows) = (plane.columns.extent, plane.rows.extent);
        for iteration in walk.iterations(16 * columns * rows) {
            for column in 0..columns {
                let unit = |row: usize| {
                    // SAFETY: called for rows of the plane, so it is a unit of it.
                    unsafe {
                        let from = iteration.from.add(column * 16 + row * source);
                        let to = iteration.to.add(column * destination + row * 16);
                        to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                    }
                };
                let in_fours = rows - rows % AT_ONCE;
                for row in (0..in_fours).step_by(AT_ONCE) {
                    (row..row + AT_ONCE).for_each(unit);
                }
                (in_fours..rows).for_each(unit);
            }
        }
    }
}

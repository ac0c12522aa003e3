//! Planes of units of 1, 2, 4, 8 or 16 bytes: which way each goes.

use super::block::TransposePanel;
use super::interleave::Interleave;
use super::plane::TransposePlanes;
use super::shuffles::of_bytes;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::cost::{FEW_LANES, LINE, MOST_INTERLEAVED, NARROW, SMALL};
use crate::nest::Plane;

/// Transposes planes of units.
pub(super) struct TransposeUnits<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    pub(super) transpose: TransposePanel,
    /// How many of its units a vector holds.
    pub(super) units: usize,
}

impl TransposeUnits<'_> {
    /// Runs it: each way is a function of its own.
    ///
    /// # Safety
    ///
    /// `transpose` is for the unit of the plane, and the [schedule is for it](crate::Schedule::is_for). In
    /// every iteration, the plane's span is readable on the source and writable on the destination.
    pub(super) unsafe fn run<V: Vector>(self) {
        let TransposeUnits { walk, plane, transpose, units } = self;
        let Plane { unit, columns, rows, .. } = plane;
        let (unit, columns, rows) = (*unit, columns.extent, rows.extent);
        let panels = || TransposePlanes { walk, plane, transpose, at_once: LINE / unit };
        let small = columns * rows <= if unit < 4 { SMALL / 2 } else { SMALL };
        // As many rows as a vector has units, or twice, make blocks as well, which mind cache-set conflicts.
        // Rows of a small plane that fill no vector would cost more than its units.
        let few = |count: usize, row: usize| match count {
            _ if small && row * unit < V::BYTES => false,
            2..=4 => units > count,
            8 => units > 8 || units == 8 && walk.streaming,
            16 => units > 16 || units >= 8 && walk.streaming,
            _ => false,
        };
        // SAFETY: an axis that is dense on one side and has a pitch on the other is a few rows and the one in
        // which they are interleaved, with the lengths and pitches given here; all other ways are given the
        // plane. What they touch is its span.
        unsafe {
            if plane.micro_tile.is_some() || columns.min(rows) > MOST_INTERLEAVED {
                return panels().run::<V>();
            }
            if let Some(pitch) = plane.interleaves().filter(|_| few(rows, columns))
                && let Some(weave) = of_bytes::<V>(unit, rows, true)
            {
                return V::vectorize(Interleave { walk, weave, row: columns * unit, unit, pitch, signed: false });
            }
            if let Some(pitch) = plane.deinterleaves().filter(|_| few(columns, rows))
                && let Some(weave) = of_bytes::<V>(unit, columns, false)
            {
                return V::vectorize(Interleave { walk, weave, row: rows * unit, unit, pitch, signed: false });
            }
            let narrow = small || columns.min(rows) * NARROW <= units && unit <= 2;
            match unit {
                1 if narrow => transpose_narrow::<1>(walk, plane),
                2 if narrow => transpose_narrow::<2>(walk, plane),
                4 if narrow => transpose_narrow::<4>(walk, plane),
                8 if narrow => transpose_narrow::<8>(walk, plane),
                _ => panels().run::<V>(),
            }
        }
    }
}

/// Planes with few rows or columns, unit by unit.
///
/// # Safety
///
/// `plane.unit` is `UNIT`. In every iteration, the plane's span is readable on the source and writable on the
/// destination.
#[inline(never)]
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

/// Transposes planes of 16-byte units: as many rows and columns at a time as a vector has lanes, and what is
/// left unit by unit.
pub(super) struct TransposeFewLanes<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
}

impl Operation for TransposeFewLanes<'_> {
    /// # Safety
    ///
    /// `plane.unit` is 16, and its pitches are constant. In every iteration, the plane's span is readable on
    /// the source and writable on the destination.
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
                        let lines = V::load_transposed::<LANES>(std::array::from_fn(|i| from.add(i * source)), true);
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

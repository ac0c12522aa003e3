//! Planes of runs past the cache whose destination rows do not hold whole lines: runs are copied into a stage, and drained line by line.

use super::lines::first_and_last;
use super::pitch::Pitch;
use super::prefetch::PanelPrefetch;
use super::unaligned::{Fill, Panel, unaligned_panels};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::cost::{DRAINED_LINES, LINE};
use crate::nest::Plane;

/// Columns that are staged together. Not tuned.
const COLUMNS: usize = 16;

/// Runs of `SIZE` to twice as many bytes are copied into a stage.
#[derive(Clone, Copy)]
struct Runs<P, const SIZE: usize> {
    run: usize,
    pitch: P,
}

impl<P: Pitch, const SIZE: usize> Fill<P> for Runs<P, SIZE> {
    #[inline(always)]
    fn columns<const LANES: usize>() -> usize {
        COLUMNS
    }

    #[inline(always)]
    unsafe fn fill<V: Vector, const LANES: usize>(
        self,
        from: *const u8,
        (columns, rows): Panel,
        (to, pitch): (*mut u8, usize),
        prefetch: &mut PanelPrefetch<P>,
    ) {
        let Runs { run, pitch: source } = self;
        let lines = (columns.len() * run).div_ceil(LINE);
        for (place, row) in rows.enumerate() {
            // SAFETY: runs of the plane, and their places in the stage.
            unsafe {
                prefetch.issue::<V>(lines);
                let (from, to) = (from.add(source.row(row) + columns.start * run), to.add(place * run));
                for column in 0..columns.len() {
                    first_and_last::<SIZE>(from.add(column * run), to.add(column * pitch), run);
                }
            }
        }
    }
}

/// Transposes planes of runs.
pub(super) struct UnalignedRuns<'a, P> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) plane: &'a Plane,
    pub(super) pitches: (P, P),
}

impl<P: Pitch> Operation for UnalignedRuns<'_, P> {
    /// # Safety
    ///
    /// The unit of the plane is at least 2 bytes and at most 128, and the pitches are those of its axes, source and destination. In every iteration, the plane's
    /// span is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        // SAFETY: the same planes; each arm is given runs of the size in its name up to twice as long.
        unsafe {
            match self.plane.unit {
                ..4 => self.runs::<V, LANES, 2>(),
                4..8 => self.runs::<V, LANES, 4>(),
                8..16 => self.runs::<V, LANES, 8>(),
                16..32 => self.runs::<V, LANES, 16>(),
                32..64 => self.runs::<V, LANES, 32>(),
                _ => self.runs::<V, LANES, 64>(),
            }
        }
    }
}

impl<P: Pitch> UnalignedRuns<'_, P> {
    /// # Safety
    ///
    /// Those of the operation; runs are of `SIZE` to twice as many bytes.
    #[inline(always)]
    unsafe fn runs<V: Vector, const LANES: usize, const SIZE: usize>(&self) {
        let UnalignedRuns { walk, plane, pitches } = *self;
        let fill = Runs::<P, SIZE> { run: plane.unit, pitch: pitches.0 };
        // SAFETY: the same planes.
        unsafe { unaligned_panels::<V, LANES, DRAINED_LINES, { COLUMNS / 4 }, P, _>(walk, plane, pitches, fill) };
    }
}

//! Vectors of x86-64 CPUs.

use std::ops::Range;

use super::super::schedule::{Plane, Turns};
use super::blocks::{Blocks, Fetch};
use super::odd_turns::OddTurns;
use super::places::Places;
use super::task::Task;
use super::vector::Vector;

pub(super) mod avx2;
pub(super) mod avx512;

/// A register width, with the plane kernel for each unit that fits it: functions of their own, as each needs many registers.
///
/// # Safety
///
/// As for the functions of [`super::lines`].
pub(super) trait Widths: Vector {
    /// Transposes planes of bytes.
    unsafe fn plane1(task: &Task<'_>, plane: &Plane);
    /// Transposes planes of 2-byte units.
    unsafe fn plane2(task: &Task<'_>, plane: &Plane);
    /// Transposes planes of 4-byte units.
    unsafe fn plane4(task: &Task<'_>, plane: &Plane);
    /// Transposes planes of 8-byte units.
    unsafe fn plane8(task: &Task<'_>, plane: &Plane);
    /// Transposes planes of 16-byte units.
    unsafe fn plane16(task: &Task<'_>, plane: &Plane);

    /// Lets rows of elements of `BITS` bits take turns, or takes them apart.
    unsafe fn turns<const BITS: usize>(task: &Task<'_>, turns: &Turns);

    /// [`OddTurns::run`] as a function of its own.
    unsafe fn odd_turns<const WINDOWS: usize>(task: &Task<'_>, turns: &OddTurns);

    /// [`Blocks::strip`] as a function of its own.
    unsafe fn strip<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        a: usize,
        rows: Range<usize>,
        fetch: &mut Fetch<P>,
    );

    /// [`Blocks::scatter`] as a function of its own.
    unsafe fn scatter<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        a: usize,
        rows: Range<usize>,
    );

    /// [`Blocks::gather`] as a function of its own.
    unsafe fn gather<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        columns: Range<usize>,
        b: usize,
    );

    /// [`Blocks::edge`] as a function of its own.
    unsafe fn edge<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        place: (usize, usize),
        size: (usize, usize),
    );
}

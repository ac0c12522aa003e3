//! Vectors of x86-64 CPUs.

use std::ops::Range;

use super::super::schedule::Plane;
use super::blocks::{Blocks, Fetch, Places};
use super::task::Task;
use super::turns::Turns;
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

    /// [`Turns::run`] as a function of its own.
    unsafe fn turns<const WINDOWS: usize>(task: &Task<'_>, turns: &Turns);

    /// [`Blocks::strip`] as a function of its own.
    unsafe fn strip<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        a: usize,
        rows: Range<usize>,
        fetch: &mut Fetch<P>,
    );

    /// [`Blocks::edge`] as a function of its own.
    unsafe fn edge<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        place: (usize, usize),
        size: (usize, usize),
    );
}

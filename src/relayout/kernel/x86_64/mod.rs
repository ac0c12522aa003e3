//! Vectors of x86-64 CPUs.

use super::super::schedule::{Kernel, Plane};
use super::blocks::{Blocks, Places};
use super::vector::Vector;

pub(super) mod avx2;
pub(super) mod avx512;

/// A register width, with the plane kernel for each unit that fits it: functions of their own, as each needs many registers,
/// and what one does ahead of its loops is not to be done for the others.
///
/// # Safety
///
/// As for the functions of [`super::lines`].
pub(super) trait Widths: Vector {
    /// [`lines::chunks`](super::lines::chunks) as a function of its own.
    unsafe fn chunks(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool);

    /// Transposes a plane of bytes.
    unsafe fn plane1(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);
    /// Transposes a plane of 2-byte units.
    unsafe fn plane2(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);
    /// Transposes a plane of 4-byte units.
    unsafe fn plane4(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);
    /// Transposes a plane of 8-byte units.
    unsafe fn plane8(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);
    /// Transposes a plane of 16-byte units.
    unsafe fn plane16(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);

    /// [`Blocks::block`] as a function of its own.
    unsafe fn block<const UNIT: usize, const N: usize, const Q: usize, P: Places>(
        job: &Blocks<'_, P>,
        a: usize,
        b: usize,
        rows: usize,
    );

    /// [`Blocks::edge`] as a function of its own.
    unsafe fn edge<const UNIT: usize, const N: usize, P: Places>(
        job: &Blocks<'_, P>,
        place: (usize, usize),
        size: (usize, usize),
    );
}

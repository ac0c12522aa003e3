//! Vectors of x86-64 CPUs.

use super::super::schedule::Plane;
use super::vector::Vector;

pub(super) mod avx2;
pub(super) mod avx512;

/// A register width, with the plane kernel for each unit that fits it.
pub(super) trait Widths: Vector {
    /// Transposes a plane of units of 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Safety
    ///
    /// As for the functions of [`super::lines`].
    unsafe fn plane(from: *const u8, to: *mut u8, plane: &Plane, stream: bool);
}

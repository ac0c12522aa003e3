//! Where the rows of a plane begin.

use super::super::super::plan::nest::Axis;

/// Where the rows on one side of a plane begin. Kernels are compiled once for a constant row pitch, where this is one
/// multiplication, and once for any axis.
pub(super) trait Pitch: Copy {
    /// The offset of row `i` in bytes.
    fn row(self, i: usize) -> usize;
}

impl Pitch for usize {
    #[inline(always)]
    fn row(self, i: usize) -> usize {
        i * self
    }
}

impl Pitch for &Axis {
    #[inline(always)]
    fn row(self, i: usize) -> usize {
        self.offset(i)
    }
}

//! Where the steps of an axis lie.

use super::super::schedule::Axis;

/// Where the steps of an axis lie. Kernels are compiled once for plain strides, where this is one multiplication, and
/// once for any axis.
pub(super) trait Places: Copy {
    fn place(self, i: usize) -> usize;
}

impl Places for usize {
    #[inline(always)]
    fn place(self, i: usize) -> usize {
        i * self
    }
}

impl Places for &Axis {
    #[inline(always)]
    fn place(self, i: usize) -> usize {
        self.at(i)
    }
}

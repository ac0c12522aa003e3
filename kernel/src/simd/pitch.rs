//! Where the rows of a plane begin.

use super::vector::Vector;
use crate::cost::LINE;
use crate::nest::Axis;

/// Where the rows on one side of a plane begin. Kernels are compiled once for a constant row pitch, and once for any axis.
pub(super) trait Pitch: Copy {
    /// The offset of row `i` in bytes.
    fn row(self, i: usize) -> usize;

    /// How far each row lies from the next, if it is a constant of the kernel.
    fn constant(self) -> Option<usize>;

    /// Where rows from `first` on begin, and which row that is from there: a constant pitch begins anew at 0.
    #[inline(always)]
    fn begin_at(self, first: usize) -> (usize, usize) {
        self.constant().map_or((0, first), |pitch| (first * pitch, 0))
    }
}

impl Pitch for usize {
    #[inline(always)]
    fn row(self, i: usize) -> usize {
        i * self
    }

    #[inline(always)]
    fn constant(self) -> Option<usize> {
        Some(self)
    }
}

impl Pitch for &Axis {
    #[inline(always)]
    fn row(self, i: usize) -> usize {
        self.offset(i)
    }

    #[inline(always)]
    fn constant(self) -> Option<usize> {
        None
    }
}

/// Rows one after the other.
///
/// Registers shorter than a line go from row to row by additions, as multiplications are in the way of their shuffles; with AVX-512 additions cost (X5).
pub(super) struct RowsFrom<P> {
    start: *const u8,
    pitch: P,
    first: usize,
    /// Where the next row begins, if the pitch is constant.
    next: *const u8,
}

impl<P: Pitch> RowsFrom<P> {
    /// Row `first` and those after it, where row 0 begins at `start`.
    #[inline(always)]
    pub(super) fn new(start: *const u8, pitch: P, first: usize) -> RowsFrom<P> {
        let offset = pitch.constant().map_or(0, |bytes| first.wrapping_mul(bytes));
        RowsFrom { start, pitch, first, next: start.wrapping_add(offset) }
    }

    /// Where the `i`-th of them begins. (Were it counted here, the compiler would not see a constant.)
    ///
    /// # Safety
    ///
    /// It is a row of the plane that `start` points into, and `i` is 0 in the first call and one more in each.
    #[inline(always)]
    pub(super) unsafe fn next_row<V: Vector>(&mut self, i: usize) -> *const u8 {
        match self.pitch.constant() {
            Some(pitch) if V::BYTES < LINE => {
                let row = self.next;
                self.next = row.wrapping_add(pitch);
                row
            }
            // SAFETY: the caller's promise.
            _ => unsafe { self.start.add(self.pitch.row(self.first + i)) },
        }
    }
}

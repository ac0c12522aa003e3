//! Views of the diagonal of two axes.

use crate::checked::{self, OFFSET};
use crate::error::Error;
use crate::strided::BufferTensorDesc;

impl BufferTensorDesc {
    /// Returns the elements whose indices on two axes are equal. Both axes disappear, and a new last axis
    /// walks along both at once. Element type, sizes and order agree with NumPy's `diagonal`. For a diagonal
    /// beside the main diagonal, slice one of the axes first.
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule) if an axis does not exist, or
    /// [`NotAPermutation`](crate::ArgumentRule) if both axes are the same.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let diagonal = BufferTensorDesc::packed(DataType::F32, &[5, 4, 4])?.diagonal(1, 2)?;
    /// assert_eq!((diagonal.sizes(), diagonal.strides()), (&[5, 4][..], &[16, 5][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn diagonal(&self, first: usize, second: usize) -> Result<Self, Error> {
        let ((size_a, stride_a), (size_b, stride_b)) = (self.axis(first)?, self.axis(second)?);
        if first == second {
            return Err(Error::not_a_permutation("the pair of axes", 1, second));
        }
        let size = size_a.min(size_b);
        // If elements use both strides, both are below the span, so their sum fits. Otherwise the stride
        // does not count.
        let stride = if size > 1 && self.element_count() > 0 { checked::add(stride_a, stride_b, OFFSET)? } else { 0 };
        let others = self.axes().enumerate().filter(|&(axis, _)| axis != first && axis != second);
        let diagonal = self.view_of(others.map(|(_, pair)| pair).chain([(size, stride)]))?;
        Ok(diagonal.into_part_of(self))
    }
}

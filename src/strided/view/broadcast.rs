//! Repeats a tensor along axes of size 1.

use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;

impl BufferTensorDesc {
    /// Returns the tensor repeated along axes of size 1 until it has `sizes`. New axes appear in front.
    /// Repeated axes get stride 0 (NumPy's broadcasting rules). A tensor of sizes `[1]`, which is DirectML's
    /// form of a scalar, can also be broadcast to `[]`, as in Chromium.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `sizes` has fewer axes. `size_mismatch`
    /// if the size of an axis is neither 1 nor the requested size. `overflow` if the number of
    /// elements passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let bias = BufferTensorDesc::packed(DataType::F32, &[2, 1, 4])?.broadcast_to(&[2, 3, 4])?;
    /// assert_eq!(bias.strides(), [4, 0, 1]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn broadcast_to(&self, sizes: &[u64]) -> Result<Self, Error> {
        if sizes.is_empty() && self.sizes() == [1] {
            return self.view(AxisList::EMPTY);
        }
        let Some(new_axes) = sizes.len().checked_sub(self.rank()) else {
            return Err(Error::rank_mismatch("sizes to broadcast to (new axes not counted)", self.rank(), sizes.len()));
        };
        // New axes repeat the whole tensor. Their stride is 0, which the list has already.
        let mut list = AxisList::with_zero_strides(sizes);
        let (_, strides) = list.both_mut();
        let places = strides.iter_mut().zip(sizes).enumerate().skip(new_axes);
        for ((axis, (slot, &wanted)), (size, stride)) in places.zip(self.axes()) {
            if size == wanted {
                *slot = stride;
            } else if size != 1 {
                return Err(Code::SizeMismatch.at(axis, size, wanted));
            }
        }
        self.view(list)
    }
}

//! Canonical strides, for APIs and libraries that compare strides by number ([`super::free_strides`]).

use super::desc::BufferTensorDesc;
use super::free_strides::set_free_strides;

impl BufferTensorDesc {
    /// Returns this tensor with canonical strides where any stride would do. An axis of size 1 gets the
    /// stride of an axis that is packed around the axes after it. This stride is the largest product of a
    /// stride and a size among the axes after it, or 1 if there are no axes after it. A tensor without
    /// elements gets the strides of a packed tensor.
    ///
    /// Equal descriptors then have equal strides, number by number. The structures and texts that this crate
    /// writes for DirectML, DLPack, PJRT, NumPy and CuTe have canonical strides.
    ///
    /// ```
    /// use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};
    ///
    /// let one_channel = BufferTensorDesc::with_order(DataType::F32, &[2, 1, 4, 5], AxisOrder::NHWC)?;
    /// assert_eq!(one_channel.strides(), [20, 1, 5, 1]);
    /// assert_eq!(one_channel.with_canonical_strides().strides(), [20, 20, 5, 1]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn with_canonical_strides(self) -> Self {
        self.with_canonical_strides_up_to(u64::MAX)
    }

    /// Returns this tensor with canonical strides, except that canonical strides above `most` become 1.
    /// `most` is the largest stride that the reader of the descriptor can store.
    pub(crate) fn with_canonical_strides_up_to(self, most: u64) -> Self {
        let mut axes = self.axis_list().clone();
        let (sizes, strides) = axes.both_mut();
        set_free_strides(sizes, strides, |_, _, packed| if packed > most { 1 } else { packed });
        if axes.strides() == self.strides() { self } else { self.with_axes(axes) }
    }
}

impl BufferTensorDesc {
    /// Returns this tensor with the given strides on the axes whose stride is free: axes of size 1, and all
    /// axes of an empty tensor. The other axes keep their own strides.
    pub(crate) fn with_strides_of_one(&self, strides: &[u64]) -> Self {
        let mut axes = self.axis_list().clone();
        let (sizes, own) = axes.both_mut();
        set_free_strides(sizes, own, |axis, _, packed| strides.get(axis).copied().unwrap_or(packed));
        self.with_axes(axes)
    }
}

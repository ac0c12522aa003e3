//! Strides that mean nothing: of an axis of size 1, and of every axis of a tensor without elements.
//!
//! An axis of size 1 has the index 0 alone, so nothing is ever multiplied by its stride. PyTorch, NumPy, DLPack
//! and XLA leave any number there: `a[:, :1]` keeps the stride of the longer axis, and NHWC with one channel
//! keeps 1. Two such tensors are equal here, and readers take any number. Who compares strides by number, an
//! API or another library, is given canonical ones: those of an axis that is packed around the axes after it.
//!
//! ```text
//!                              one channel       batch 1
//!                              f32[2,1,4,5]      f32[1,3,4,5]
//! strides as they come         [20, 1, 5, 1]     [7, 1, 15, 3]
//! the axes after it reach           20           60
//! canonical                    [20, 20, 5, 1]    [60, 1, 15, 3]
//! ```

use crate::checked::Dims;
use crate::error::Error;

use super::desc::BufferTensorDesc;
use super::naturals::natural;

impl BufferTensorDesc {
    /// The same tensor with canonical strides where any stride would do: an axis of size 1 takes the stride of
    /// one that is packed around the axes after it, the largest of their strides times their sizes (1 where
    /// none is left). Of a tensor without elements all strides are those of a packed one.
    ///
    /// Equal descriptors have the same strides afterwards, number by number. The structures and texts that
    /// this crate writes for DirectML, DLPack, PJRT, NumPy and CuTe have such strides.
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
        let mut axes = self.axis_list().clone();
        let (sizes, strides) = axes.both_mut();
        set_free_strides(sizes, strides, |_, _, packed| packed);
        if axes.strides() == self.strides() { self } else { self.with_axes(axes) }
    }
}

impl BufferTensorDesc {
    /// The same tensor with these strides, which may differ from its own where any would do.
    pub(crate) fn with_strides_of_one(&self, strides: &[u64]) -> Self {
        let mut axes = self.axis_list().clone();
        let (sizes, own) = axes.both_mut();
        set_free_strides(sizes, own, |axis, _, packed| strides.get(axis).copied().unwrap_or(packed));
        self.with_axes(axes)
    }
}

/// Gives every axis whose stride is free the one that `choose` makes of the axis, of what the axis after it
/// takes, and of what all axes after it reach; from the last axis to the first.
pub(crate) fn set_free_strides(sizes: &[u64], strides: &mut [u64], choose: impl Fn(usize, u64, u64) -> u64) {
    let empty = sizes.contains(&0);
    let (mut inside, mut packed) = (1_u64, 1_u64);
    for (axis, (&size, stride)) in sizes.iter().zip(strides).enumerate().rev() {
        if size <= 1 || empty {
            *stride = choose(axis, inside, packed);
        }
        inside = stride.saturating_mul(size.max(1)).max(1);
        packed = packed.max(inside);
    }
}

/// Strides of any integer type; one that is free may be any number, and is 0 where it does not fit.
pub(super) fn strides_of<T: Copy + TryInto<i128>>(sizes: &[u64], strides: &[T]) -> Result<Dims, Error> {
    let empty = sizes.contains(&0);
    let number = |(axis, &stride): (usize, &T)| match natural("strides", "one of the strides", axis, stride) {
        Err(_) if empty || sizes.get(axis) == Some(&1) => Ok(0),
        number => number,
    };
    strides.iter().enumerate().map(number).collect()
}

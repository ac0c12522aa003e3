//! Free strides: the strides of axes of size 1, and all strides of a tensor without elements.
//!
//! An axis of size 1 only has the index 0, so no index is ever multiplied by its stride. PyTorch, NumPy,
//! DLPack and XLA leave any number there: `a[:, :1]` keeps the stride of the longer axis, and NHWC with one
//! channel keeps 1. Two tensors that differ only in free strides are equal here, and readers accept any
//! number. APIs and libraries that compare strides by number get canonical strides. A stride that a packed
//! axis could have in the order of the other axes stays, so that an order that was asked for is kept: 1, or
//! the stride right around a longer axis. Any other number becomes the stride of an axis that is packed
//! around the axes after it.
//!
//! ```text
//!                              NHWC, 1 channel   batch 1           one row of a longer tensor
//!                              f32[2,1,4,5]      f32[1,3,4,5]      f32[4,1]
//! strides as they come         [20, 1, 5, 1]     [7, 1, 15, 3]     [9, 8]
//! canonical                    [20, 1, 5, 1]     [60, 1, 15, 3]    [9, 1]
//! ```

use super::desc::BufferTensorDesc;

/// Sets every free stride to the result of `choose`, from the last axis to the first. `choose` gets the axis,
/// the number of elements that the next axis spans, and the number of elements that all axes after it span.
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

impl BufferTensorDesc {
    /// Returns this tensor with canonical strides where any stride would do. An axis of size 1 keeps its
    /// stride if a packed axis could have it in the order of the other axes: 1, or the product of the size
    /// and the stride of a longer axis. Otherwise it gets the stride of an axis that is packed around the
    /// axes after it: the largest product of a stride and a size among them, or 1. A tensor without elements
    /// gets the strides of a packed tensor.
    ///
    /// **Post-condition** (`canonical_strides_change_no_offset`): the result equals the tensor, and is its
    /// own canonical form.
    #[must_use]
    pub fn with_canonical_strides(self) -> Self {
        self.with_canonical_strides_up_to(u64::MAX)
    }

    /// Canonical strides, or 1 where they are above `most`, the largest stride that a reader can store.
    pub(crate) fn with_canonical_strides_up_to(self, most: u64) -> Self {
        let is_packed = |stride: u64| {
            stride == 1 || self.axes().any(|(size, own)| size > 1 && own > 0 && own.checked_mul(size) == Some(stride))
        };
        let mut strides = self.strides.clone();
        set_free_strides(&self.sizes, &mut strides, |axis, _, packed| {
            let own = self.strides.get(axis).copied().unwrap_or(packed);
            let kept = if self.elements > 0 && is_packed(own) { own } else { packed };
            if kept > most { 1 } else { kept }
        });
        if strides == self.strides { self } else { self.with_axes(self.sizes.clone(), strides) }
    }

    /// Returns this tensor with the given strides where strides are free.
    pub(crate) fn with_strides_of_one(&self, strides: &[u64]) -> Self {
        let mut own = self.strides.clone();
        set_free_strides(&self.sizes, &mut own, |axis, _, packed| strides.get(axis).copied().unwrap_or(packed));
        self.with_axes(self.sizes.clone(), own)
    }
}

//! Handles free strides: the strides of axes of size 1, and all strides of a tensor without elements.
//!
//! An axis of size 1 only has the index 0, so no index is ever multiplied by its stride. PyTorch, NumPy,
//! DLPack and XLA leave any number there: `a[:, :1]` keeps the stride of the longer axis, and NHWC with one
//! channel keeps 1. Two tensors that differ only in free strides are equal here, and readers accept any
//! number. APIs and libraries that compare strides by number get canonical strides: the strides of an axis
//! that is packed around the axes after it.
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

use super::naturals::{first_that_does_not_fit, natural};

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

/// Converts strides of any integer type. A free stride may be any number, and becomes 0 if it does not fit.
#[inline]
pub(super) fn strides_of<T: Copy + TryInto<i128>>(sizes: &[u64], strides: &[T]) -> Result<Dims, Error> {
    let mut converted = Dims::from_elem(0, strides.len());
    if first_that_does_not_fit(strides, &mut converted).is_none() {
        return Ok(converted);
    }
    let empty = sizes.contains(&0);
    let number = |(axis, &stride): (usize, &T)| match natural("strides", "one of the strides", axis, stride) {
        Err(_) if empty || sizes.get(axis) == Some(&1) => Ok(0),
        number => number,
    };
    strides.iter().enumerate().map(number).collect()
}

//! Repeats a tensor along axes of size 1.

use crate::checked::Exact;
use crate::error::{ArgumentRule, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;
use alloc::vec;
use alloc::vec::Vec;

impl BufferTensorDesc {
    /// Returns the tensor repeated along axes of size 1 until it has `sizes`. New axes appear in front.
    /// Repeated axes get stride 0 (NumPy's broadcasting rules). A tensor of sizes `[1]`, which is DirectML's
    /// form of a scalar, can also be broadcast to `[]`, as in Chromium.
    ///
    /// # Errors
    ///
    /// [`RankMismatch`](crate::ArgumentRule) if `sizes` has fewer axes. [`SizeMismatch`](crate::ArgumentRule)
    /// if the size of an axis is neither 1 nor the requested size. [`Error::Overflow`] if the number of
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
                return Err(ArgumentRule::SizeMismatch.at(axis, size, wanted));
            }
        }
        self.view(list)
    }

    /// Does the work of [`broadcast_to`](Self::broadcast_to) with a given position for every axis: axis `k`
    /// of this tensor becomes axis `axes[k]` of the view.
    ///
    /// # Errors
    ///
    /// The errors of [`broadcast_to`](Self::broadcast_to). [`RankMismatch`](crate::ArgumentRule) if `axes`
    /// does not have one entry for each axis. [`AxisOutOfRange`](crate::ArgumentRule) if an entry is not
    /// below the new rank. [`NotAPermutation`](crate::ArgumentRule) for a repeated entry.
    /// [`NotAscending`](crate::ArgumentRule) if the entries do not ascend.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let bias = BufferTensorDesc::packed(DataType::F32, &[16])?.broadcast_at(&[2, 16, 7, 7], &[1])?;
    /// assert_eq!(bias.strides(), [0, 1, 0, 0]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn broadcast_at(&self, sizes: &[u64], axes: &[usize]) -> Result<Self, Error> {
        self.scatter_axes(sizes.len(), axes)?.broadcast_to(sizes)
    }
}

/// Returns the sizes to which all of `shapes` can be broadcast. By NumPy's rules, shapes are aligned at the
/// last axis, and a size of 1 is replaced by the size of another shape.
///
/// # Errors
///
/// [`SizeMismatch`](crate::ArgumentRule) if two sizes of an axis differ and neither size is 1.
///
/// ```
/// use tensor_layout::strided::broadcast_sizes;
///
/// assert_eq!(broadcast_sizes(&[&[8, 1, 6], &[7, 1], &[]])?, [8, 7, 6]);
/// assert_eq!(broadcast_sizes(&[&[0, 3], &[1, 3]])?, [0, 3]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn broadcast_sizes(shapes: &[&[u64]]) -> Result<Vec<u64>, Error> {
    let rank = shapes.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for sizes in shapes {
        let new_axes = rank.minus(sizes.len());
        for (axis, (slot, &size)) in common.iter_mut().skip(new_axes).zip(*sizes).enumerate() {
            if *slot == 1 {
                *slot = size;
            } else if size != 1 && size != *slot {
                return Err(ArgumentRule::SizeMismatch.at(axis.plus(new_axes), size, *slot));
            }
        }
    }
    Ok(common)
}

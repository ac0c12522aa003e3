//! Views of parts of a tensor: slices with a step, one index of an axis, splits, sliding windows.

use crate::checked::{self, Exact};
use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;
use crate::strided::slice::Slice;
use alloc::vec::Vec;

impl BufferTensorDesc {
    /// Returns the part of the tensor that `slices` keep. There is one slice for each axis.
    ///
    /// The part begins at a [`base_offset`](Self::base_offset). Its minimum size still counts from the
    /// start of the buffer.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there is not one slice for each axis.
    /// `index_out_of_range` if a start or an end is past the size. `out_of_limits`
    /// for a step of 0 or an end before its start.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[4, 10])?;
    /// let part = desc.slice(&[(1..3).into(), (2..9).into()])?;
    /// assert_eq!((part.sizes(), part.strides(), part.base_offset()), (&[2, 7][..], &[10, 1][..], 12));
    /// let thinned = desc.slice_axis(1, tensor_layout::strided::Slice::from(1..).step_by(4))?;
    /// assert_eq!((thinned.sizes(), thinned.strides(), thinned.base_offset()), (&[4, 3][..], &[10, 4][..], 1));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn slice(&self, slices: &[Slice]) -> Result<Self, Error> {
        if slices.len() != self.rank() {
            return Err(Error::rank_mismatch("slices", self.rank(), slices.len()));
        }
        let mut axes = self.axis_list().clone();
        let mut base = self.base_offset();
        let (sizes, strides) = axes.both_mut();
        for (axis, ((size, stride), &slice)) in sizes.iter_mut().zip(strides).zip(slices).enumerate() {
            keep(axis, slice, size, stride, &mut base)?;
        }
        self.sliced(axes, base)
    }

    fn sliced(&self, axes: AxisList, base: u64) -> Result<Self, Error> {
        // An empty part has no first element, so its base offset does not change.
        let base = if axes.sizes().contains(&0) { self.base_offset() } else { base };
        Ok(self.build_view(self.data_type(), axes, base)?.into_part_of(self))
    }

    /// Returns the part that a [`slice`](Self::slice) of one axis keeps.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, and the errors of
    /// [`slice`](Self::slice).
    pub fn slice_axis(&self, axis: usize, slice: impl Into<Slice>) -> Result<Self, Error> {
        let mut axes = self.axis_list().clone();
        let mut base = self.base_offset();
        let (sizes, strides) = axes.both_mut();
        let (Some(size), Some(stride)) = (sizes.get_mut(axis), strides.get_mut(axis)) else {
            return Err(Error::axis_out_of_range(axis, self.rank()));
        };
        keep(axis, slice.into(), size, stride, &mut base)?;
        self.sliced(axes, base)
    }

    /// Returns the elements with one index of an axis. The axis disappears.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, or
    /// `index_out_of_range` if the index is not below its size.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let row = BufferTensorDesc::packed(DataType::F32, &[4, 10])?.select(0, 3)?;
    /// assert_eq!((row.sizes(), row.strides(), row.base_offset()), (&[10][..], &[1][..], 30));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn select(&self, axis: usize, index: impl TryInto<u64>) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        let index = index.try_into().unwrap_or(u64::MAX);
        if index >= size {
            return Err(Code::IndexOutOfRange.at(axis, index, size));
        }
        let one = self.slice_axis(axis, index..index.plus(1))?;
        one.view_of(one.axes().enumerate().filter(|&(a, _)| a != axis).map(|(_, pair)| pair))
    }

    /// Returns the parts of the tensor along an axis. The parts have these lengths and follow each other.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, or
    /// `size_mismatch` if the lengths do not add up to the size.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let qkv = BufferTensorDesc::packed(DataType::F16, &[8, 96])?;
    /// let parts = qkv.split(1, &[32, 32, 32])?;
    /// assert_eq!(parts.iter().map(|p| p.base_offset()).collect::<Vec<_>>(), [0, 32, 64]);
    /// assert_eq!((parts[2].sizes(), parts[2].strides()), (&[8, 32][..], &[96, 1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn split(&self, axis: usize, lengths: &[u64]) -> Result<Vec<Self>, Error> {
        let (size, _) = self.axis(axis)?;
        let mut total = 0;
        for &length in lengths {
            total = checked::add(total, length, checked::ELEMENTS)?;
        }
        if total != size {
            return Err(Code::SizeMismatch.at(axis, size, total));
        }
        let mut start = 0_u64;
        let part = |&length: &u64| {
            let end = start.plus(length);
            let part = self.slice_axis(axis, start..end);
            start = end;
            part
        };
        lengths.iter().map(part).collect()
    }
}

/// Changes the size, the stride and the base of one axis, so that only the indices of `slice` remain.
fn keep(axis: usize, slice: Slice, size: &mut u64, stride: &mut u64, base: &mut u64) -> Result<(), Error> {
    let taken = slice.on_axis(axis, *size)?;
    // Both results are within the span of the axis, which invariant 3 of the descriptor bounds, so they fit
    // 64 bits. In an empty tensor, base and strides are never used.
    if taken.length > 0 {
        *base = base.plus(taken.start.times(*stride));
    }
    if taken.length > 1 {
        *stride = stride.times(taken.step);
    }
    *size = taken.length;
    Ok(())
}

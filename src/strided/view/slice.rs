//! Views of parts of a tensor: slices with a step, one index of an axis, splits.

use crate::checked::{self, Exact};
use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;
use crate::strided::integers::{Integer, index_of, sizes_of};
use crate::strided::slice::{Slice, Taken};
use alloc::vec::Vec;
use smallvec::SmallVec;

impl BufferTensorDesc {
    /// Returns the part of the tensor that `slices` keep. There is one slice for each axis.
    ///
    /// The part begins at a [`base_offset`](Self::base_offset). Its minimum size still counts from the
    /// start of the buffer. It [owns](crate::strided::Owns) the gaps between its elements if the tensor owned
    /// them and no element that was left out lies between them.
    ///
    /// **Post-condition** (`slice_keeps_the_offsets_of_its_indices`): index `i` of the part has the offset of
    /// the index `start + i * step`.
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
        let axes = slices.iter().zip(&self.sizes).enumerate();
        let taken: SmallVec<[Taken; 8]> =
            axes.map(|(axis, (slice, &size))| slice.on_axis(axis, size)).collect::<Result<_, _>>()?;
        self.sliced(&|axis| taken.get(axis).copied())
    }

    /// Returns the part that a [`slice`](Self::slice) of one axis keeps.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, and the errors of
    /// [`slice`](Self::slice).
    pub fn slice_axis(&self, axis: usize, slice: impl Into<Slice>) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        let taken = slice.into().on_axis(axis, size)?;
        self.sliced(&|other| (other == axis).then_some(taken))
    }

    /// Returns the part of the indices that `taken` names, or of all indices of an axis for `None`.
    fn sliced(&self, taken: &dyn Fn(usize) -> Option<Taken>) -> Result<Self, Error> {
        let mut part = self.clone();
        let axes = part.sizes.iter_mut().zip(&mut part.strides).enumerate();
        let mut base = self.base_offset;
        for (axis, (size, stride)) in axes {
            let Some(taken) = taken(axis) else { continue };
            // Both results are within the span of the axis, which invariant 3 of the descriptor bounds. In an
            // empty tensor, base and strides are never used.
            if taken.length > 0 {
                base = base.plus(taken.start.times(*stride));
            }
            if taken.length > 1 {
                *stride = stride.times(taken.step);
            }
            *size = taken.length;
        }
        // An empty part has no first element, so its base offset does not change.
        if !part.sizes.contains(&0) {
            part.base_offset = base;
        }
        if part.sizes != self.sizes && self.elements > 0 {
            part.owns = self.owned_by_slice(taken);
        }
        part.explicit_strides = true;
        part.measure()?;
        Ok(part)
    }

    /// Returns the elements with one index of an axis. The axis disappears.
    ///
    /// **Post-condition** (`select_keeps_one_index`): index `i` of the view has the offset of `i` with
    /// `index` inserted at `axis`.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, or
    /// `index_out_of_range` if the index is not below its size.
    pub fn select(&self, axis: usize, index: impl Integer) -> Result<Self, Error> {
        let (size, _) = self.axis(axis)?;
        let index = index_of(index);
        if index >= size {
            return Err(Code::IndexOutOfRange.at(axis, index, size));
        }
        let mut one = self.slice_axis(axis, index..index.plus(1))?;
        one.sizes.remove(axis);
        one.strides.remove(axis);
        one.measure()?;
        Ok(one)
    }

    /// Returns the parts of the tensor along an axis. The parts have these lengths, integers of any type, and
    /// follow each other.
    ///
    /// **Post-condition** (`split_covers_the_axis_once`): each index of the tensor is in one part, at its own
    /// offset.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` if the axis does not exist, or
    /// `size_mismatch` if the lengths do not add up to the size.
    pub fn split<T: Integer>(&self, axis: usize, lengths: &[T]) -> Result<Vec<Self>, Error> {
        let ((size, _), lengths) = (self.axis(axis)?, sizes_of(lengths)?);
        let mut total = 0;
        for &length in &lengths {
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

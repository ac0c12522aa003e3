//! Changes the order of axes, and adds new axes between them.

use crate::checked::Dims;
use crate::error::Error;
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;

impl BufferTensorDesc {
    /// Returns a view with the axes in another order: axis `k` of the view is axis `axes[k]` of this tensor.
    ///
    /// # Errors
    ///
    /// [`RankMismatch`](crate::ArgumentRule), [`AxisOutOfRange`](crate::ArgumentRule) or
    /// [`NotAPermutation`](crate::ArgumentRule) if `axes` does not name every axis once.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 3, 4])?.permute(&[2, 0, 1])?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn permute(&self, axes: &[usize]) -> Result<Self, Error> {
        if axes.len() != self.rank() {
            return Err(Error::rank_mismatch("axes", self.rank(), axes.len()));
        }
        check_distinct("the order of axes", axes)?;
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= self.rank()) {
            return Err(Error::axis_out_of_range(axis, self.rank()));
        }
        Ok(self.same_elements(axes.iter().filter_map(|&axis| self.axis(axis).ok())))
    }

    /// Returns a view with two axes exchanged.
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule) if an axis does not exist.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 3, 4])?.transpose(1, 2)?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[2, 4, 3][..], &[12, 1, 4][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self, Error> {
        let (a, b) = (self.axis(first)?, self.axis(second)?);
        let swapped = |(axis, own)| match axis {
            _ if axis == first => b,
            _ if axis == second => a,
            _ => own,
        };
        Ok(self.same_elements(self.axes().enumerate().map(swapped)))
    }

    /// Returns a tensor of `rank` axes whose axis `axes[k]` is axis `k` of this tensor. The other axes have
    /// size 1 and stride 0, as [`broadcast_to`](Self::broadcast_to) needs them. `axes` must ascend.
    pub(super) fn scatter_axes(&self, rank: usize, axes: &[usize]) -> Result<Self, Error> {
        if axes.len() != self.rank() {
            return Err(Error::rank_mismatch("axes", self.rank(), axes.len()));
        }
        check_distinct("the list of axes", axes)?;
        let (mut sizes, mut strides) = (Dims::from_elem(1, rank), Dims::from_elem(0, rank));
        let mut before = 0;
        for (position, (&axis, (size, stride))) in axes.iter().zip(self.axes()).enumerate() {
            if axis < before {
                return Err(Error::not_ascending("the list of axes", position, axis, before));
            }
            before = axis;
            let (Some(size_slot), Some(stride_slot)) = (sizes.get_mut(axis), strides.get_mut(axis)) else {
                return Err(Error::axis_out_of_range(axis, rank));
            };
            (*size_slot, *stride_slot) = (size, stride);
        }
        self.view(AxisList::new(&sizes, &strides))
    }
}

fn check_distinct(what: &'static str, axes: &[usize]) -> Result<(), Error> {
    // Each axis is one bit. A permutation of up to 64 axes sets one bit for each axis, and needs no search.
    let seen = axes.iter().fold(0_u64, |seen, &axis| {
        seen | u32::try_from(axis).ok().and_then(|axis| 1_u64.checked_shl(axis)).unwrap_or(0)
    });
    if usize::try_from(seen.count_ones()) == Ok(axes.len()) {
        return Ok(());
    }
    let repeated =
        axes.iter().enumerate().find(|&(position, axis)| axes.iter().take(position).any(|earlier| earlier == axis));
    repeated.map_or(Ok(()), |(position, &axis)| Err(Error::not_a_permutation(what, position, axis)))
}

//! Changes the order of axes, and adds new axes between them.

use crate::error::Error;
use crate::strided::BufferTensorDesc;

impl BufferTensorDesc {
    /// Returns a view with the axes in another order: axis `k` of the view is axis `axes[k]` of this tensor.
    ///
    /// # Errors
    ///
    /// `rank_mismatch`, `axis_out_of_range` or
    /// `not_a_permutation` if `axes` does not name every axis once.
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
    /// `axis_out_of_range` if an axis does not exist.
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

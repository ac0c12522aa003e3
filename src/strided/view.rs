//! Views: other descriptors of the same buffer, without moving an element.

use crate::checked::{self, Dims};
use crate::error::Error;

use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    /// The same elements with the axes in another order: axis `k` of the view is axis `axes[k]` of
    /// this tensor.
    ///
    /// # Errors
    ///
    /// [`Error::RankMismatch`], [`Error::AxisOutOfRange`] or [`Error::NotAPermutation`].
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
            return Err(Error::RankMismatch { what: "axes", expected: self.rank(), found: axes.len() });
        }
        if let Some((position, &axis)) =
            axes.iter().enumerate().find(|&(position, axis)| axes.iter().take(position).any(|a| a == axis))
        {
            return Err(Error::NotAPermutation { what: "the order of axes", position, axis });
        }
        let (mut sizes, mut strides) = (Dims::new(), Dims::new());
        for &axis in axes {
            let (size, stride) = self.axis(axis)?;
            sizes.push(size);
            strides.push(stride);
        }
        self.view(sizes, strides)
    }

    /// The tensor repeated along axes of size 1 until it has `sizes`; new axes appear in front.
    /// Repeated axes get stride 0 (NumPy's broadcasting rules).
    ///
    /// # Errors
    ///
    /// [`Error::RankMismatch`] if `sizes` has fewer axes, [`Error::SizeMismatch`] if an axis is
    /// neither of size 1 nor of the size asked for, [`Error::Overflow`].
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let bias = BufferTensorDesc::packed(DataType::F32, &[2, 1, 4])?.broadcast_to(&[2, 3, 4])?;
    /// assert_eq!(bias.strides(), [4, 0, 1]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn broadcast_to(&self, sizes: &[u64]) -> Result<Self, Error> {
        let Some(new_axes) = sizes.len().checked_sub(self.rank()) else {
            return Err(Error::RankMismatch { what: "sizes or more", expected: self.rank(), found: sizes.len() });
        };
        let mut strides: Dims = sizes.iter().take(new_axes).map(|_| 0).collect();
        for (axis, &wanted) in sizes.iter().enumerate().skip(new_axes) {
            let (size, stride) = self.axis(axis.saturating_sub(new_axes))?;
            if size == wanted {
                strides.push(stride);
            } else if size == 1 {
                strides.push(0);
            } else {
                return Err(Error::SizeMismatch { axis, expected: wanted, found: size });
            }
        }
        self.view(Dims::from_slice(sizes), strides)
    }

    /// The same tensor with axes of size 1 in front until it has `rank` of them; their stride is 0.
    ///
    /// DirectML operators want 4 or 5 axes; its page pads the leading ones with 1. A tensor that
    /// has as many already is returned as it is.
    ///
    /// # Errors
    ///
    /// None today; the result leaves room for limits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[3, 4, 5])?.with_leading_ones(5)?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[1, 1, 3, 4, 5][..], &[0, 0, 20, 5, 1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_leading_ones(&self, rank: usize) -> Result<Self, Error> {
        let missing = rank.saturating_sub(self.rank());
        let mut sizes: Dims = (0..missing).map(|_| 1).collect();
        let mut strides: Dims = (0..missing).map(|_| 0).collect();
        sizes.extend_from_slice(self.sizes());
        strides.extend_from_slice(self.strides());
        self.view(sizes, strides)
    }

    fn axis(&self, axis: usize) -> Result<(u64, u64), Error> {
        let out_of_range = Error::AxisOutOfRange { axis, rank: self.rank() };
        self.sizes().get(axis).copied().zip(self.strides().get(axis).copied()).ok_or(out_of_range)
    }

    /// Another descriptor of the same buffer: flags, alignment, base and a total set by hand stay;
    /// a total that was the minimum becomes the view's minimum.
    fn view(&self, sizes: Dims, strides: Dims) -> Result<Self, Error> {
        let view = Self::build(self.data_type(), sizes, strides, self.base_offset(), true)?
            .with_flags(self.flags())
            .with_base_offset_alignment(self.base_offset_alignment())?;
        if self.total_tensor_size_in_bytes() == self.min_size_in_bytes() {
            return Ok(view);
        }
        let total = self.total_tensor_size_in_bytes().max(view.min_size_in_bytes());
        view.with_total_size_in_bytes(checked::round_up(total, 4, checked::BYTES)?)
    }
}

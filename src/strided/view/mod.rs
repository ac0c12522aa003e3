//! Views: other descriptors of the same buffer, without moving an element.
//!
//! Every view keeps the flags, the alignment promise and the base of the tensor it is made from
//! (a slice moves the base). A total size that was set by hand stays; one that was the minimum becomes the
//! view's own minimum.

mod broadcast;
mod diagonal;
mod join;
mod permute;
mod rank;
mod reinterpret;
mod reshape;
mod slice;

pub use broadcast::broadcast_sizes;
pub use join::concat;
pub(super) use join::joined_axes;
pub use rank::Side;

use crate::error::Error;

use super::axis_list::AxisList;
use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    /// Size and stride of an axis.
    pub(super) fn axis(&self, axis: usize) -> Result<(u64, u64), Error> {
        let out_of_range = Error::axis_out_of_range(axis, self.rank());
        self.sizes().get(axis).copied().zip(self.strides().get(axis).copied()).ok_or(out_of_range)
    }

    /// Sizes and strides of all axes.
    pub(super) fn axes(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator + Clone {
        self.sizes().iter().copied().zip(self.strides().iter().copied())
    }

    /// Another descriptor of the same buffer that begins at the same element.
    fn view(&self, axes: AxisList) -> Result<Self, Error> {
        self.build_view(self.data_type(), axes, self.base_offset())
    }

    /// A view of all elements under other axes: see [`with_axes`](Self::with_axes).
    fn same_elements(&self, axes: impl Iterator<Item = (u64, u64)>) -> Self {
        self.with_axes(axes.collect())
    }

    /// Another descriptor of the same buffer from its axes.
    fn view_of(&self, axes: impl Iterator<Item = (u64, u64)>) -> Result<Self, Error> {
        self.view(axes.collect())
    }
}

//! Views: other descriptors of the same buffer, made without moving an element.
//!
//! Every view keeps the flags, the promised alignment and the base offset of its tensor, but a slice moves
//! the base offset. A total size that was set by hand does not change. Otherwise the view gets its own
//! minimum as its total size.

mod broadcast;
mod join;
mod permute;
mod rank;
mod reinterpret;
mod reshape;
mod slice;

pub use rank::Side;

use crate::error::Error;

use super::axis_list::AxisList;
use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    pub(super) fn axis(&self, axis: usize) -> Result<(u64, u64), Error> {
        let out_of_range = Error::axis_out_of_range(axis, self.rank());
        self.sizes().get(axis).copied().zip(self.strides().get(axis).copied()).ok_or(out_of_range)
    }

    pub(super) fn axes(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator + Clone {
        self.sizes().iter().copied().zip(self.strides().iter().copied())
    }

    /// Returns another descriptor of the same buffer, which begins at this tensor's first element.
    fn view(&self, axes: AxisList) -> Result<Self, Error> {
        self.build_view(self.data_type(), axes, self.base_offset())
    }

    /// Returns a view of all elements with other axes: see [`with_axes`](Self::with_axes).
    fn same_elements(&self, axes: impl Iterator<Item = (u64, u64)>) -> Self {
        self.with_axes(axes.collect())
    }

    /// Returns another descriptor of the same buffer, from an iterator over its axes.
    fn view_of(&self, axes: impl Iterator<Item = (u64, u64)>) -> Result<Self, Error> {
        self.view(axes.collect())
    }
}

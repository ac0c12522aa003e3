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
pub use join::{coalesce_all, concat};
pub use rank::Side;
pub use slice::Slice;

use crate::checked::{self, Dims};
use crate::element::DataType;
use crate::error::Error;

use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    /// Size and stride of an axis.
    fn axis(&self, axis: usize) -> Result<(u64, u64), Error> {
        let out_of_range = Error::AxisOutOfRange { axis, rank: self.rank() };
        self.sizes().get(axis).copied().zip(self.strides().get(axis).copied()).ok_or(out_of_range)
    }

    /// Sizes and strides of all axes.
    fn axes(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator + Clone {
        self.sizes().iter().copied().zip(self.strides().iter().copied())
    }

    /// Another descriptor of the same buffer that begins at the same element.
    fn view(&self, sizes: Dims, strides: Dims) -> Result<Self, Error> {
        self.view_as(self.data_type(), sizes, strides, self.base_offset())
    }

    /// Another descriptor of the same buffer from its axes.
    fn view_of(&self, axes: impl Iterator<Item = (u64, u64)>) -> Result<Self, Error> {
        let (sizes, strides) = axes.unzip();
        self.view(sizes, strides)
    }

    /// Another descriptor of the same buffer.
    fn view_as(&self, data_type: DataType, sizes: Dims, strides: Dims, base_offset: u64) -> Result<Self, Error> {
        let view = Self::build(data_type, sizes, strides, base_offset, true)?
            .with_flags(self.flags())
            .with_base_offset_alignment(self.base_offset_alignment())?;
        if self.total_tensor_size_in_bytes() == self.min_size_in_bytes() {
            return Ok(view);
        }
        let total = self.total_tensor_size_in_bytes().max(view.min_size_in_bytes());
        view.with_total_size_in_bytes(checked::round_up(total, 4, checked::BYTES)?)
    }
}

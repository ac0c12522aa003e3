//! Joins the axes of one tensor, and joins several tensors to one.

use crate::checked::Exact;
use crate::strided::BufferTensorDesc;
use crate::strided::axis_list::AxisList;

impl BufferTensorDesc {
    /// Returns a view of the elements in their order with the fewest axes. The view has no axis of size 1.
    /// Neighbouring axes become one axis if the outer stride is the inner size times the inner stride.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::new(DataType::F32, &[2, 1, 3, 4], Some(&[24, 7, 8, 1]))?.coalesce();
    /// assert_eq!((desc.sizes(), desc.strides()), (&[6, 4][..], &[8, 1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn coalesce(&self) -> Self {
        self.with_axes(joined_axes(self.axes(), self.element_count() == 0))
    }
}

/// Joins neighbouring axes if the outer stride is the inner size times the inner stride. Axes of size 1 are
/// left out. If `empty` is set, there are no elements, and all axes are joined.
pub(in crate::strided) fn joined_axes(axes: impl Iterator<Item = (u64, u64)>, empty: bool) -> AxisList {
    let mut list = AxisList::EMPTY;
    for (size, stride) in axes.filter(|&(size, _)| size != 1) {
        let (sizes, strides) = list.both_mut();
        match (sizes.last_mut(), strides.last_mut()) {
            (Some(last_size), Some(last_stride)) if empty || stride.checked_mul(size) == Some(*last_stride) => {
                // The product of the sizes fits 64 bits by invariant 2 of the descriptor.
                *last_size = u64::times(*last_size, size);
                *last_stride = stride;
            }
            _ => list.push(size, stride),
        }
    }
    list
}

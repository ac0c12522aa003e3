//! Joins the axes of one tensor, and joins several tensors to one.

use alloc::vec::Vec;

use crate::checked::{self, Dims, ELEMENTS, Exact};
use crate::element::DataType;
use crate::error::{ArgumentRule, Error};
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

fn check_same_sizes(expected: &[u64], found: &[u64]) -> Result<(), Error> {
    if expected.len() != found.len() {
        return Err(Error::rank_mismatch("sizes", expected.len(), found.len()));
    }
    let differ = expected.iter().zip(found).enumerate().find(|(_, (a, b))| a != b);
    differ.map_or(Ok(()), |(axis, (&expected, &found))| Err(ArgumentRule::SizeMismatch.at(axis, found, expected)))
}

/// Concatenates tensors along an axis. Returns one packed tensor, and for each part the view of the packed
/// tensor that holds it.
///
/// # Errors
///
/// [`RankMismatch`](crate::ArgumentRule) or [`SizeMismatch`](crate::ArgumentRule) if the sizes differ on
/// another axis. [`AxisOutOfRange`](crate::ArgumentRule) if the axis does not exist. [`Error::Overflow`] if a
/// size or the size in bytes passes 64 bits.
///
/// ```
/// use tensor_layout::{strided::concat, DataType};
///
/// let (whole, parts) = concat(DataType::F32, &[&[2, 3], &[2, 5]], 1)?;
/// assert_eq!(whole.sizes(), [2, 8]);
/// assert_eq!((parts[1].strides(), parts[1].base_offset()), (&[8, 1][..], 3));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn concat(
    data_type: DataType,
    parts: &[&[u64]],
    axis: usize,
) -> Result<(BufferTensorDesc, Vec<BufferTensorDesc>), Error> {
    let mut whole = Dims::from_slice(parts.first().copied().unwrap_or_default());
    let rank = whole.len();
    let mut lengths = Dims::new();
    for part in parts {
        let mut like_first = Dims::from_slice(part);
        let length = part.get(axis).copied().ok_or(Error::axis_out_of_range(axis, part.len()))?;
        lengths.push(length);
        if let (Some(slot), Some(&first)) = (like_first.get_mut(axis), whole.get(axis)) {
            *slot = first;
        }
        check_same_sizes(&whole, &like_first)?;
    }
    let slot = whole.get_mut(axis).ok_or(Error::axis_out_of_range(axis, rank))?;
    *slot = 0;
    for &length in &lengths {
        *slot = checked::add(*slot, length, ELEMENTS)?;
    }
    let whole = BufferTensorDesc::packed(data_type, &whole)?;
    let parts = whole.split(axis, &lengths)?;
    Ok((whole, parts))
}

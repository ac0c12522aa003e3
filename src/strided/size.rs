//! `calc_buffer_tensor_size`: DirectML's formula for the size of a buffer, in exact arithmetic.

use crate::checked::{self, BYTES, ELEMENTS, OFFSET};
use crate::element::DataType;
use crate::error::{Code, Error};

use super::axis_list::AxisList;
use super::free_strides::strides_of;
use super::naturals::naturals;

/// Returns the size in bytes of the smallest buffer for a tensor of these `sizes` and `strides`, rounded up
/// to a multiple of 4 bytes. Sizes and strides are in elements. `None` stands for packed row-major strides.
///
/// This is `DMLCalcBufferTensorSize` from *DirectML helper functions*:
/// `round_up((1 + dot(sizes - 1, strides)) * element size, 4)`, or the product of the sizes if there are no
/// strides. The padding after the last row is not included. Elements of 4-bit types are counted in bits, and
/// only the result is rounded.
///
/// DirectML's helper has an index sum of 32 bits, which wraps around. This function returns an error
/// instead of a wrong number. Where the sum of the helper does not wrap, both functions agree to the byte.
/// The rule that a tensor has at most 2³²−1 elements is checked by
/// [`upload::validate`](crate::upload::validate) and not here.
///
/// A base offset does not count here, because it moves the offset at which the buffer is bound. DirectML's
/// structure does not contain it either. The range that [`upload::validate`](crate::upload::validate) checks
/// includes the base offset.
///
/// Sizes and strides are integers of any type, as in [`BufferTensorDesc::new`](crate::BufferTensorDesc::new).
///
/// # Errors
///
/// `zero_size` for a size of 0. `negative` for a negative
/// number. `rank_mismatch` if there are not as many strides as sizes.
/// `overflow` if the number of elements, an offset or the size passes 64 bits.
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{calc_buffer_tensor_size, BufferTensorDesc, DataType};
///
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], None)?, 24);
/// // Rows five elements apart: 5 + 3 elements, the last row is not padded.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], Some(&[5, 1]))?, 32);
/// // DirectML's own helper answers 4 here.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 2], Some(&[4_294_967_295_u64, 1]))?, 17_179_869_188);
///
/// // Two columns of it from the fourth on are the bytes 16 to 44: 28 bytes, whatever is before them.
/// let columns = BufferTensorDesc::new(DataType::F32, &[2, 2], Some(&[5, 1]))?;
/// let size = calc_buffer_tensor_size(DataType::F32, columns.sizes(), Some(columns.strides()))?;
/// let columns = columns.with_base_offset(4)?;
/// let report = validate(&columns, &UploadBuffer::new(44, 0, Role::Input), &"directml".parse::<DeviceLimits>()?).unwrap();
/// assert_eq!((size, report.bound), (28, 16..44));
/// assert_eq!(columns.min_size_in_bytes(), 44);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn calc_buffer_tensor_size<T: Copy + TryInto<i128>>(
    data_type: DataType,
    sizes: &[T],
    strides: Option<&[T]>,
) -> Result<u64, Error> {
    let sizes = naturals("sizes", "one of the sizes", sizes)?;
    let strides = strides.map(|strides| strides_of(&sizes, strides)).transpose()?;
    if let Some(axis) = sizes.iter().position(|&size| size == 0) {
        return Err(Code::ZeroSize.at(axis, 0, 0));
    }
    let elements = match strides {
        None => checked::product(&sizes, ELEMENTS)?,
        Some(strides) => extent(&sizes, &strides)?.span,
    };
    size_in_bytes(elements, data_type.bits())
}

/// The number of elements and the span of a tensor, both in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The product of the sizes.
    pub(super) elements: u64,
    /// One past the largest offset. 0 if there are no elements.
    pub(super) span: u64,
}

/// Sets the strides to those of a packed row-major tensor of these sizes.
pub(super) fn pack(axes: &mut AxisList) -> Result<Extent, Error> {
    let (sizes, strides) = axes.both_mut();
    let mut next = 1_u64;
    let (mut wrapped, mut empty) = (false, false);
    for (stride, &size) in strides.iter_mut().zip(&*sizes).rev() {
        *stride = next;
        empty |= size == 0;
        let (product, overflow) = next.overflowing_mul(size.max(1));
        wrapped |= overflow;
        next = if overflow { u64::MAX } else { product };
    }
    if wrapped && !empty {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    let elements = if empty { 0 } else { next };
    Ok(Extent { elements, span: elements })
}

/// Returns the extent of a tensor. The loop records an overflow and continues, because a loop without exits
/// is faster. Descriptors are made in inner loops, and the extent takes most of the time.
///
/// The product of the sizes must fit 64 bits even if a stride of 0 makes the span small, because element
/// counts are `u64`. In an empty tensor, the other sizes and the strides do not count, because no
/// element uses them.
#[inline]
pub(super) fn extent(sizes: &[u64], strides: &[u64]) -> Result<Extent, Error> {
    if strides.len() != sizes.len() {
        return Err(Error::rank_mismatch("strides", sizes.len(), strides.len()));
    }
    let (mut elements, mut last) = (1_u64, 0_u64);
    let (mut count_overflows, mut offset_overflows, mut empty) = (false, false, false);
    for (&size, &stride) in sizes.iter().zip(strides) {
        empty |= size == 0;
        let (product, wrapped) = elements.overflowing_mul(size.max(1));
        elements = product;
        count_overflows |= wrapped;
        let (last_of_axis, wrapped) = stride.overflowing_mul(size.saturating_sub(1));
        let (sum, wrapped_sum) = last.overflowing_add(last_of_axis);
        last = sum;
        offset_overflows |= wrapped | wrapped_sum;
    }
    if empty {
        return Ok(Extent { elements: 0, span: 0 });
    }
    if count_overflows {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    if offset_overflows {
        return Err(Error::overflow(OFFSET, 64));
    }
    Ok(Extent { elements, span: checked::add(last, 1, ELEMENTS)? })
}

/// Returns the size in bytes of `elements` elements of `bits` bits, rounded up to a multiple of 4.
pub(super) fn size_in_bytes(elements: u64, bits: u32) -> Result<u64, Error> {
    let bytes = match elements.checked_mul(bits.into()) {
        Some(all) => all.div_ceil(8),
        None => checked::bytes_for(elements, bits)?,
    };
    checked::round_up(bytes, 4, BYTES)
}

//! `calc_buffer_tensor_size`: DirectML's size formula in exact arithmetic.

use crate::checked::{self, BYTES, ELEMENTS, OFFSET};
use crate::element::DataType;
use crate::error::Error;

/// The smallest buffer, in bytes, that holds a tensor of these `sizes` and `strides` (both in
/// elements; `None` for packed row-major), rounded up to a multiple of 4 bytes.
///
/// This is `DMLCalcBufferTensorSize` from *DirectML helper functions*:
/// `round_up((1 + dot(sizes - 1, strides)) * element size, 4)`, or the product of the sizes where
/// there are no strides. It leaves out the padding after the last row. The elements of 4-bit types
/// are counted in bits and only the whole is rounded.
///
/// Where the original wraps around (its index sum has 32 bits) this function is an error, never
/// a wrong number; where the original is defined, they agree to the byte. The rule that a tensor
/// has at most 2³²−1 elements belongs to [`upload::validate`](crate::upload::validate), not here.
///
/// # Errors
///
/// [`Error::ZeroSize`] for a size of zero, [`Error::RankMismatch`] if there are not as many strides
/// as sizes, [`Error::Overflow`] if the number of elements, an offset or the size passes 64 bits.
///
/// ```
/// use tensor_layout::{calc_buffer_tensor_size, DataType};
///
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], None)?, 24);
/// // Rows five elements apart: 5 + 3 elements, the last row is not padded.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], Some(&[5, 1]))?, 32);
/// // DirectML's own helper answers 4 here.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 2], Some(&[4_294_967_295, 1]))?, 17_179_869_188);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn calc_buffer_tensor_size(data_type: DataType, sizes: &[u64], strides: Option<&[u64]>) -> Result<u64, Error> {
    if let Some(axis) = sizes.iter().position(|&size| size == 0) {
        return Err(Error::ZeroSize { axis });
    }
    let elements = match strides {
        None => checked::product(sizes, ELEMENTS)?,
        Some(strides) => span(sizes, strides)?,
    };
    size_in_bytes(elements, data_type.bits())
}

/// One past the largest offset a tensor reaches, in elements: 0 if it has no elements.
///
/// The product of the sizes must fit 64 bits even if a stride of 0 makes the span small:
/// a tensor whose elements cannot be counted is of use to nobody.
pub(super) fn span(sizes: &[u64], strides: &[u64]) -> Result<u64, Error> {
    if strides.len() != sizes.len() {
        return Err(Error::RankMismatch { what: "strides", expected: sizes.len(), found: strides.len() });
    }
    if checked::product(sizes, ELEMENTS)? == 0 {
        return Ok(0);
    }
    let mut last = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        let reach = checked::mul(size.saturating_sub(1), stride, OFFSET)?;
        last = checked::add(last, reach, OFFSET)?;
    }
    checked::add(last, 1, ELEMENTS)
}

/// `elements` of `bits` bits in bytes, rounded up to a multiple of 4.
pub(super) fn size_in_bytes(elements: u64, bits: u32) -> Result<u64, Error> {
    checked::round_up(checked::bytes_for(elements, bits)?, 4, BYTES)
}

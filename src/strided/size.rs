//! Sizes in bytes: of the elements, with gaps, of the binding, and of the buffer.

use crate::checked::{self, exact};
use crate::element::DataType;
use crate::error::{Code, Error};

use super::desc::BufferTensorDesc;
use super::numbers::Integer;

/// Returns the size in bytes of the smallest buffer for a tensor of these `sizes` and `strides`, rounded up
/// to a multiple of 4 bytes. Sizes and strides are in elements. `None` stands for packed row-major strides.
///
/// This is `DMLCalcBufferTensorSize` from *DirectML helper functions*: `round_up((1 + dot(sizes - 1,
/// strides)) * element size, 4)`, or the product of the sizes if there are no strides. The padding after the
/// last row is not included. Elements of 4-bit types are counted in bits, and only the result is rounded.
///
/// DirectML's helper has an index sum of 32 bits, which wraps around. Where it does not wrap, both functions
/// agree to the byte; else this function returns an error instead of a wrong number.
///
/// A base offset does not count here: it moves the offset at which the buffer is bound. The range that
/// [`upload::validate`](crate::upload::validate) checks includes it.
///
/// # Errors
///
/// `zero_size` for a size of 0, and the errors of [`BufferTensorDesc::new`].
///
/// ```
/// use tensor_layout::{calc_buffer_tensor_size, DataType};
///
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], None)?, 24);
/// // Rows five elements apart: 5 + 3 elements, the last row is not padded.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 3], Some(&[5, 1]))?, 32);
/// // DirectML's own helper answers 4 here.
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2, 2], Some(&[4_294_967_295_u64, 1]))?, 17_179_869_188);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn calc_buffer_tensor_size<T: Integer>(
    data_type: DataType,
    sizes: &[T],
    strides: Option<&[T]>,
) -> Result<u64, Error> {
    let desc = BufferTensorDesc::new(data_type, sizes, strides)?;
    match desc.sizes().iter().position(|&size| size == 0) {
        Some(axis) => Err(Code::ZeroSize.on_axis(axis, 0, 0)),
        None => Ok(desc.min_size_in_bytes()),
    }
}

impl BufferTensorDesc {
    /// The size of the elements alone, in bytes, rounded up to a whole byte.
    #[must_use]
    pub fn logical_size_in_bytes(&self) -> u64 {
        checked::bytes_for(self.elements, self.data_type.bits()).unwrap_or(u64::MAX)
    }

    /// The number of bytes from the first element to the last, gaps included: 6 for `f16[3]`. A copy of the
    /// tensor's own range moves this many bytes.
    #[must_use]
    pub fn exact_size_in_bytes(&self) -> u64 {
        let end = checked::bytes_for(self.span_elements, self.data_type.bits()).unwrap_or(u64::MAX);
        end.saturating_sub(self.first_byte())
    }

    /// The size of a binding that begins at the first element, in bytes: DirectML's `TotalTensorSizeInBytes`.
    /// It is [`exact_size_in_bytes`](Self::exact_size_in_bytes) rounded up to a multiple of 4, or the rest of
    /// a total size that was set by hand.
    #[must_use]
    // Proved for every input (proofs/lemmas.py):
    // * bound_size_in_bytes.fits: the bytes from the first element to the last, and less than 4 more, fit 64
    //   bits, because the whole buffer does.
    pub fn bound_size_in_bytes(&self) -> u64 {
        let rounded = self.exact_size_in_bytes().next_multiple_of(4);
        if self.larger_total == 0 { rounded } else { rounded.max(self.larger_total.saturating_sub(self.first_byte())) }
    }

    fn first_byte(&self) -> u64 {
        let base = if self.elements == 0 { 0 } else { self.base_offset };
        exact(u64::try_from(checked::wide_product(base, self.data_type.bits()).div_euclid(8)).ok())
    }

    /// The size of the smallest buffer for the tensor, in bytes, rounded up to a multiple of 4. It counts
    /// from the start of the buffer, so the size for a slice includes the bytes before its first element.
    #[must_use]
    #[inline]
    pub fn min_size_in_bytes(&self) -> u64 {
        self.min_size
    }

    /// The size of the buffer, in bytes: the minimum, unless a larger total was set.
    #[must_use]
    pub fn total_tensor_size_in_bytes(&self) -> u64 {
        self.min_size.max(self.larger_total)
    }
}

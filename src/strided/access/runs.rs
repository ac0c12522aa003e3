//! The alignment of a tensor's first element, and the width of vector loads.

use crate::checked::{self, BYTES, wide_product};
use crate::error::Error;
use crate::strided::BufferTensorDesc;

impl BufferTensorDesc {
    /// The guaranteed alignment of the first element, in bytes. This is the promised alignment of the buffer,
    /// reduced by the base offset. 0 means that nothing is guaranteed.
    pub(crate) fn first_element_alignment(&self) -> u32 {
        let promise = self.base_offset_alignment();
        let bits = self.data_type().bits();
        let base_bits = wide_product(self.base_offset(), bits);
        let had = 1_u128.checked_shl(base_bits.trailing_zeros()).map_or(u128::MAX, |had| had.div_euclid(8));
        let least = u32::try_from(u128::from(promise).min(had)).unwrap_or(promise);
        if least < bits.div_ceil(8) { 0 } else { least }
    }

    /// The largest number of bytes that one aligned load can read everywhere in the tensor. The number is the
    /// largest power of two, at most `widest`, that divides the length of the inner run, every other stride,
    /// and the base offset, all in bytes. The function assumes that the buffer itself begins aligned.
    ///
    /// For types of whole bytes, the result is at least the size of one element. For types below a byte, the
    /// result is 0 if the tensor cannot be read in whole bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if a stride in bits passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F16, &[6, 24])?;
    /// assert_eq!(desc.vector_bytes(16)?, 16);
    /// // Rows that begin 26 elements apart begin at multiples of 4 bytes only.
    /// assert_eq!(BufferTensorDesc::new(DataType::F16, &[6, 24], Some(&[26, 1]))?.vector_bytes(16)?, 4);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn vector_bytes(&self, widest: u64) -> Result<u64, Error> {
        let coalesced = self.coalesce();
        let bits = u64::from(self.data_type().bits());
        let in_bits = |elements: u64| checked::mul(elements, bits, BYTES);
        let mut axes = coalesced.axes();
        let run = match axes.clone().next_back() {
            Some((size, 1)) => size,
            Some((0, _)) => 0,
            _ => 1,
        };
        // A power of two divides several numbers exactly if it divides their bitwise or.
        let mut all = in_bits(run)? | in_bits(self.base_offset())?;
        if run > 1 {
            axes.next_back();
        }
        for (_, stride) in axes {
            all |= in_bits(stride)?;
        }
        let widest_bits = checked::mul(if widest == 0 { 0 } else { 1 << widest.ilog2() }, 8, BYTES)?;
        let aligned = 1_u64.checked_shl(all.trailing_zeros()).unwrap_or(u64::MAX);
        Ok(aligned.min(widest_bits).div_euclid(8))
    }
}

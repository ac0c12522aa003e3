//! The sizes of a tensor in bytes, one for each question.

use crate::checked::{self, exact};

use super::super::size::size_in_bytes;
use super::BufferTensorDesc;

impl BufferTensorDesc {
    /// The bytes of the elements alone, each counted once: their number times their width, in whole bytes.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// // Two tokens of a cache: the elements; from the first to the last; what is bound; the buffer up to there.
    /// let cache = BufferTensorDesc::packed(DataType::F16, &[4, 16, 3])?;
    /// let tokens = cache.slice_axis(1, 5..7)?;
    /// assert_eq!((tokens.logical_size_in_bytes(), tokens.exact_size_in_bytes()), (48, 300));
    /// assert_eq!((tokens.bound_size_in_bytes(), tokens.min_size_in_bytes()), (300, 332));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn logical_size_in_bytes(&self) -> u64 {
        checked::bytes_for(self.elements, self.data_type.bits()).unwrap_or(u64::MAX)
    }

    /// The bytes from the first element to the last, gaps included and nothing rounded but a started byte: 6
    /// of `f16[3]`. What a copy of the tensor's own range moves.
    #[must_use]
    pub fn exact_size_in_bytes(&self) -> u64 {
        let (bits, start) = (self.data_type.bits(), self.first_byte());
        let end = checked::bytes_for(self.span_elements, bits).unwrap_or(u64::MAX);
        end.saturating_sub(start)
    }

    /// The bytes that are bound of the tensor where its first element is: those that DirectML's structure is
    /// given as `TotalTensorSizeInBytes`. [`exact_size_in_bytes`](Self::exact_size_in_bytes) rounded up to a
    /// multiple of 4, or what is left of a total that was set by hand.
    #[must_use]
    pub fn bound_size_in_bytes(&self) -> u64 {
        let rounded = self.exact_size_in_bytes().next_multiple_of(4);
        if self.larger_total == 0 { rounded } else { rounded.max(self.larger_total.saturating_sub(self.first_byte())) }
    }

    /// The byte that the first element begins in.
    fn first_byte(&self) -> u64 {
        let base = if self.elements == 0 { 0 } else { self.base_offset };
        exact(u64::try_from(checked::wide_product(base, self.data_type.bits()).div_euclid(8)).ok())
    }

    /// The smallest buffer in bytes, by DirectML's rule: rounded up to a multiple of 4. It counts from the
    /// start of the buffer, so that of a slice has what is before its first element;
    /// [`bound_size_in_bytes`](Self::bound_size_in_bytes) has not.
    #[must_use]
    pub fn min_size_in_bytes(&self) -> u64 {
        // Every constructor has computed it once.
        size_in_bytes(self.span_elements, self.data_type.bits()).unwrap_or(u64::MAX)
    }

    /// The bytes of the buffer: the minimum unless a larger total was set. Of a tensor that begins with its
    /// buffer, that is what DirectML is given; of a slice it is
    /// [`bound_size_in_bytes`](Self::bound_size_in_bytes).
    #[must_use]
    pub fn total_tensor_size_in_bytes(&self) -> u64 {
        if self.larger_total == 0 { self.min_size_in_bytes() } else { self.larger_total }
    }
}

//! The sizes of a tensor in bytes: elements alone, with gaps, of the binding, and of the buffer.

use crate::checked::{self, exact};

use super::super::size::size_in_bytes;
use super::BufferTensorDesc;

impl BufferTensorDesc {
    /// The size of the elements alone, in bytes, with each element counted once. The size is the number of
    /// elements times their width, rounded up to a whole byte.
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

    /// The number of bytes from the first element to the last, gaps included. Only the last byte is rounded
    /// up: `f16[3]` has 6 bytes. A copy of the tensor's own range moves this many bytes.
    #[must_use]
    pub fn exact_size_in_bytes(&self) -> u64 {
        let (bits, start) = (self.data_type.bits(), self.first_byte());
        let end = checked::bytes_for(self.span_elements, bits).unwrap_or(u64::MAX);
        end.saturating_sub(start)
    }

    /// The size of the binding, in bytes, if the binding begins at the first element. DirectML's structure
    /// gets this size as `TotalTensorSizeInBytes`. The size is
    /// [`exact_size_in_bytes`](Self::exact_size_in_bytes) rounded up to a multiple of 4. If a total size was
    /// set by hand, the size is the rest of that total.
    #[must_use]
    pub fn bound_size_in_bytes(&self) -> u64 {
        let rounded = self.exact_size_in_bytes().next_multiple_of(4);
        if self.larger_total == 0 { rounded } else { rounded.max(self.larger_total.saturating_sub(self.first_byte())) }
    }

    /// The byte in which the first element begins.
    fn first_byte(&self) -> u64 {
        let base = if self.elements == 0 { 0 } else { self.base_offset };
        exact(u64::try_from(checked::wide_product(base, self.data_type.bits()).div_euclid(8)).ok())
    }

    /// The size of the smallest buffer for the tensor, in bytes, rounded up to a multiple of 4 by DirectML's
    /// rule. The size counts from the start of the buffer, so the size of a slice includes the bytes before
    /// its first element. [`bound_size_in_bytes`](Self::bound_size_in_bytes) does not include these bytes.
    #[must_use]
    pub fn min_size_in_bytes(&self) -> u64 {
        // Every constructor has computed this size, so the computation cannot fail.
        size_in_bytes(self.span_elements, self.data_type.bits()).unwrap_or(u64::MAX)
    }

    /// The size of the buffer, in bytes: the minimum, unless a larger total was set. DirectML gets this size
    /// for a tensor that begins at the start of its buffer. For a slice, it gets
    /// [`bound_size_in_bytes`](Self::bound_size_in_bytes).
    #[must_use]
    pub fn total_tensor_size_in_bytes(&self) -> u64 {
        if self.larger_total == 0 { self.min_size_in_bytes() } else { self.larger_total }
    }
}

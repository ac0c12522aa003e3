//! Memory that is known by its pointer alone, as the destination of a copy.
#![allow(unsafe_code, reason = "a pointer of another library; the caller promises what it points to")]

use std::ptr::NonNull;

use crate::relayout::DestinationBytes;

impl<'a> DestinationBytes<'a> {
    /// Returns memory that may be written but not read. A mapped GPU buffer is an example: it may be
    /// write-combining or uninitialised. (`as_raw_ptr` of wgpu's `WriteOnly<[u8]>` returns the pointer.)
    ///
    /// # Safety
    ///
    /// * For `'a`, all bytes are valid for writes from any thread, and nothing else accesses them.
    /// * The bytes need not be valid for reads: no copy reads any of them, and no reference to them is made.
    ///
    /// ```
    /// use std::ptr::NonNull;
    /// use tensor_layout::relayout::DestinationBytes;
    ///
    /// let mut mapped = [0; 6];
    /// // SAFETY: six bytes of our own, which are not touched while `memory` is used.
    /// let memory = unsafe { DestinationBytes::from_ptr(NonNull::from(&mut mapped[..])) };
    /// assert_eq!(memory.len(), 6);
    /// ```
    #[must_use]
    pub unsafe fn from_ptr(bytes: NonNull<[u8]>) -> DestinationBytes<'a> {
        // SAFETY: the contract of this function is the contract of `WriteOnly::new`, word for word.
        DestinationBytes(unsafe { strided_copy::WriteOnly::new(bytes) })
    }
}

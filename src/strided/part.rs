//! Parts of larger buffers.

use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    /// Is it a part of a larger buffer, so that what is between its elements may be others'? A slice that
    /// leaves out elements is, with all views made of it, and so is what begins after the start of its
    /// buffer. A tensor with padded strides is not: its gaps are its own.
    ///
    /// It matters where a tensor is written:
    /// [`Relayout::with_padding`](crate::relayout::Relayout::with_padding) does not fill the gaps of a part.
    /// In text, a part has a base offset, be it `+0`.
    pub(crate) fn is_part(&self) -> bool {
        self.sliced || self.base_offset() != 0
    }
}

//! Parts of larger buffers.

use super::BufferTensorDesc;

impl BufferTensorDesc {
    /// Is it a part of a larger buffer, so that what is between its elements may be others'? A slice that
    /// leaves out elements is, with all views made of it, and so is what begins after the start of its
    /// buffer. A tensor with padded strides is not: its gaps are its own.
    ///
    /// It matters where a tensor is written:
    /// [`Relayout::with_padding`](crate::relayout::Relayout::with_padding) does not fill the gaps of a part.
    /// In text, a part has a base offset, be it `+0`.
    pub(crate) fn is_part(&self) -> bool {
        self.sliced || self.base_offset != 0
    }

    /// The same tensor as a part of a larger buffer, as a slice is: for descriptors of parts
    /// that were put together by hand and begin at the start of the buffer.
    pub(crate) fn into_part(self) -> Self {
        BufferTensorDesc { sliced: true, ..self }
    }

    /// The same tensor as a part, if it leaves out elements of `whole`.
    pub(in crate::strided) fn into_part_of(self, whole: &Self) -> Self {
        if self.elements < whole.elements { self.into_part() } else { self }
    }
}

//! Marks tensors that are parts of larger buffers.

use super::BufferTensorDesc;

impl BufferTensorDesc {
    /// Whether this tensor is a part of a larger buffer, so that the bytes between its elements may belong
    /// to other tensors. A slice that leaves out elements is a part, and every view of the slice is a part
    /// too. A tensor with a base offset is also a part, even if the offset was set to 0. A tensor with
    /// padded strides is not a part, because its gaps are its own padding. Sizes and strides cannot show
    /// this difference.
    ///
    /// The difference matters where a tensor is written.
    /// [`Relayout::with_padding`](crate::relayout::Relayout::with_padding) does not fill the gaps of a part.
    /// [`validate`](crate::upload::validate) refuses a part as an output of a device that may overwrite gaps.
    /// The text of a part has a base offset, even if the offset is `+0`.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let cache = BufferTensorDesc::packed(DataType::U8, &[2, 8, 4])?;
    /// let tokens = cache.slice_axis(1, 0..3)?;
    /// assert!(!cache.is_part() && tokens.is_part());
    /// // An engine has the sizes and strides as its own numbers.
    /// let (shape, strides): (&[usize], &[usize]) = (&[2, 3, 4], &[32, 4, 1]);
    /// let own = BufferTensorDesc::new(DataType::U8, shape, Some(strides))?;
    /// assert!(!own.is_part() && own.as_part() == tokens);
    /// assert_eq!(own.as_part().to_string(), "u8[2,3,4]:[32,4,1]+0");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.sliced || self.base_offset != 0
    }

    /// Returns this tensor as a part of a larger buffer, as a slice is. The bytes between its elements may
    /// belong to other tensors, so nothing fills them. See [`is_part`](Self::is_part).
    #[must_use]
    pub fn as_part(&self) -> Self {
        self.clone().into_part()
    }

    pub(crate) fn into_part(self) -> Self {
        BufferTensorDesc { sliced: true, ..self }
    }

    /// Returns this tensor, marked as a part if it leaves out elements of `whole`.
    pub(in crate::strided) fn into_part_of(self, whole: &Self) -> Self {
        if self.elements < whole.elements { self.into_part() } else { self }
    }
}

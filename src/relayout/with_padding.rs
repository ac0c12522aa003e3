//! Copies with another treatment of padding. They need no new plan.

use crate::error::{Code, Error};

use super::plan::fill::{Fill, has_padding};
use super::relayout::Relayout;
use super::settings::{Padding, Settings};

impl Relayout {
    /// Returns this copy with another treatment of the destination's padding. Padding is every index of the
    /// buffer without an element. It is also the tail, if the size of a descriptor is rounded up (`u8[3]`
    /// takes 4 bytes). The tail is set to zero, as far as the buffer holds it.
    ///
    /// # Errors
    ///
    /// `padding_of_part` if the destination is a part of a larger buffer and has gaps:
    /// the rows of a cache between the rows of a slice do not belong to the slice. `fill_too_wide` if
    /// a pattern has bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc, DataType};
    ///
    /// let cache = BufferTensorDesc::packed(DataType::F16, &[8, 128, 64])?;
    /// let token = BufferTensorDesc::packed(DataType::F16, &[8, 1, 64])?;
    /// let append = Relayout::new(&token, &cache.slice_axis(1, 17..18)?)?;
    /// let error = append.with_padding(Padding::Zero).unwrap_err();
    /// assert_eq!(error.code(), "padding_of_part", "the other tokens would be lost");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding(self, padding: Padding) -> Result<Relayout, Error> {
        if padding != Padding::Keep && self.destination.is_part() && has_padding(&self.destination) {
            return Err(Code::PaddingOfPart.by(self.destination.base(), 0));
        }
        self.with_padding_everywhere(padding)
    }

    /// Returns this copy like [`with_padding`](Self::with_padding), also if the destination is a part of a
    /// larger buffer. Everything from the start of that buffer to the end of the destination is overwritten,
    /// including the bytes of other tensors.
    ///
    /// # Errors
    ///
    /// `fill_too_wide` if a pattern has bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc};
    ///
    /// let cache: BufferTensorDesc = "u8[2,3]:[4,1]".parse()?;
    /// let (row, place) = ("u8[2,1]:[1,1]".parse::<BufferTensorDesc>()?, cache.slice(&[(0..2).into(), (1..2).into()])?);
    /// let copy = Relayout::new(&row, &place)?;
    /// assert_eq!(copy.clone().with_padding(Padding::Zero).unwrap_err().code(), "padding_of_part");
    /// let mut memory = *b"abc.def.";
    /// copy.with_padding_everywhere(Padding::Zero)?.run(b"xy", &mut memory)?;
    /// assert_eq!(&memory, b"\0x\0\0\0yf.");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding_everywhere(self, padding: Padding) -> Result<Relayout, Error> {
        padding.check(self.destination.element_bits())?;
        let fill = Fill::new(&self.destination, padding.pattern(), self.passes.direct().is_some());
        let is_direct = padding == Padding::Keep && self.passes.direct().is_some();
        let settings = Settings { padding, ..self.settings };
        Ok(Relayout { fill, is_direct, settings, ..self })
    }
}

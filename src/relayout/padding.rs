//! The treatment of the destination's padding.

use crate::error::Error;

/// How the bytes of the destination that hold no element are treated.
///
/// ```
/// use tensor_layout::relayout::{Padding, Relayout};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let packed = BufferTensorDesc::packed(DataType::U8, &[2, 3])?;
/// let rows = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[4, 1]))?;
/// let plan = Relayout::new(&packed, &rows)?.with_padding(Padding::Fill(0xff))?;
/// let mut buffer = [0; 8];
/// plan.run(b"abcdef\0\0", &mut buffer)?;
/// assert_eq!(&buffer[..7], b"abc\xffdef");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Padding keeps its bytes.
    #[default]
    Keep,
    /// All bits of the padding are set to zero.
    Zero,
    /// Every padding element is set to this bit pattern. An element of `n` bits takes the low `n` bits.
    /// Higher bits must be zero.
    Fill(u128),
}

impl Padding {
    /// The pattern of an element, or `None` if padding is kept.
    pub(super) fn pattern(self) -> Option<u128> {
        match self {
            Padding::Keep => None,
            Padding::Zero => Some(0),
            Padding::Fill(pattern) => Some(pattern),
        }
    }

    /// Refuses a pattern that has more bits than an element of `bits` bits.
    pub(super) fn check(self, bits: u32) -> Result<(), Error> {
        match self {
            Padding::Fill(pattern) if bits < 128 && pattern.checked_shr(bits).is_some_and(|rest| rest != 0) => {
                Err(Error::FillTooWide { pattern, bits })
            }
            _ => Ok(()),
        }
    }
}

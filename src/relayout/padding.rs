//! What becomes of the destination's padding.

use crate::element::write_bits;
use crate::error::Error;

/// What the bytes of the destination that hold no element are set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Nothing is written there.
    #[default]
    Keep,
    /// All bits zero.
    Zero,
    /// Every padding element holds this bit pattern: its low bits, as many as an element takes.
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

    /// Refuses a pattern with bits that an element of `bits` bits does not have.
    pub(super) fn check(self, bits: u32) -> Result<(), Error> {
        match self {
            Padding::Fill(pattern) if bits < 128 && pattern.checked_shr(bits).is_some_and(|rest| rest != 0) => {
                Err(Error::FillTooWide { pattern, bits })
            }
            _ => Ok(()),
        }
    }
}

/// Sets `elements` elements of `bits` bits to `pattern`, and the bits after the last to zero.
pub(super) fn fill(buffer: &mut [u8], elements: u64, bits: u32, pattern: u128) {
    if pattern == 0 {
        buffer.fill(0);
        return;
    }
    if bits.is_multiple_of(8) {
        return fill_run(buffer, usize::try_from(bits / 8).unwrap_or(usize::MAX), pattern);
    }
    buffer.fill(0);
    for start in (0..elements).map(|element| element.saturating_mul(bits.into())) {
        // `None` only past the end of the buffer, which was measured for these elements.
        let _ = write_bits(buffer, start, bits, pattern);
    }
}

/// Sets elements of `width` whole bytes, one after the other, to `pattern`.
pub(super) fn fill_run(run: &mut [u8], width: usize, pattern: u128) {
    let bytes = pattern.to_le_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    if bytes.iter().take(width).all(|&byte| byte == first) && (width <= bytes.len() || first == 0) {
        return run.fill(first);
    }
    for element in run.chunks_mut(width.max(1)) {
        element.fill(0);
        for (byte, &value) in element.iter_mut().zip(&bytes) {
            *byte = value;
        }
    }
}

//! Writes bit fields, for elements that do not start on a byte.
//!
//! Bits are numbered from the low end of byte 0 upwards, so the first of two 4-bit elements is the low half
//! of its byte. ONNX, WebNN, DLPack and XLA's CPU backend use this order. DirectML's pages do not name an
//! order.

use crate::checked::Proven;

/// Writes the low `width` bits (at most 128) of `value`, `start` bits into `bytes`, and leaves
/// every other bit as it is.
///
/// Returns `None`, and writes nothing, if the field is not inside `bytes` or is wider than 128 bits.
#[must_use = "None says that nothing was written"]
pub(crate) fn write_bits(bytes: &mut [u8], start: u64, width: u32, value: u128) -> Option<()> {
    let field = Field::new(bytes.len(), start, width)?;
    for (byte, (low, count, position)) in bytes.get_mut(field.first..)?.iter_mut().zip(field.parts()) {
        let part = value.checked_shr(position)? & mask(count);
        // Only the first byte can have set bits, because `low + count <= 8`.
        let [part, ..] = part.checked_shl(low)?.to_le_bytes();
        let [keep, ..] = mask(count).checked_shl(low)?.to_le_bytes();
        *byte = (*byte & !keep) | part;
    }
    Some(())
}

/// Returns a mask of `count` low bits, with `count <= 128`.
fn mask(count: u32) -> u128 {
    u128::MAX.checked_shr(128_u32.minus(count)).unwrap_or(0)
}

/// The position of a bit field: its first byte, its first bit in that byte, and its width in bits.
struct Field {
    first: usize,
    low: u32,
    width: u32,
}

impl Field {
    fn new(len: usize, start: u64, width: u32) -> Option<Field> {
        let end = u128::from(start).checked_add(u128::from(width))?;
        let have = u128::try_from(len).ok()?.checked_mul(8)?;
        if width > 128 || end > have {
            return None;
        }
        let first = usize::try_from(start / 8).ok()?;
        let low = u32::try_from(start % 8).ok()?;
        Some(Field { first, low, width })
    }

    /// Returns, for each byte, the lowest bit of the field in the byte, the number of the field's bits in the
    /// byte, and the number of the field's bits in earlier bytes.
    fn parts(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let (mut low, mut done, width) = (self.low, 0_u32, self.width);
        core::iter::from_fn(move || {
            if done >= width {
                return None;
            }
            let count = 8_u32.minus(low).min(width.minus(done));
            let part = (low, count, done);
            low = 0;
            done = done.plus(count);
            Some(part)
        })
    }
}

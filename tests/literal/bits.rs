//! Fields of bits. Bit 0 is the lowest bit of byte 0. Fields of whole bytes are copied, and other fields go
//! one bit at a time.

use std::ops::Range;

fn bit(at: u64) -> (usize, u8) {
    (usize::try_from(at / 8).unwrap(), 1 << (at % 8))
}

/// The range of bytes of a field that consists of whole bytes. `None` for other fields.
fn whole_bytes(start: u64, width: u32) -> Option<Range<usize>> {
    let first = usize::try_from(start / 8).unwrap();
    (start.is_multiple_of(8) && width.is_multiple_of(8)).then(|| first..first + width as usize / 8)
}

/// Reads the `width` bits from bit `start` on. `None` past the end.
pub(crate) fn read_bits(bytes: &[u8], start: u64, width: u32) -> Option<u128> {
    if let Some(range) = whole_bytes(start, width) {
        let mut value = [0; 16];
        value[..range.len()].copy_from_slice(bytes.get(range)?);
        return Some(u128::from_le_bytes(value));
    }
    (0..width).rev().try_fold(0, |value, position| {
        let (byte, mask) = bit(start + u64::from(position));
        Some(value << 1 | u128::from(bytes.get(byte)? & mask != 0))
    })
}

/// Writes the low `width` bits of `value` from bit `start` on.
pub(crate) fn write_bits(bytes: &mut [u8], start: u64, width: u32, value: u128) -> Option<()> {
    if let Some(range) = whole_bytes(start, width) {
        bytes.get_mut(range.clone())?.copy_from_slice(&value.to_le_bytes()[..range.len()]);
        return Some(());
    }
    (0..width).try_for_each(|position| {
        let (byte, mask) = bit(start + u64::from(position));
        let byte = bytes.get_mut(byte)?;
        *byte = if value >> position & 1 == 1 { *byte | mask } else { *byte & !mask };
        Some(())
    })
}

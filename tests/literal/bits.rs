//! Fields of bits. Bit 0 is the lowest bit of byte 0. Fields of whole bytes are copied, fields within a byte
//! are shifted, and other fields go one bit at a time.

use std::ops::Range;

fn bit(at: u64) -> (usize, u8) {
    (usize::try_from(at / 8).unwrap(), 1 << (at % 8))
}

/// The range of bytes of a field that consists of whole bytes. `None` for other fields.
fn whole_bytes(start: u64, width: u32) -> Option<Range<usize>> {
    let first = usize::try_from(start / 8).unwrap();
    (start.is_multiple_of(8) && width.is_multiple_of(8)).then(|| first..first + width as usize / 8)
}

/// The byte that holds a whole field, and the lowest bit of the field in it. `None` for other fields.
fn within_byte(start: u64, width: u32) -> Option<(usize, u32)> {
    let shift = (start % 8) as u32;
    (shift + width <= 8).then(|| (usize::try_from(start / 8).unwrap(), shift))
}

/// Reads the `width` bits from bit `start` on. `None` past the end.
pub fn read_bits(bytes: &[u8], start: u64, width: u32) -> Option<u128> {
    if let Some(range) = whole_bytes(start, width) {
        let mut value = [0; 16];
        value[..range.len()].copy_from_slice(bytes.get(range)?);
        return Some(u128::from_le_bytes(value));
    }
    if let Some((place, shift)) = within_byte(start, width) {
        return Some(u128::from(bytes.get(place)? >> shift) & ((1 << width) - 1));
    }
    (0..width).rev().try_fold(0, |value, position| {
        let (byte, mask) = bit(start + u64::from(position));
        Some(value << 1 | u128::from(bytes.get(byte)? & mask != 0))
    })
}

/// Writes the low `width` bits of `value` from bit `start` on. Bits past the 128th are 0.
pub fn write_bits(bytes: &mut [u8], start: u64, width: u32, value: u128) -> Option<()> {
    if let Some(range) = whole_bytes(start, width) {
        let value = value.to_le_bytes().into_iter().chain(std::iter::repeat(0));
        bytes.get_mut(range)?.iter_mut().zip(value).for_each(|(byte, own)| *byte = own);
        return Some(());
    }
    if let Some((place, shift)) = within_byte(start, width) {
        let (byte, mask) = (bytes.get_mut(place)?, (1_u128 << width) - 1);
        *byte = *byte & !((mask << shift) as u8) | ((value & mask) << shift) as u8;
        return Some(());
    }
    (0..width).try_for_each(|position| {
        let (byte, mask) = bit(start + u64::from(position));
        let byte = bytes.get_mut(byte)?;
        *byte = if value >> position & 1 == 1 { *byte | mask } else { *byte & !mask };
        Some(())
    })
}

//! Fields of bits, one bit at a time: bit 0 is the lowest of byte 0.

fn bit(at: u64) -> (usize, u8) {
    (usize::try_from(at / 8).unwrap(), 1 << (at % 8))
}

/// The `width` bits from bit `start` on, or `None` past the end.
pub(crate) fn read_bits(bytes: &[u8], start: u64, width: u32) -> Option<u128> {
    (0..width).rev().try_fold(0, |value, position| {
        let (byte, mask) = bit(start + u64::from(position));
        Some(value << 1 | u128::from(bytes.get(byte)? & mask != 0))
    })
}

/// Writes the low `width` bits of `value` from bit `start` on.
pub(crate) fn write_bits(bytes: &mut [u8], start: u64, width: u32, value: u128) -> Option<()> {
    (0..width).try_for_each(|position| {
        let (byte, mask) = bit(start + u64::from(position));
        let byte = bytes.get_mut(byte)?;
        *byte = if value >> position & 1 == 1 { *byte | mask } else { *byte & !mask };
        Some(())
    })
}

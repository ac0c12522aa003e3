//! The literal copy: each element is read where the literal layout has it and written where the other one has
//! it, bit by bit where it must be.

use tensor_layout::element::ElementKind;
use tensor_layout::relayout::Padding;

use crate::layouts::Side;

/// Bytes that tell every place from its neighbours.
pub fn noise(length: usize, seed: u64) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// The bits from `start` on, the lowest first.
fn get(bytes: &[u8], start: usize, bits: usize) -> u128 {
    if start.is_multiple_of(8) && bits.is_multiple_of(8) {
        let bytes = &bytes[start / 8..][..bits / 8];
        return bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte));
    }
    (0..bits).fold(0, |value, i| value | u128::from(bytes[(start + i) / 8] >> ((start + i) % 8) & 1) << i)
}

fn set(bytes: &mut [u8], start: usize, bits: usize, value: u128) {
    if start.is_multiple_of(8) && bits.is_multiple_of(8) {
        bytes[start / 8..][..bits / 8].copy_from_slice(&value.to_le_bytes()[..bits / 8]);
        return;
    }
    for i in 0..bits {
        let bit = (value >> i & 1) as u8;
        let byte = &mut bytes[(start + i) / 8];
        *byte = *byte & !(1 << ((start + i) % 8)) | bit << ((start + i) % 8);
    }
}

/// `order` says for each element of the destination which of the source's it is.
pub fn literal_copy(
    (from, to): (&Side, &Side),
    order: impl Fn(usize) -> usize,
    source: &[u8],
    destination: &mut [u8],
    padding: Padding,
) {
    let (bits, to_bits) = (from.map.element_bits() as usize, to.map.element_bits() as usize);
    let pattern = match padding {
        Padding::Keep => None,
        Padding::Zero => Some(0),
        Padding::Fill(pattern) => Some(pattern),
    };
    if let Some(pattern) = pattern {
        // The rest of the last byte has elements too, which are padding.
        destination[..to.bytes()].fill(0);
        for place in 0..to.bytes() * 8 / to_bits {
            set(destination, place * to_bits, to_bits, pattern);
        }
    }
    let signed = from.map.data_type().kind() == ElementKind::Signed;
    for (element, &place) in to.offsets.iter().enumerate() {
        let mut value = get(source, from.offsets[order(element)] as usize * bits, bits);
        if bits < to_bits && signed && value >> (bits - 1) == 1 {
            value |= u128::MAX << bits;
        }
        set(destination, place as usize * to_bits, to_bits, value);
    }
}

//! The suffix ` xor<bytes 4-6 ^= 7-9>` of a text: bits of the offset that higher bits flip.
//!
//! A bit that is flipped is followed by the bits that flip it: a range of bits by a range as long, or one bit
//! by a sum. The unit is part of the suffix. CuTe prints `S<3,4,3> o 0 o (8,64):(64,1)` for the 128 byte mode
//! of f16, where 3,4,3 counts bits of the byte and the layout counts elements; called as a function, the same
//! object counts elements in both.

use tensor_layout::map::Swizzle;

/// Returns the suffix of a swizzle. Nothing for none.
pub(super) fn suffix(swizzle: Option<&Swizzle>, element_bits: u32) -> String {
    swizzle.map_or_else(String::new, |swizzle| format!(" xor<{}>", swizzle.text(element_bits)))
}

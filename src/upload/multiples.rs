//! Multiples of alignments and of elements.

use crate::checked::{self, BYTES, Exact};
use crate::error::Error;

/// The smallest number of whole bytes that holds a whole number of elements: 3 for elements of 6 bits.
pub(super) fn whole_elements(bits: u32) -> u64 {
    let bits = u64::from(bits.max(1));
    common_multiple(bits, 8).unwrap_or(bits).div_euclid(8)
}

/// Returns the least common multiple, where 0 counts as 1.
pub(super) fn common_multiple(a: u64, b: u64) -> Result<u64, Error> {
    let (a, b) = (a.max(1), b.max(1));
    checked::mul(a, b.divided_by(checked::gcd(a, b)), "a common alignment in bytes")
}

/// Returns the byte that contains the first bit of an element.
pub(super) fn byte_of(element: u64, bits: u32) -> Result<u64, Error> {
    checked::narrow(checked::wide_product(element, bits).div_euclid(8), BYTES)
}

/// Returns the fewest elements whose bytes are a multiple of the alignment. A binding may begin at each
/// multiple of this number of elements.
pub(super) fn binding_unit(alignment: u64, bits: u32) -> u64 {
    let bits = u64::from(bits.max(1));
    let unit = checked::mul(alignment.max(1), 8, BYTES).and_then(|in_bits| common_multiple(in_bits, bits));
    unit.map_or(u64::MAX, |unit| unit.divided_by(bits))
}

//! The arithmetic of sizes and offsets: every step checked, every failure named.

use tensor_layout::Error;

pub(crate) const BYTES: &str = "the size in bytes";
pub(crate) const OFFSET: &str = "an element offset";

pub(crate) fn add(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_add(b).ok_or(Error::Overflow { quantity, bits: 64 })
}

pub(crate) fn mul(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_mul(b).ok_or(Error::Overflow { quantity, bits: 64 })
}

/// The greatest common divisor; of a number and 0 the number.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// A number in another integer type, or the error that names it and the width that is too narrow for it.
pub(crate) fn narrow<T: TryFrom<U>, U>(value: U, quantity: &'static str) -> Result<T, Error> {
    let bits = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX).saturating_mul(8);
    value.try_into().map_err(|_| Error::Overflow { quantity, bits })
}

/// The bytes that `elements` of `bits` bits take, rounded up to a whole byte.
pub(crate) fn bytes_for(elements: u64, bits: u32) -> Result<u64, Error> {
    let total = u128::from(elements).saturating_mul(bits.into());
    narrow(total.div_ceil(8), BYTES)
}

//! The arithmetic of sizes and offsets: every step checked, every failure named.
//!
//! All sizes, strides and offsets of the crate are `u64`. Nothing here wraps, and what does not
//! fit is an [`Error::Overflow`] that says what was being computed. Back ends that compute with layouts can
//! use the same functions.
//!
//! ```
//! use tensor_layout::checked::{self, BYTES, OFFSET};
//!
//! let start = checked::mul(12, 4, OFFSET)?;
//! assert_eq!(checked::add(start, 16, OFFSET)?, 64);
//! assert_eq!(checked::bytes_for(3, 4)?, 2, "three elements of 4 bits");
//! assert_eq!((checked::gcd(12, 18), checked::narrow::<u32>(7_u64, BYTES)?, checked::count(3)), (6, 7, 3));
//! let error = checked::mul(1 << 40, 1 << 40, BYTES).unwrap_err();
//! assert_eq!(error.to_string(), "the size in bytes does not fit into 64 bits");
//! # Ok::<(), tensor_layout::Error>(())
//! ```

use num_traits::PrimInt;
use smallvec::SmallVec;

use crate::error::Error;

pub(crate) use crate::dims::Dims;
pub use crate::exact::count;
pub(crate) use crate::exact::{Exact, at, exact};

pub(crate) const ELEMENTS: &str = "the number of elements";
/// What an overflow names: a size.
pub const BYTES: &str = "the size in bytes";
/// What an overflow names: an offset.
pub const OFFSET: &str = "an element offset";
pub(crate) const PHYSICAL: &str = "the number of elements with padding";

/// The product of sizes whose product a constructor has checked.
pub(crate) fn element_count(sizes: &[u64]) -> u64 {
    if sizes.contains(&0) {
        return 0;
    }
    sizes.iter().fold(1, |product: u64, &size| product.times(size))
}

#[cold]
pub(crate) fn overflow(quantity: &'static str, bits: u32) -> Error {
    Error::Overflow { quantity, bits }
}

/// A sum, or the error that names it.
///
/// # Errors
///
/// [`Error::Overflow`].
pub fn add(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_add(b).ok_or_else(|| overflow(quantity, 64))
}

/// A product, or the error that names it.
///
/// # Errors
///
/// [`Error::Overflow`].
pub fn mul(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_mul(b).ok_or_else(|| overflow(quantity, 64))
}

/// A product of two numbers of 64 bits, which 128 bits always hold.
#[inline]
pub(crate) fn wide_product(a: u64, b: impl Into<u64>) -> u128 {
    u128::from(a).wrapping_mul(b.into().into())
}

/// The greatest common divisor; of a number and 0 the number. It has the sign of one of them.
pub fn gcd<T: PrimInt>(mut a: T, mut b: T) -> T {
    while !b.is_zero() {
        (a, b) = (b, a.modulo(b));
    }
    a
}

/// The next index in row-major order; false after the last, which is followed by the first. No size is 0.
pub(crate) fn next_index<T: PrimInt>(index: &mut [T], sizes: &[T]) -> bool {
    for (i, &size) in index.iter_mut().zip(sizes).rev() {
        *i = i.plus(T::one());
        if *i < size {
            return true;
        }
        *i = T::zero();
    }
    false
}

/// The least common multiple, if it fits; `None` for two zeros.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    a.checked_div(gcd(a, b))?.checked_mul(b)
}

/// The product of `factors`: 0 if one of them is, whatever the others come to.
pub(crate) fn product(factors: &[u64], quantity: &'static str) -> Result<u64, Error> {
    if factors.contains(&0) {
        return Ok(0);
    }
    factors.iter().try_fold(1, |product, &factor| mul(product, factor, quantity))
}

pub(crate) fn round_up(value: u64, multiple: u64, quantity: &'static str) -> Result<u64, Error> {
    value.checked_next_multiple_of(multiple).ok_or_else(|| overflow(quantity, 64))
}

/// A number in another integer type, or the error that names it and the width it lacks.
///
/// # Errors
///
/// [`Error::Overflow`].
pub fn narrow<T: PrimInt>(value: impl PrimInt, quantity: &'static str) -> Result<T, Error> {
    T::from(value).ok_or_else(|| overflow(quantity, bits_of::<T>()))
}

fn bits_of<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX).saturating_mul(8)
}

/// Where each of `rank` axes is in `order`, which names every axis once.
pub(crate) fn inverse_permutation(order: &[usize], rank: usize) -> Result<SmallVec<[usize; 8]>, Error> {
    if order.len() != rank {
        return Err(Error::rank_mismatch("axes in the order", rank, order.len()));
    }
    let mut place_of: SmallVec<[usize; 8]> = SmallVec::from_elem(usize::MAX, rank);
    for (position, &axis) in order.iter().enumerate() {
        match place_of.get_mut(axis) {
            None => return Err(Error::axis_out_of_range(axis, rank)),
            Some(place) if *place != usize::MAX => {
                return Err(Error::not_a_permutation("the order", position, axis));
            }
            Some(place) => *place = position,
        }
    }
    Ok(place_of)
}

/// The bytes that `elements` of `bits` bits take, rounded up to a whole byte.
///
/// # Errors
///
/// [`Error::Overflow`].
pub fn bytes_for(elements: u64, bits: u32) -> Result<u64, Error> {
    narrow(wide_product(elements, bits).div_ceil(8), BYTES)
}

//! The arithmetic of sizes and offsets. Every step is checked, and every failure names a quantity. No
//! function of this module wraps. A result that does not fit is an `overflow`, which says what was computed.
//!
//! ```
//! use tensor_layout::checked::{self, BYTES, OFFSET};
//!
//! let start = checked::mul(12, 4, OFFSET)?;
//! assert_eq!(checked::add(start, 16, OFFSET)?, 64);
//! assert_eq!(checked::bytes_for(3, 4)?, 2, "three elements of 4 bits");
//! assert_eq!((checked::gcd(12, 18), checked::narrow::<u32>(7_u64, BYTES)?, checked::len_u64(3)), (6, 7, 3));
//! let error = checked::mul(1 << 40, 1 << 40, BYTES).unwrap_err();
//! assert_eq!(error.to_string(), "the size in bytes does not fit into 64 bits");
//! # Ok::<(), tensor_layout::Error>(())
//! ```

use num_traits::PrimInt;
use smallvec::SmallVec;

use crate::error::{Code, Error};

pub(crate) use crate::exact::exact;
pub use crate::exact::len_u64;
pub use crate::exact::{Proven, nth_or_panic};

/// Sizes, strides or an index: one number for each axis, without an allocation up to 8 axes.
pub type Dims = SmallVec<[u64; 8]>;

/// The name of a number of elements in errors.
pub const ELEMENTS: &str = "the number of elements";
/// The name of a size in bytes in errors.
pub const BYTES: &str = "the size in bytes";
/// The name of an offset in errors.
pub const OFFSET: &str = "an element offset";
/// The name of a quantity in errors: a number of elements, padding included.
pub const PHYSICAL: &str = "the number of elements with padding";

/// Returns the product of sizes. A constructor has checked that the product fits 64 bits.
pub(crate) fn element_count(sizes: &[u64]) -> u64 {
    if sizes.contains(&0) {
        return 0;
    }
    sizes.iter().fold(1, |product: u64, &size| product.times(size))
}

#[cold]
pub(crate) fn overflow(quantity: &'static str, bits: u32) -> Error {
    Error::overflow(quantity, bits)
}

/// Returns the sum of two numbers. `quantity` says what the sum is, for the error message.
///
/// # Errors
///
/// `overflow` if the sum passes 64 bits.
pub fn add(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_add(b).ok_or_else(|| overflow(quantity, 64))
}

/// Returns the product of two numbers. `quantity` says what the product is, for the error message.
///
/// # Errors
///
/// `overflow` if the product passes 64 bits.
pub fn mul(a: u64, b: u64, quantity: &'static str) -> Result<u64, Error> {
    a.checked_mul(b).ok_or_else(|| overflow(quantity, 64))
}

/// Returns the product of two numbers of 64 bits, which always fits 128 bits.
#[inline]
pub fn wide_product(a: u64, b: impl Into<u64>) -> u128 {
    u128::from(a).wrapping_mul(b.into().into())
}

/// Returns the greatest common divisor, with the sign of `a` or of `b`. The divisor of a number and 0 is the
/// number.
pub fn gcd<T: PrimInt>(mut a: T, mut b: T) -> T {
    while !b.is_zero() {
        (a, b) = (b, a.modulo(b));
    }
    a
}

/// Moves to the next index in row-major order, or from the last one to 0, with false. No size may be 0.
pub fn next_index<T: PrimInt>(index: &mut [T], sizes: &[T]) -> bool {
    for (i, &size) in index.iter_mut().zip(sizes).rev() {
        *i = i.plus(T::one());
        if *i < size {
            return true;
        }
        *i = T::zero();
    }
    false
}

/// Returns the least common multiple. Returns `None` if it does not fit 64 bits, or if both numbers are 0.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    a.checked_div(gcd(a, b))?.checked_mul(b)
}

pub(crate) fn product(factors: &[u64], quantity: &'static str) -> Result<u64, Error> {
    if factors.contains(&0) {
        return Ok(0);
    }
    factors.iter().try_fold(1, |product, &factor| mul(product, factor, quantity))
}

/// Returns `value`, rounded up to a multiple of `multiple`. `quantity` says what the number is.
///
/// # Errors
///
/// `overflow` if the result does not fit 64 bits.
// Proved for every input (proofs/lemmas.py):
// * round_up.least: an answer is not smaller, and less than a multiple larger.
// * round_up.multiple: an answer is the multiple at or below the value, or the next one.
// * round_up.fixed: a multiple is its own answer.
// * round_up.error: an error comes only for 0, or where the next multiple passes 64 bits.
// * round_up.monotonic: a larger value has no smaller answer.
pub fn round_up(value: u64, multiple: u64, quantity: &'static str) -> Result<u64, Error> {
    value.checked_next_multiple_of(multiple).ok_or_else(|| overflow(quantity, 64))
}

/// Converts a number to another integer type. `quantity` says what the number is, for the error message.
///
/// # Errors
///
/// `overflow` if the number does not fit the type; the error also names the bits of the type.
pub fn narrow<T: PrimInt>(value: impl PrimInt, quantity: &'static str) -> Result<T, Error> {
    T::from(value).ok_or_else(|| overflow(quantity, bits_of::<T>()))
}

fn bits_of<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX).saturating_mul(8)
}

/// Refuses an order that does not name each of `rank` axes once. There are as many entries as axes.
#[inline]
pub(crate) fn check_permutation(what: &'static str, order: &[usize], rank: usize) -> Result<(), Error> {
    // Each axis is one bit. An order of up to 64 axes sets one bit for each axis, and needs no search.
    let seen = order.iter().fold(0_u64, |seen, &axis| {
        let bit = u32::try_from(axis).ok().filter(|_| axis < rank).and_then(|axis| 1_u64.checked_shl(axis));
        seen | bit.unwrap_or(0)
    });
    if usize::try_from(seen.count_ones()) == Ok(rank) { Ok(()) } else { search_permutation(what, order, rank) }
}

#[cold]
fn search_permutation(what: &'static str, order: &[usize], rank: usize) -> Result<(), Error> {
    let mut seen = SmallVec::<[bool; 8]>::from_elem(false, rank);
    for (position, &axis) in order.iter().enumerate() {
        match seen.get_mut(axis) {
            None => return Err(Error::axis_out_of_range(axis, rank)),
            Some(true) => return Err(Code::NotAPermutation.on_axis(axis, len_u64(position), 0).with_subject(what)),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

/// Returns the position of each of `rank` axes in `order`, which must name every axis once.
pub(crate) fn inverse_permutation(order: &[usize], rank: usize) -> Result<SmallVec<[usize; 8]>, Error> {
    if order.len() != rank {
        return Err(Error::rank_mismatch("axes in the order", rank, order.len()));
    }
    check_permutation("the order", order, rank)?;
    let mut place_of: SmallVec<[usize; 8]> = SmallVec::from_elem(0, rank);
    for (position, &axis) in order.iter().enumerate() {
        if let Some(place) = place_of.get_mut(axis) {
            *place = position;
        }
    }
    Ok(place_of)
}

/// Returns the number of bytes that `elements` of `bits` bits take, rounded up to a whole byte.
///
/// # Errors
///
/// `overflow` if the number of bytes passes 64 bits.
// Proved for every input (proofs/lemmas.py):
// * bytes_for.least: the bytes hold all bits, and one byte fewer does not.
// * bytes_for.zero: only 0 elements take 0 bytes.
// * bytes_for.error: an error comes only where the bytes pass 64 bits.
pub fn bytes_for(elements: u64, bits: u32) -> Result<u64, Error> {
    narrow(wide_product(elements, bits).div_ceil(8), BYTES)
}

/// Whether two short lists are equal: `==` of slices calls `memcmp`, which takes longer for a few numbers.
#[inline]
pub(crate) fn is_same<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

#[inline]
pub(crate) fn zeros(rank: usize) -> Dims {
    // A short list is a copy of zeros. `from_elem` would write one number after the other.
    if rank <= 8 { Dims::from_buf_and_len([0; 8], rank) } else { Dims::from_elem(0, rank) }
}

//! Sizes and strides as numbers: integers of any type, and how many elements and bytes follow from them.

use crate::checked::{self, BYTES, Dims, ELEMENTS, OFFSET, zeros};
use crate::error::Error;

/// A size, a stride or an index of any integer type. Types that do not convert exactly, such as floats, are
/// no integers.
///
/// ```
/// use tensor_layout::{strided::Integer, BufferTensorDesc, DataType, Error};
///
/// /// The bytes of a tensor of an engine, which counts in its own type.
/// fn bytes<T: Integer>(shape: &[T]) -> Result<u64, Error> {
///     Ok(BufferTensorDesc::packed(DataType::F16, shape)?.min_size_in_bytes())
/// }
/// assert_eq!((bytes(&[2_usize, 3])?, bytes(&[2_i64, 3])?), (12, 12));
/// # Ok::<(), Error>(())
/// ```
pub trait Integer: Copy + TryInto<i128> {}

impl<T: Copy + TryInto<i128>> Integer for T {}

#[inline]
pub(crate) fn sizes_of<T: Integer>(sizes: &[T]) -> Result<Dims, Error> {
    let mut converted = zeros(sizes.len());
    match first_that_does_not_fit(sizes, &mut converted) {
        None => Ok(converted),
        Some((axis, size)) => Err(natural("sizes", "one of the sizes", axis, size)),
    }
}

/// An index that does not fit a `u64` becomes `u64::MAX`, which is past the end of every axis.
#[inline]
pub(crate) fn index_of<T: Integer>(index: T) -> u64 {
    index.try_into().ok().and_then(|index: i128| u64::try_from(index).ok()).unwrap_or(u64::MAX)
}

/// Writes the numbers to `converted` until one does not fit a `u64`, and returns that one. A `Result` for
/// each number would take four times as long.
#[inline]
pub(super) fn first_that_does_not_fit<T: Integer>(numbers: &[T], converted: &mut [u64]) -> Option<(usize, T)> {
    for (axis, (&number, slot)) in numbers.iter().zip(converted).enumerate() {
        match number.try_into().ok().and_then(|number: i128| u64::try_from(number).ok()) {
            Some(fitting) => *slot = fitting,
            None => return Some((axis, number)),
        }
    }
    None
}

#[cold]
pub(super) fn natural<T: Integer>(what: &'static str, one_of_them: &'static str, axis: usize, number: T) -> Error {
    match number.try_into() {
        Ok(number) if number < 0_i128 => Error::negative(what, axis),
        _ => Error::overflow(one_of_them, 64),
    }
}

/// Sets packed strides, and returns the number of elements.
pub(super) fn pack(sizes: &[u64], strides: &mut [u64]) -> Result<u64, Error> {
    let mut next = 1_u64;
    let (mut wrapped, mut empty) = (false, false);
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = next;
        empty |= size == 0;
        let (product, overflow) = next.overflowing_mul(size.max(1));
        wrapped |= overflow;
        next = if overflow { u64::MAX } else { product };
    }
    if wrapped && !empty {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    Ok(if empty { 0 } else { next })
}

/// Returns the number of elements, and the span: one past the largest offset, or 0 without elements. The loop
/// records an overflow and continues, because a loop without exits is faster. Descriptors are made in inner
/// loops, and this takes most of the time.
///
/// The product of the sizes must fit 64 bits even if a stride of 0 makes the span small, because element
/// counts are `u64`. In an empty tensor, the other sizes and the strides do not count, because no
/// element uses them.
#[inline]
// Proved for every input (proofs/lemmas.py):
// * calc_buffer_tensor_size.error: for the number of bytes, an error comes only where a step of the exact
//   formula passes 64 bits, for 1 to 8 axes.
pub(super) fn extent(sizes: &[u64], strides: &[u64]) -> Result<(u64, u64), Error> {
    let (mut elements, mut last) = (1_u64, 0_u64);
    let (mut count_overflows, mut offset_overflows, mut empty) = (false, false, false);
    for (&size, &stride) in sizes.iter().zip(strides) {
        empty |= size == 0;
        let (product, wrapped) = elements.overflowing_mul(size.max(1));
        elements = product;
        count_overflows |= wrapped;
        let (last_of_axis, wrapped) = stride.overflowing_mul(size.saturating_sub(1));
        let (sum, wrapped_sum) = last.overflowing_add(last_of_axis);
        last = sum;
        offset_overflows |= wrapped | wrapped_sum;
    }
    if empty {
        return Ok((0, 0));
    }
    if count_overflows {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    if offset_overflows {
        return Err(Error::overflow(OFFSET, 64));
    }
    Ok((elements, checked::add(last, 1, ELEMENTS)?))
}

#[inline]
// Proved for every input (proofs/lemmas.py):
// * calc_buffer_tensor_size.exact: an answer is `round4(ceil((1 + sum((size - 1) * stride)) * bits / 8))`,
//   for 1 to 8 axes.
pub(super) fn size_in_bytes(elements: u64, bits: u32) -> Result<u64, Error> {
    let bytes = match elements.checked_mul(bits.into()) {
        Some(all) => all.div_ceil(8),
        None => checked::bytes_for(elements, bits)?,
    };
    checked::round_up(bytes, 4, BYTES)
}

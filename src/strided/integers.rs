//! Integers of any type, as sizes, strides and indices.

use crate::checked::{Dims, zeros};
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

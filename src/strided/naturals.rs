//! Converts sizes and strides of any integer type.

use crate::checked::{self, Dims};
use crate::error::Error;

/// Converts the numbers to `u64`. An integer that does not fit an `i128` does not fit a `u64` either.
#[inline]
pub(super) fn naturals<T: Copy + TryInto<i128>>(
    what: &'static str,
    one_of_them: &'static str,
    numbers: &[T],
) -> Result<Dims, Error> {
    let mut converted = Dims::from_elem(0, numbers.len());
    match first_that_does_not_fit(numbers, &mut converted) {
        None => Ok(converted),
        Some((axis, number)) => natural(what, one_of_them, axis, number).map(|_| converted),
    }
}

/// Writes the numbers to `converted`, a slice of the same length, until a number does not fit a `u64`.
/// Returns that number and its position. Descriptors are made in inner loops, and a `Result` for each number
/// takes four times as long.
#[inline]
pub(super) fn first_that_does_not_fit<T: Copy + TryInto<i128>>(
    numbers: &[T],
    converted: &mut [u64],
) -> Option<(usize, T)> {
    for (axis, (&number, slot)) in numbers.iter().zip(converted).enumerate() {
        match number.try_into().ok().and_then(|number: i128| u64::try_from(number).ok()) {
            Some(fitting) => *slot = fitting,
            None => return Some((axis, number)),
        }
    }
    None
}

#[cold]
pub(super) fn natural<T: TryInto<i128>>(
    what: &'static str,
    one_of_them: &'static str,
    axis: usize,
    number: T,
) -> Result<u64, Error> {
    match number.try_into() {
        Ok(number) if number < 0_i128 => Err(Error::negative(what, axis)),
        Ok(number) => checked::narrow(number, one_of_them),
        Err(_) => Err(Error::overflow(one_of_them, 64)),
    }
}

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
    numbers.iter().enumerate().map(|(axis, &number)| natural(what, one_of_them, axis, number)).collect()
}

#[inline]
pub(super) fn natural<T: TryInto<i128>>(
    what: &'static str,
    one_of_them: &'static str,
    axis: usize,
    number: T,
) -> Result<u64, Error> {
    match number.try_into() {
        Ok(number) if number < 0_i128 => Err(Error::negative(what, axis)),
        Ok(number) => checked::narrow(number, one_of_them),
        Err(_) => Err(Error::Overflow { quantity: one_of_them, bits: 64 }),
    }
}

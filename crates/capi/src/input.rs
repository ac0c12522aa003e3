//! Reads the arguments of C: lists, texts and handles. Each pointer is checked before it is followed.

use std::ffi::c_char;
use std::slice;

use tensor_layout::Error;

use crate::error::Refusal;

/// The most axes of a tensor, and the most numbers of any other list. A larger number is an error of the
/// caller.
const MOST_NUMBERS: usize = 65_536;

const MOST_TEXT: usize = 1 << 20;

fn check_length(what: &'static str, length: usize, most: usize) -> Result<(), Refusal> {
    if length <= most {
        return Ok(());
    }
    let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
    Err(Error::out_of_limits(what, number(length), 0, number(most)).into())
}

/// Returns a list of numbers. The pointer of an empty list may be null.
///
/// # Safety
///
/// Unless `length` is 0, `start` must be null, or valid for reads of `length` numbers. The numbers must not
/// change during the call.
pub(crate) unsafe fn list<'a, T>(what: &'static str, start: *const T, length: usize) -> Result<&'a [T], Refusal> {
    if length == 0 {
        return Ok(&[]);
    }
    check_length(what, length, MOST_NUMBERS)?;
    if start.is_null() || !start.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: the pointer is not null, aligned, and readable by the contract. The length is far below
    // `isize::MAX`.
    Ok(unsafe { slice::from_raw_parts(start, length) })
}

/// Returns a text in UTF-8.
///
/// # Safety
///
/// The contract of [`list`].
pub(crate) unsafe fn text<'a>(what: &'static str, start: *const c_char, length: usize) -> Result<&'a str, Refusal> {
    if length == 0 {
        return Ok("");
    }
    check_length(what, length, MOST_TEXT)?;
    if start.is_null() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: the pointer is not null, and readable by the contract. A byte has no alignment.
    let bytes = unsafe { slice::from_raw_parts(start.cast::<u8>(), length) };
    std::str::from_utf8(bytes).map_err(|error| {
        let column = error.valid_up_to().saturating_add(1);
        let text = String::from_utf8_lossy(bytes).into_owned();
        Error::parse(text, column, "UTF-8", "another byte").into()
    })
}

/// Returns the object that a handle, or another pointer from this library, points to.
///
/// # Safety
///
/// `pointer` must be null or point to a `T` that lives and does not change during the call.
pub(crate) unsafe fn reference<'a, T>(what: &'static str, pointer: *const T) -> Result<&'a T, Refusal> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: the pointer is not null, aligned, and valid by the contract.
    Ok(unsafe { &*pointer })
}

/// Writes an answer of a call to the caller's memory.
///
/// # Safety
///
/// `pointer` must be null or valid for a write of a `T`.
pub(crate) unsafe fn answer<T>(what: &'static str, pointer: *mut T, value: T) -> Result<(), Refusal> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: the pointer is not null, aligned, and writable by the contract.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes a list of answers to the caller's memory. `length` must be the number of answers.
///
/// # Safety
///
/// Unless `length` is 0, `start` must be null or valid for writes of `length` numbers.
pub(crate) unsafe fn answers<T: Copy>(
    what: &'static str,
    start: *mut T,
    length: usize,
    values: &[T],
) -> Result<(), Refusal> {
    if values.len() != length {
        let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
        let (value, exact) = (number(length), number(values.len()));
        return Err(Error::out_of_limits(what, value, exact, exact).into());
    }
    if length > 0 && (start.is_null() || !start.is_aligned()) {
        return Err(Refusal::Pointer(what));
    }
    for (place, &value) in values.iter().enumerate() {
        // SAFETY: `place` is below `length`, and the contract promises memory for `length` numbers.
        unsafe { start.add(place).write(value) };
    }
    Ok(())
}

//! What C passes in: lists, texts and handles, each checked before it is followed.

use std::ffi::c_char;
use std::slice;

use tensor_layout::Error;

use crate::error::Refusal;

/// The most axes of a tensor, and the most numbers of any other list: more is a mistake of the caller.
const MOST_NUMBERS: usize = 65_536;

/// The most bytes of a text.
const MOST_TEXT: usize = 1 << 20;

fn check_length(what: &'static str, length: usize, most: usize) -> Result<(), Refusal> {
    if length <= most {
        return Ok(());
    }
    let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
    Err(Error::OutOfLimits { what, value: number(length), min: 0, max: number(most) }.into())
}

/// A list of numbers; null is right for an empty one.
///
/// # Safety
///
/// Unless `length` is 0, `start` must be null, or valid for reads of `length` numbers that do not change
/// during the call.
pub(crate) unsafe fn list<'a, T>(what: &'static str, start: *const T, length: usize) -> Result<&'a [T], Refusal> {
    if length == 0 {
        return Ok(&[]);
    }
    check_length(what, length, MOST_NUMBERS)?;
    if start.is_null() || !start.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: not null, aligned, and readable by the contract. The length is far below `isize::MAX`.
    Ok(unsafe { slice::from_raw_parts(start, length) })
}

/// A text in UTF-8.
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
    // SAFETY: not null, and readable by the contract; a byte has no alignment.
    let bytes = unsafe { slice::from_raw_parts(start.cast::<u8>(), length) };
    std::str::from_utf8(bytes).map_err(|error| {
        let column = error.valid_up_to().saturating_add(1);
        let text = String::from_utf8_lossy(bytes).into_owned();
        Error::Parse { text, column, expected: "UTF-8".into(), found: "another byte".into() }.into()
    })
}

/// What a handle or another pointer to something this library made points to.
///
/// # Safety
///
/// `pointer` must be null or point to a `T` that lives and does not change during the call.
pub(crate) unsafe fn reference<'a, T>(what: &'static str, pointer: *const T) -> Result<&'a T, Refusal> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: not null, aligned, and valid by the contract.
    Ok(unsafe { &*pointer })
}

/// Where an answer goes.
///
/// # Safety
///
/// `pointer` must be null or valid for a write of a `T`.
pub(crate) unsafe fn answer<T>(what: &'static str, pointer: *mut T, value: T) -> Result<(), Refusal> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Refusal::Pointer(what));
    }
    // SAFETY: not null, aligned, and writable by the contract.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Where a list of answers goes: exactly as many as there is room for.
///
/// # Safety
///
/// Unless `length` is 0, `start` must be null or valid for writes of `length` numbers.
pub(crate) unsafe fn answers(
    what: &'static str,
    start: *mut u64,
    length: usize,
    values: &[u64],
) -> Result<(), Refusal> {
    if values.len() != length {
        let number = |number| u64::try_from(number).unwrap_or(u64::MAX);
        let (value, exact) = (number(length), number(values.len()));
        return Err(Error::OutOfLimits { what, value, min: exact, max: exact }.into());
    }
    if length > 0 && (start.is_null() || !start.is_aligned()) {
        return Err(Refusal::Pointer(what));
    }
    for (place, &value) in values.iter().enumerate() {
        // SAFETY: below `length`, for which the contract gives room.
        unsafe { start.add(place).write(value) };
    }
    Ok(())
}

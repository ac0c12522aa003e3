//! C interfaces: structures with pointers to lists that belong to a value of this crate, and lists that are a
//! pointer and a length.
#![allow(unsafe_code, reason = "a list of a C interface is a raw pointer")]

use core::marker::PhantomData;
use core::ops::Deref;
use core::slice;

use crate::checked::{len_u64, narrow};
use crate::error::{Code, Error};

/// A C structure whose pointers are valid while the value that lent it is borrowed.
///
/// A copy of the structure may outlive the lists, so reading through its pointers is unsafe.
#[derive(Debug, Clone, Copy)]
pub struct Lent<'a, T> {
    raw: T,
    owner: PhantomData<&'a ()>,
}

impl<T> Lent<'_, T> {
    pub(super) fn new(raw: T) -> Self {
        Lent { raw, owner: PhantomData }
    }
}

/// The structure to pass to a C function, by pointer.
impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

/// The most numbers of a list that is read. A longer list is refused.
const MAX_LENGTH: usize = 1 << 16;

/// Returns the `length` numbers at `start`. The pointer of an empty list is not checked.
///
/// # Errors
///
/// `bad_pointer` for a pointer that is null or not aligned; `out_of_limits` for more than 65,536 numbers.
///
/// # Safety
///
/// `start` must be null, unaligned, or valid for reads of `length` numbers. The numbers must not change as
/// long as the slice lives.
pub(super) unsafe fn list<'a, T>(what: &'static str, start: *const T, length: usize) -> Result<&'a [T], Error> {
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() || !start.is_aligned() {
        return Err(Code::BadPointer.for_value(0, len_u64(align_of::<T>())).with_subject(what));
    }
    if length > MAX_LENGTH {
        let what = "the length of a list";
        return Err(Error::out_of_limits(what, narrow(length, what)?, 0, narrow(MAX_LENGTH, what)?));
    }
    // SAFETY: the pointer is not null and aligned. At most `MAX_LENGTH` numbers are read, so their bytes fit
    // an `isize`. The caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(start, length) })
}

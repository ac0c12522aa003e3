//! Statuses and errors: a code for programs, a sentence for people, and no panic that leaves the library.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use tensor_layout::{Error, ErrorKind};

/// The result of a call. Every status except `TL_STATUS_OK` fills in a `TlError`, if the caller passed one.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlStatus {
    /// The call succeeded and wrote its answer.
    Ok = 0,
    /// A text does not follow its grammar, or has an unknown name.
    Parse = 1,
    /// Arguments contradict each other, or a pointer is bad.
    InvalidArgument = 2,
    /// An axis, an index or another number is outside its range.
    OutOfRange = 3,
    /// A size or an offset does not fit its integer type.
    Overflow = 4,
    /// A data type or a width is not supported by this function.
    Unsupported = 5,
    /// The view or description does not exist, although the request is valid.
    NotExpressible = 6,
    /// A search was stopped at its work limit.
    Undecided = 7,
    /// A buffer is too short for its layout.
    Buffer = 8,
    /// Elements that are written share memory with others.
    Overlap = 9,
    /// A rule of a device is broken.
    DeviceLimit = 10,
    /// Any other error. Its code names the kind of error.
    Other = 11,
    /// A defect of this library: it panicked, and no answer was written.
    Panic = 12,
}

/// The details of an error. The caller owns the structure. A call that succeeds does not write to it.
#[repr(C)]
pub struct TlError {
    /// A stable code for programs, such as `rank_mismatch`, ended by a zero byte.
    pub code: [c_char; 48],
    /// A sentence in UTF-8, ended by a zero byte and cut off if it is too long.
    pub text: [c_char; 456],
    /// The byte at which a text is wrong, counted from 1. It is 0 for other errors.
    pub column: u64,
}

/// The reason why a call is refused.
pub(crate) enum Refusal {
    Library(Error),
    /// A pointer is null or not aligned. The value is the name of its argument.
    Pointer(&'static str),
    /// The two buffers of a copy share bytes.
    SharedMemory,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Library(error)
    }
}

impl Refusal {
    fn parts(&self) -> (TlStatus, &str, String, u64) {
        match self {
            Refusal::Pointer(argument) => {
                let text = format!("`{argument}` is null, or not aligned for its type");
                (TlStatus::InvalidArgument, "bad_pointer", text, 0)
            }
            Refusal::SharedMemory => {
                (TlStatus::Overlap, "shared_memory", "the source and the destination share bytes".into(), 0)
            }
            Refusal::Library(error) => {
                let column = error.column().and_then(|column| u64::try_from(column).ok());
                (status_of(error.kind()), error.code(), error.to_string(), column.unwrap_or(0))
            }
        }
    }
}

fn status_of(kind: ErrorKind) -> TlStatus {
    match kind {
        ErrorKind::Parse => TlStatus::Parse,
        ErrorKind::InvalidArgument => TlStatus::InvalidArgument,
        ErrorKind::OutOfRange => TlStatus::OutOfRange,
        ErrorKind::Overflow => TlStatus::Overflow,
        ErrorKind::Unsupported => TlStatus::Unsupported,
        ErrorKind::NotExpressible => TlStatus::NotExpressible,
        ErrorKind::Undecided => TlStatus::Undecided,
        ErrorKind::Buffer => TlStatus::Buffer,
        ErrorKind::Overlap => TlStatus::Overlap,
        ErrorKind::DeviceLimit => TlStatus::DeviceLimit,
        _ => TlStatus::Other,
    }
}

/// Runs the work of a call, and writes to `error` why it failed. A panic is caught here. The work holds no
/// lock and changes none of the caller's data before its last step, so a panic leaves nothing half done.
///
/// # Safety
///
/// `error` must be null or valid for a write of a `TlError`.
pub(crate) unsafe fn guarded(error: *mut TlError, work: impl FnOnce() -> Result<(), Refusal>) -> TlStatus {
    let (status, code, text, column) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return TlStatus::Ok,
        Ok(Err(refusal)) => {
            let (status, code, text, column) = refusal.parts();
            (status, code.to_owned(), text, column)
        }
        Err(_) => (TlStatus::Panic, "panic".to_owned(), "a defect of tensor-layout: please report it".to_owned(), 0),
    };
    if !error.is_null() && error.is_aligned() {
        let mut said = TlError { code: [0; 48], text: [0; 456], column };
        write_text(&mut said.code, &code);
        write_text(&mut said.text, &text);
        // SAFETY: the caller promises that `error` is null or points to a `TlError`. The pointer was checked
        // to be neither null nor misaligned.
        unsafe { ptr::write(error, said) };
    }
    status
}

/// Runs a call that returns its answer and no status. The answer of a call that is refused, or panics, is 0
/// or empty.
pub(crate) fn guarded_answer<T: Default>(work: impl FnOnce() -> Result<T, Refusal>) -> T {
    let mut found = T::default();
    let work = || {
        found = work()?;
        Ok(())
    };
    // SAFETY: nothing is written to an `error` that is null.
    unsafe { guarded(ptr::null_mut(), work) };
    found
}

/// Writes as much of a text as fits, and never a part of a character. The last byte stays zero.
fn write_text(room: &mut [c_char], text: &str) {
    let most = room.len().saturating_sub(1);
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    for (place, byte) in room.iter_mut().zip(text.bytes().take(end)) {
        *place = c_char::from_ne_bytes([byte]);
    }
}

//! Statuses and errors: a code for programs, a sentence for people, and no panic past the border.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use tensor_layout::{Error, ErrorKind};

/// How a call ended. Everything but `TL_STATUS_OK` comes with a `TlError`, if the caller gave one.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlStatus {
    /// The answer was written.
    Ok = 0,
    /// Text that does not follow its grammar, or an unknown name.
    Parse = 1,
    /// Arguments that contradict each other, or a bad pointer.
    InvalidArgument = 2,
    /// An axis, an index or another number outside its range.
    OutOfRange = 3,
    /// A size or an offset that does not fit its integer type.
    Overflow = 4,
    /// A data type or a width that cannot be handled here.
    Unsupported = 5,
    /// A sensible question with the answer no: there is no such view or description.
    NotExpressible = 6,
    /// A search that was stopped at its work limit.
    Undecided = 7,
    /// A buffer that is too short for its layout.
    Buffer = 8,
    /// Elements that are written share memory with others.
    Overlap = 9,
    /// Something a device does not accept.
    DeviceLimit = 10,
    /// Any other error: its code says which.
    Other = 11,
    /// A defect of this library, caught at the border. The answer was not written.
    Panic = 12,
}

/// What went wrong. The caller owns it; a call that succeeds does not touch it.
#[repr(C)]
pub struct TlError {
    /// A stable word for programs, such as `rank_mismatch`, ended by a zero byte.
    pub code: [c_char; 48],
    /// A sentence in UTF-8, ended by a zero byte and cut off if it is longer.
    pub text: [c_char; 456],
    /// Where a text is wrong: bytes from its start, the first is 1; 0 for other errors.
    pub column: u64,
}

/// Why a call is refused.
pub(crate) enum Refusal {
    Library(Error),
    /// A pointer that is null or not aligned, by the name of its argument.
    Pointer(&'static str),
    /// Both buffers of a copy have bytes in common.
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

/// Runs the work of a call, and says in `error` why it failed. A panic ends here: the work holds no lock and
/// changes nothing of the caller's before its last step, so nothing is left half done.
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
        // SAFETY: the caller says that `error` is null or points to a `TlError`; it was checked to be neither
        // null nor misaligned.
        unsafe { ptr::write(error, said) };
    }
    status
}

/// Writes as much of a text as there is room for, cut between characters. The last byte stays zero.
fn write_text(room: &mut [c_char], text: &str) {
    let most = room.len().saturating_sub(1);
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    for (place, byte) in room.iter_mut().zip(text.bytes().take(end)) {
        *place = c_char::from_ne_bytes([byte]);
    }
}

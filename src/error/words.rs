//! The stable codes of the errors, and the sentences of the errors.

use crate::exact::Exact;
use alloc::format;
use alloc::string::String;
use core::fmt;

use super::Error;

impl Error {
    /// A stable word for the error. The word is part of the interface and does not change when a sentence is
    /// reworded.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Overflow { .. } => "overflow",
            Error::UnsupportedDataType { .. } => "unsupported_data_type",
            Error::DataTypeMismatch { .. } => "data_type_mismatch",
            Error::Parse { .. } => "parse",
            Error::BufferTooShort { offset: None, .. } => "buffer_too_short",
            Error::BufferTooShort { offset: Some(_), .. } => "binding_outside_buffer",
            Error::OverlappingDestination { .. } => "overlapping_destination",
            Error::Undecided { .. } => "undecided",
            Error::NotExpressible { .. } => "not_expressible",
            Error::FillTooWide { .. } => "fill_too_wide",
            Error::NotAView { .. } => "not_a_view",
            Error::OutOfLimits { .. } => "out_of_limits",
            Error::Model(fault) => fault.code(),
            Error::UnknownName { code, .. } => code,
            Error::InvalidArgument { rule, .. } => rule.code(),
            Error::DeviceLimit { rule, .. } => rule.code(),
            Error::BindingConflict { byte: Some(_), .. } => "bindings_overlap",
            Error::BindingConflict { byte: None, .. } => "buffer_read_and_written",
        }
    }

    /// The column that a parse error points at, in bytes. The first byte of the text is column 1.
    ///
    /// ```
    /// let error = "f32[3,5]{1,0:T(2,x)}".parse::<tensor_layout::ArrayShape>().unwrap_err();
    /// assert_eq!(error.column(), Some(18));
    /// println!("{error}\n{}", error.pointer().unwrap()); // the text, with a mark below the place
    /// let other = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::F32, &[u64::MAX, 2]).unwrap_err();
    /// assert_eq!((other.code(), other.kind(), other.column()), ("overflow", tensor_layout::ErrorKind::Overflow, None));
    /// ```
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self {
            Error::Parse { column, .. } => Some(*column),
            _ => None,
        }
    }
}

/// Returns two lines for a terminal: the text, and a caret under the column of a parse error.
pub(crate) fn caret(text: &str, column: usize) -> String {
    let before = column.minus(1);
    format!("{text}\n{:before$}^", "")
}

impl Error {
    /// Returns the text of a parse error, with a caret under the byte where reading stopped. Returns `None`
    /// for other errors.
    ///
    /// ```
    /// let error = "f32[2,3".parse::<tensor_layout::ArrayShape>().unwrap_err();
    /// assert_eq!(error.pointer().unwrap(), "f32[2,3\n       ^");
    /// ```
    #[must_use]
    pub fn pointer(&self) -> Option<String> {
        match self {
            Error::Parse { text, column, .. } => Some(caret(text, *column)),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Overflow { quantity, bits } => write!(f, "{quantity} does not fit into {bits} bits"),
            Error::UnsupportedDataType { data_type, by } => write!(f, "{by} has no data type for {data_type}"),
            Error::DataTypeMismatch { expected, found } => {
                write!(
                    f,
                    "the data type is {found}, but {expected} was expected: elements are moved, never converted"
                )?;
                let narrow = |name: &str| matches!(name, "s1" | "s2" | "s4" | "u1" | "u2" | "u4");
                match (narrow(expected), narrow(found)) {
                    (true, false) | (false, true) => {
                        f.write_str(" (a byte for each element of a type below a byte is said by `with_byte_elements`)")
                    }
                    _ => Ok(()),
                }
            }
            Error::Parse { text, column, expected, found } => {
                write!(f, "column {column} of `{text}`: expected {expected}, found {found}")
            }
            Error::BufferTooShort { what, offset: None, needed, found } => {
                write!(f, "the {what} holds {found} bytes, but its layout needs {needed}")
            }
            Error::BufferTooShort { what, offset: Some(offset), needed, found } => write!(
                f,
                "the binding takes {needed} bytes from byte {offset}, which passes the end of the {what} at {found}"
            ),
            Error::OverlappingDestination { first, second, offset } => write!(
                f,
                "the destination overlaps itself: indices {first:?} and {second:?} are both stored at element {offset}"
            ),
            Error::Undecided { question, work } => {
                write!(f, "could not decide {question} within {work} search steps")
            }
            Error::NotExpressible { target, reason } => write!(f, "no {target} describes this layout: {reason}"),
            Error::FillTooWide { pattern, bits } => {
                write!(f, "the pattern {pattern:#x} does not fit into an element of {bits} bits")
            }
            Error::NotAView { operation, axis, reason } => {
                write!(f, "{operation} is not possible without moving data: axis {axis} {reason}")
            }
            Error::OutOfLimits { what, value, min, max } => {
                write!(f, "{what} is {value}, but must be between {min} and {max}")
            }
            Error::Model(fault) => fault.fmt(f),
            Error::UnknownName { name, reason, .. } => write!(f, "`{name}` {reason}"),
            Error::InvalidArgument { rule, what, axis, value, limit } => rule.sentence(f, what, *axis, *value, *limit),
            Error::DeviceLimit { rule, axis, value, least, limit, bits } => {
                rule.sentence(f, *axis, *value, [*least, *limit], *bits)
            }
            Error::BindingConflict { first, second, byte: Some(byte) } => write!(
                f,
                "bindings {first} and {second} share byte {byte} of their buffer, and at least one of them is written"
            ),
            Error::BindingConflict { first, second, byte: None } => write!(
                f,
                "bindings {first} and {second} read and write one buffer in one dispatch, which the device refuses however far apart they are"
            ),
        }
    }
}

impl core::error::Error for Error {}

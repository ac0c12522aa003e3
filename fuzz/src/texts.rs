//! What is read is written and read back.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use tensor_layout::Error;

/// Reads a text; what comes out of it has a text, which reads back to it. A refusal names a column in the
/// text, or just after.
pub fn read<T: Display + Debug + PartialEq + FromStr<Err = Error>>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            assert_eq!(written.parse::<T>().as_ref(), Ok(&value), "{written}");
            Some(value)
        }
        Err(error) => {
            refusal(&error, text);
            None
        }
    }
}

/// A refusal has a code, and a column in the text if it has one.
pub fn refusal(error: &Error, text: &str) {
    let column = error.column().unwrap_or(1);
    assert!((1..=text.len() + 1).contains(&column), "{text:?}: {error}");
    assert!(!error.code().is_empty());
}

/// The beginning of the bytes that is text.
pub fn of_bytes(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

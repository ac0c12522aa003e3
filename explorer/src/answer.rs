//! What all answers share.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_text::{Layout, read_list};

/// An answer, or why there is none, as text.
pub(crate) fn text(answer: Result<Value, Error>) -> String {
    answer.unwrap_or_else(|error| json!({ "error": fault(&error) })).to_string()
}

/// An error, with the column it points at.
pub(crate) fn fault(error: &Error) -> Value {
    json!({ "message": error.to_string(), "code": error.code(), "column": error.column() })
}

/// A layout in any notation, without blanks around it.
pub(crate) fn read(layout: &str) -> Result<Layout, Error> {
    layout.parse()
}

/// Numbers as decimal strings.
pub(crate) fn list<'a>(numbers: impl IntoIterator<Item = &'a u64>) -> Value {
    numbers.into_iter().map(|number| Value::from(number.to_string())).collect()
}

pub(crate) fn with(mut answer: Value, field: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(fields) = &mut answer {
        fields.insert(field.to_owned(), value.into());
    }
    answer
}

/// One number; an empty text is `None`.
pub(crate) fn number(text: &str, what: &str) -> Result<Option<u64>, Error> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match read_list(text, what)?.as_slice() {
        [number] => Ok(Some(*number)),
        _ => Err(Error::parse(text.to_owned(), 1, what.to_owned(), "a list")),
    }
}

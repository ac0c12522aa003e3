//! Names of memories, shares and numbers of bytes in words.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::plan::counted;

use crate::{memory_name, short_bytes};

pub(super) fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(super) fn space_name(space: u64, is_for_tpu: bool) -> String {
    memory_name(space, is_for_tpu).map_or_else(|| format!("S({space})"), str::to_owned)
}

/// Writes a number of bytes in full and in short: `4096 bytes (4.0 KiB)`.
pub(super) fn long_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        _ => format!("{} ({})", counted(bytes, "byte"), short_bytes(bytes)),
    }
}

/// Writes the share of `whole` that is `part`, in percent: `37.5%`.
pub(super) fn percent(part: u128, whole: u128) -> String {
    let rounded = part.saturating_mul(1000).saturating_add(whole.div_euclid(2));
    let tenths = rounded.checked_div(whole).unwrap_or(0);
    format!("{}.{}%", tenths.div_euclid(10), tenths.rem_euclid(10))
}

/// Returns the name with `*` for each number in it: `layers.*.weight`.
pub(super) fn pattern(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if text.ends_with('*') => {}
            '0'..='9' => text.push('*'),
            other => text.push(other),
        }
    }
    text
}

/// Returns the tuple index of a part of a result as XLA writes it: `{1}{0}`.
pub(super) fn tuple_index(index: &[usize]) -> String {
    index.iter().map(|element| format!("{{{element}}}")).collect()
}

pub(super) fn error_value(error: &Error) -> Value {
    json!({ "code": error.code(), "message": error.to_string(), "column": error.column() })
}

/// Adds the entries of the object `more` to an object.
pub(super) fn joined(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

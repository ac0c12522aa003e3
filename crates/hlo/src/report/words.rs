//! Names of memories in words, and objects of a report.

use serde_json::{Value, json};
use tensor_layout::Error;
pub(super) use tensor_layout::plan::counted;
pub(super) use tensor_layout::words::{long_bytes, pattern, percent};

use crate::memory_name;

pub(super) fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(super) fn space_name(space: u64, is_for_tpu: bool) -> String {
    memory_name(space, is_for_tpu).map_or_else(|| format!("S({space})"), str::to_owned)
}

/// Returns the tuple index of a part of a result as XLA writes it: `{1}{0}`.
pub(super) fn tuple_index(index: &[usize]) -> String {
    index.iter().map(|element| format!("{{{element}}}")).collect()
}

pub(super) fn error_value(error: &Error) -> Value {
    json!({ "code": error.code(), "message": error.to_string(), "column": error.column() })
}

pub(super) fn joined(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

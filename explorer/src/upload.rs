//! Would a device take it?

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};

use crate::answer::{fault, number, read};

pub(crate) fn limit_names() -> Value {
    json!(DeviceLimits::names().collect::<Vec<_>>())
}

pub(crate) fn check(layout: &str, limits: &str, bytes: &str, offset: &str, is_output: bool) -> Result<Value, Error> {
    let layout = read(layout)?;
    let limits = limits.parse::<DeviceLimits>()?;
    let bound = layout.values().bound()?;
    let offset = number(offset, "an offset in bytes")?.unwrap_or(0);
    let needed = layout.values().size_in_bytes()?.saturating_add(offset);
    let bytes = number(bytes, "a number of bytes")?.unwrap_or(needed);
    let role = if is_output { Role::Output } else { Role::Input };
    let result = validate(&bound.desc, &UploadBuffer::new(bytes, offset, role), &limits);
    let (report, errors): (_, Vec<&Error>) = match &result {
        Ok(report) => (report, Vec::new()),
        Err(errors) => (&*errors.report, errors.iter().collect()),
    };
    Ok(json!({
        "ok": errors.is_empty(),
        "buffer": bytes.to_string(),
        "bound_as": bound.desc.to_string(),
        "remark": bound.remark,
        "report": report.to_string(),
        "errors": errors.into_iter().map(fault).collect::<Vec<_>>(),
    }))
}

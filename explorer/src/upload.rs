//! Would a device take it?

use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, Error, ToIndexMap};

use crate::answer::{fault, number, read};

pub(crate) fn limit_names() -> Value {
    json!(DeviceLimits::names().collect::<Vec<_>>())
}

pub(crate) fn check(layout: &str, limits: &str, bytes: &str, offset: &str, is_output: bool) -> Result<Value, Error> {
    let layout = read(layout)?;
    let limits = limits.parse::<DeviceLimits>()?;
    let (desc, remark) = bound_as(layout.layout())?;
    let offset = number(offset, "an offset in bytes")?.unwrap_or(0);
    let needed = layout.to_index_map()?.physical_size_in_bytes().saturating_add(offset);
    let bytes = number(bytes, "a number of bytes")?.unwrap_or(needed);
    let role = if is_output { Role::Output } else { Role::Input };
    let result = validate(&desc, &UploadBuffer::new(bytes, offset, role), &limits);
    let (report, errors): (_, Vec<&Error>) = match &result {
        Ok(report) => (report, Vec::new()),
        Err(errors) => (&*errors.report, errors.iter().collect()),
    };
    Ok(json!({
        "ok": errors.is_empty(),
        "buffer": bytes.to_string(),
        "bound_as": desc.to_string(),
        "remark": remark,
        "report": report.to_string(),
        "errors": errors.into_iter().map(fault).collect::<Vec<_>>(),
    }))
}

/// The strided tensor that a layout is bound as, and a remark if that is not the layout itself.
fn bound_as(layout: &AnyLayout) -> Result<(BufferTensorDesc, Option<&'static str>), Error> {
    match lower(layout)? {
        Lowering::Strided(desc) => Ok((desc, None)),
        Lowering::Split(split) => Ok((split.desc, Some("bound as the padded tensor of higher rank"))),
        other => Err(Error::not_expressible("strided descriptor", other.reason().unwrap_or_default())),
    }
}

//! Limits of devices by name: a named set, a set with limits of the device at hand, or a JSON file.

use serde_json::{Value, json};
use tensor_layout::upload::DeviceLimits;

use crate::input::read_text;
use crate::output::{Output, Stop, Verdict};
use crate::table::{Table, add, print, short_bytes};

/// Returns the limits with this name, or the limits in the JSON file of this name: the fields of limits, or
/// what an API reports of a device, such as WebGPU's `adapter.limits`. An unknown name is wrong usage.
pub(crate) fn named(name: &str) -> Result<DeviceLimits, Stop> {
    if name.ends_with(".json") {
        let text = read_text(name.as_ref())?;
        return serde_json::from_str(&text).or_else(|error| {
            let refuse = |reason: String| Stop::Unusable(format!("{name} holds no limits: {reason}"));
            let Ok(reported) = serde_json::from_str::<serde_json::Map<String, Value>>(&text) else {
                return Err(refuse(error.to_string()));
            };
            let numbers = reported.into_iter().filter_map(|(name, number)| Some((name, number.as_u64()?)));
            let (mut limits, ignored) = DeviceLimits::reported(numbers).map_err(|_| refuse(error.to_string()))?;
            if !ignored.is_empty() {
                limits.name = format!("{} (not used: {})", limits.name, ignored.join(", ")).into();
            }
            Ok(limits)
        });
    }
    // Only the name is made lower case: names of an API and the unit `MiB` of a size keep their capitals.
    let changes =
        name.find('=').and_then(|equals| name.get(..equals)).map_or(Some(name.len()), |start| start.rfind(':'));
    let (name, changes) = name.split_at(changes.unwrap_or(name.len()));
    let text = name.to_ascii_lowercase() + changes;
    text.parse::<DeviceLimits>().map_err(|error| Stop::Unusable(error.to_string()))
}

/// Returns the limits that `check --limits` names.
///
/// # Errors
///
/// A sentence that says why there are none.
pub fn limits_by_name(name: &str) -> Result<DeviceLimits, String> {
    named(name).map_err(|stop| match stop {
        Stop::Unusable(sentence) | Stop::Failed(sentence) => sentence,
        Stop::Refused(_, error) => error.to_string(),
        Stop::ClosedPipe => "standard output is closed".into(),
    })
}

/// Prints every named set of limits; with `--json`, all fields of each.
pub(crate) fn list(output: &mut Output) -> Result<Verdict, Stop> {
    let mut table = Table::new("name|limits of|>ranks|>offsets at|binding up to|?takes strides");
    for name in DeviceLimits::names() {
        let limits = named(name)?;
        let object = json!({ "type": "limits", "set": name, "limits": &limits });
        let ranks = match (limits.min_rank, limits.max_rank) {
            (_, usize::MAX) => String::new(),
            (least, most) => format!("{least} to {most}"),
        };
        let bytes = if limits.max_binding == u64::MAX { String::new() } else { short_bytes(limits.max_binding) };
        let strides = if limits.takes_strides { "yes" } else { "" };
        let alignment = limits.offset_alignment.to_string();
        let cells = [name.to_owned(), limits.name.into_owned(), ranks, alignment, bytes, strides.to_owned()];
        add(&mut table, || object, || cells, output)?;
    }
    print(&table, output)?;
    if !output.is_json() {
        output.sentence("directml:LEVEL is an older feature level of DirectML, from 1.0 to 6.4.")?;
    }
    Ok(Verdict::Well)
}

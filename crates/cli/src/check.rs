//! `check`: whether a device takes a tensor in a buffer.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::map::Fingerprint;
use tensor_layout::upload::{
    DeviceLimits, PlaneRole, Role, Suggestion, TensorMapBox, UploadBuffer, split_binding, suggest, validate,
    validate_description,
};
use tensor_layout::{BufferTensorDesc, Error, ToIndexMap};
use tensor_layout_files::lay_out::error_object;
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Bound, Frame, Plane};

use crate::answer::Answer;
use crate::describe::min_size_in_bytes;
use crate::limits;
use crate::output::{Output, Stop, Verdict, each_layout, refused};
use crate::table::{counted, long_bytes, write_list};
use crate::tensor_box::{BoxArguments, add_box};
use crate::terminal::{Ink, painted};

#[derive(Args, Clone)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read one from each line of standard input.
    layout: Option<String>,
    /// The limits of the device, by name: webgpu, directml:5.0 (a feature level). `--limits list` prints all
    /// names. Limits of the device at hand follow a colon
    /// (webgpu:max_binding=2GiB,minStorageBufferOffsetAlignment=32), or are in a JSON file, by its name:
    /// fields of limits, or the numbers of `adapter.limits`. If the device requires other strides, the
    /// nearest that it accepts are suggested.
    #[arg(long, value_name = "NAME")]
    limits: String,
    /// The length of the whole buffer, such as 4096 or 4MiB; without it, the smallest length that will do is
    /// printed.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    buffer: Option<u64>,
    /// The offset in the buffer at which the tensor is bound, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = bytes)]
    offset: u64,
    /// The fingerprint that the layout must have, as `describe` prints it.
    #[arg(long, value_name = "TAG")]
    fingerprint: Option<Fingerprint>,
    /// Whether the device reads or writes the buffer.
    #[arg(long, default_value = "input", ignore_case = true, value_parser = roles())]
    role: Role,
    #[command(flatten)]
    tensor_box: BoxArguments,
}

fn roles() -> impl TypedValueParser<Value = Role> {
    let role = |word: String| if word.eq_ignore_ascii_case("output") { Role::Output } else { Role::Input };
    PossibleValuesParser::new(["input", "output"]).map(role)
}

fn bytes(text: &str) -> Result<u64, String> {
    tensor_layout::upload::read_size(text).map_err(|error| error.to_string())
}

/// Checks one plane for a device and returns the object of `check --json`. `buffer` is the length of the
/// whole buffer in bytes, and `offset` the place of the tensor in it. An output is written by the device.
/// `tensor_box` is the box of a tensor map.
///
/// # Errors
///
/// The reason why no strided tensor can be bound for the plane.
pub fn check_object(
    plane: &Plane,
    limits: &DeviceLimits,
    (buffer, offset): (Option<u64>, u64),
    is_output: bool,
    tensor_box: Option<&TensorMapBox>,
) -> Result<Value, Error> {
    let role = if is_output { Role::Output } else { Role::Input };
    let (layout, named, none) = (None, String::new(), BoxArguments::default());
    let arguments = Arguments { layout, limits: named, buffer, offset, fingerprint: None, role, tensor_box: none };
    let limits = &tensor_box.map_or_else(|| limits.clone(), |found| found.limits(limits));
    let answer = Answer::new(true, "check");
    let (answer, _) = checked(plane, &plane.to_string(), &arguments, (limits, tensor_box, Vec::new()), answer)?;
    Ok(answer.into_object())
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if arguments.limits == "list" {
        return limits::list(output);
    }
    let Some(layout) = &arguments.layout else {
        return Err(Stop::Unusable("check takes a layout, or `--limits list` alone".into()));
    };
    let limits = limits::named(&arguments.limits)?;
    arguments.tensor_box.read(&limits)?;
    each_layout(layout, output, |layout, output| one(layout, arguments, &limits, output))
}

/// Checks each plane of a layout at its place in one buffer. The elements of a tuple have buffers of their
/// own.
fn one(text: &str, arguments: &Arguments, limits: &DeviceLimits, output: &mut Output) -> Result<Verdict, Stop> {
    let layout: Layout = text.parse().map_err(refused(text))?;
    if let Some(frame) = layout.frame() {
        return one_frame(frame, &layout, arguments, limits, output);
    }
    if let ([plane], false) = (layout.planes(), layout.is_tuple()) {
        return one_plane(plane, text, arguments, (limits, Vec::new()), output);
    }
    let mut verdict = Verdict::Well;
    if layout.is_tuple() {
        for plane in layout.planes() {
            verdict = verdict.and(one_plane(plane, &plane.to_string(), arguments, (limits, Vec::new()), output)?);
        }
        return Ok(verdict);
    }
    let packed = layout.packed(limits).map_err(refused(text))?;
    let buffer = arguments.buffer.or(arguments.offset.checked_add(packed.len));
    for (plane, offset) in layout.planes().iter().zip(&packed.offsets) {
        let arguments = Arguments { buffer, offset: arguments.offset.saturating_add(*offset), ..arguments.clone() };
        let rules = match (plane.role(), layout.values().whole()) {
            (tensor_layout_text::layout::Role::Scales { per }, Ok(values)) => {
                limits.for_plane(PlaneRole::Scales, values, per)
            }
            _ => (limits.clone(), Vec::new()),
        };
        let text = plane.role().name().map_or_else(|| plane.to_string(), |name| format!("{name}: {plane}"));
        verdict = verdict.and(one_plane(plane, &text, &arguments, (&rules.0, rules.1), output)?);
    }
    if !output.is_json() {
        let (offsets, bytes) = (write_list(&packed.offsets), long_bytes(packed.len));
        output.line(match layout.pages() {
            Some(_) => format!("the fields of pages in one buffer of {bytes}"),
            None => format!("planes at bytes {offsets} of one buffer of {bytes}"),
        })?;
    }
    Ok(verdict)
}

/// Checks the surfaces of a frame for a device that is given strides, and else the frame as one row of
/// elements.
fn one_frame(
    frame: &Frame,
    layout: &Layout,
    arguments: &Arguments,
    limits: &DeviceLimits,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let text = frame.to_string();
    let (bytes, mut broken) = (frame.size_in_bytes().map_err(refused(&text))?, frame.broken_rules(limits));
    if !limits.takes_strides {
        let elements = layout.values().parts().first().map_or(0, |part| part.map.physical_elements());
        let row = BufferTensorDesc::packed(frame.data_type(), &[elements]).map_err(refused(&text))?;
        let row = Layout::from(row);
        return one_plane(row.values(), &text, arguments, (limits, broken), output);
    }
    let buffer = arguments.buffer.or(arguments.offset.checked_add(bytes));
    let (mut verdict, mut offsets) = (Verdict::Well, Vec::new());
    for (names, offset, rows) in frame.textures().map_err(refused(&text))? {
        let arguments = Arguments { buffer, offset: arguments.offset.saturating_add(offset), ..arguments.clone() };
        let text = format!("{names}: {rows}");
        verdict = verdict.and(one_plane(&rows, &text, &arguments, (limits, std::mem::take(&mut broken)), output)?);
        offsets.push(offset);
    }
    if !output.is_json() {
        let (offsets, bytes) = (write_list(&offsets), long_bytes(bytes));
        output.line(format_args!("surfaces at bytes {offsets} of one buffer of {bytes}"))?;
    }
    Ok(verdict)
}

fn one_plane(
    plane: &Plane,
    text: &str,
    arguments: &Arguments,
    (limits, beside): (&DeviceLimits, Vec<Error>),
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let tensor_box = arguments.tensor_box.read(limits)?;
    let limits = &tensor_box.as_ref().map_or_else(|| limits.clone(), |found| found.limits(limits));
    let answer = Answer::new(output.is_json(), "check").with_column(16);
    let (answer, errors) =
        checked(plane, text, arguments, (limits, tensor_box.as_ref(), beside), answer).map_err(refused(text))?;
    if output.is_json() {
        output.line(answer)?;
    } else {
        output.line(text)?;
        answer.words().iter().try_for_each(|line| output.sentence(line))?;
        if errors.is_empty() && &*limits.name == "none" {
            output.line("no device was named: the sizes and the buffer were checked alone")?;
        } else if errors.is_empty() {
            output.line(painted("ok", Ink::Green))?;
        }
        errors.iter().try_for_each(|error| output.complain(&error.to_string()))?;
    }
    Ok(Verdict::well_if(errors.is_empty()))
}

/// Checks a plane. Returns the answer and all errors. The errors `beside` were found in other planes and come
/// last.
fn checked(
    plane: &Plane,
    text: &str,
    arguments: &Arguments,
    (limits, tensor_box, beside): (&DeviceLimits, Option<&TensorMapBox>, Vec<Error>),
    mut answer: Answer,
) -> Result<(Answer, Vec<Error>), Error> {
    let Bound { desc, mut remark, .. } = plane.bound()?;
    // A plane that can be bound has at least one part.
    let map = plane.parts().first().map(|part| &part.map);
    let (data_type, bits) = map.map_or((desc.data_type(), 0), |map| (map.data_type(), map.element_bits()));
    let storage = (data_type.bits() < 8).then(|| match bits == data_type.bits() {
        true => format!("each {data_type} in {}, packed, the first in the low bits", counted(bits, "bit")),
        false => format!("each {data_type} in {bits} bits, as XLA stores it unless E({}) packs it", data_type.bits()),
    });
    let min_size = match plane.parts() {
        [part] => min_size_in_bytes(&part.map)?,
        _ => desc.min_size_in_bytes(),
    };
    let role = arguments.role;
    // Limits that take strides also check the data type. If small elements are bound as bytes, these limits
    // get the layout instead of the bytes.
    let is_bytes = desc.data_type() != data_type;
    let wide = limits.takes_strides && storage.is_some() && is_bytes;
    // A row of elements is another tensor to a device that indexes it by strides.
    let without_strides = || plane.whole().is_ok_and(|map| matches!(lower(map), Ok(Lowering::IndexMap { .. })));
    let described: &dyn ToIndexMap = match plane.blocks() {
        Some(blocks) => blocks,
        None if wide && plane.whole().is_ok() => plane,
        None if limits.takes_strides && without_strides() => {
            remark = None;
            plane
        }
        None => &desc,
    };
    let checked_in = |length| match validate(described, &UploadBuffer::new(length, arguments.offset, role), limits) {
        Ok(report) => (report, Vec::new()),
        Err(errors) => (*errors.report.clone(), errors.to_vec()),
    };
    let needed = checked_in(u64::MAX).0.needed_buffer;
    let (report, mut errors) = checked_in(arguments.buffer.or(needed).unwrap_or(u64::MAX));
    errors.extend(arguments.fingerprint.and_then(|tag| tag.check(plane).err()));
    let tensor_box = tensor_box.and_then(|found| found.check(described, limits).map_err(|all| errors.extend(all)).ok());
    // Other strides are suggested only if strides are at fault, not if only the offset in the buffer is
    // wrong.
    let is_refused = validate_description(described, limits).is_err();
    let suggestion = is_refused.then(|| suggest(described, limits).ok().flatten()).flatten();
    let sizes = ["binding_limit", "buffer_limit", "binding_outside_buffer"];
    let is_too_large = errors.iter().any(|error| error.code() == "binding_limit")
        && errors.iter().all(|error| sizes.contains(&error.code()));
    let pieces = is_too_large.then(|| split_binding(described, limits).ok().map(|pieces| pieces.len())).flatten();
    errors.extend(beside);

    answer.keys(|| {
        let listed: Vec<Value> = errors.iter().map(error_object).collect();
        json!({
            "ok": errors.is_empty(), "min_size_in_bytes": min_size, "errors": listed, "input": text,
            "limits": &*report.limits, "bound_as": desc.to_string(), "exact_bytes": report.exact_bytes,
            "rounded_bytes": report.rounded_bytes, "total_bytes": report.total_bytes,
            "cpu_bytes": report.cpu_bytes, "padding": [report.padding.start, report.padding.end],
            "bound": [report.bound.start, report.bound.end], "needed_buffer_bytes": needed,
            "gap_bits": u64::try_from(report.gap_bits).ok(), "overwrites_gaps": report.overwrites_gaps,
            "alignment_required": report.alignment_required, "alignment_found": report.alignment_found,
            "index_width": report.index_width.to_string(),
            "byte_index_width": report.byte_index_width.to_string(),
            "first_wide_index": report.first_wide, "base_offset": report.base_offset,
        })
    });
    answer.lines(remark.map(|remark| format!("  {remark}: {desc}")));
    answer.fact("storage", storage, "storage", String::clone);
    // A line of the report is left out if it repeats the number of the line before.
    let is_repeated = |line: &str| {
        (line.starts_with("rounded ") && report.rounded_bytes == report.exact_bytes)
            || (line.starts_with("CPU slice ") && report.cpu_bytes == report.rounded_bytes)
    };
    answer.lines(report.to_string().lines().filter(|line| !is_repeated(line)).map(|line| format!("  {line}")));
    answer.fact("written_in", (role == Role::Output).then(|| written_in(limits)), "written in", String::clone);
    answer.key("warnings", &report.warnings);
    if let (None, Some(needed)) = (arguments.buffer, needed) {
        answer.says("buffer", format_args!("at least {}", long_bytes(needed)));
    }
    answer.fact("pieces", pieces, "pieces", |pieces| format!("{pieces} bindings that fit"));
    answer.key("suggestion", suggestion.as_ref().map(|found| {
        let (layout, moves_bytes) = (found.desc.to_string(), found.moves_bytes());
        json!({ "layout": layout, "bytes": found.bytes, "bytes_before": found.source_bytes, "moves_bytes": moves_bytes })
    }));
    if let Some(Suggestion { desc, bytes, source_bytes, .. }) = &suggestion {
        let moved = || format!("{} instead of {source_bytes}", counted(*bytes, "byte"));
        let words = suggestion.as_ref().filter(|found| found.moves_bytes()).map_or("no byte moves".into(), |_| moved());
        answer.says("suggestion", format_args!("{desc} ({words})"));
        if errors.iter().any(|error| error.code().contains("stride")) {
            answer.says("", "all axes change at once; an error says what one axis needs if the others stay");
        }
    }
    add_box(tensor_box.as_ref(), &mut answer);
    Ok((answer, errors))
}

fn written_in(limits: &DeviceLimits) -> String {
    let units = counted(limits.write_granularity, "byte");
    match (limits.writes_padding, limits.overwrites_units) {
        (true, _) => "the whole bound range".into(),
        (_, true) => format!("whole units of {units}"),
        _ => format!("units of {units}"),
    }
}

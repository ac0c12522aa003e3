//! The first part of `hlo`: the peak of each memory, and the arrays that are alive there.

use std::path::PathBuf;

use serde_json::Value;
use tensor_layout::tiled::memory_space_name;
use tensor_layout_hlo::{BufferAssignment, InstructionPlace, LiveMemory, MemoryTotal, SpaceUse};

use super::group::Group;
use super::space::{small, space_name};
use crate::output::{Object, Output, Stop};
use crate::table::{Table, long_bytes, percent, short_bytes};

type Beside = (PathBuf, BufferAssignment);

/// A memory whose peak is smaller than the largest peak by this factor gets no table.
const NEGLIGIBLE: u128 = 10_000;

const NOT_IN_THE_TEXT: &str =
    "Not in the text: scratch memory of single operations, alignment, gaps between buffers, code.";

pub(super) fn print_tables(
    live: Option<&LiveMemory>,
    assignment: Option<&Beside>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    match live {
        None => output.line("no peak: the text has no entry computation, so its end is missing")?,
        Some(live) => {
            if !live.is_scheduled() {
                output.line("the module is not scheduled: instructions are taken in the order of the text\n")?;
            }
            let largest = live.spaces().iter().map(|space| space.total.peak_bytes).max().unwrap_or(0);
            let used = || live.spaces().iter().filter(|space| space.total.peak_bytes > 0);
            for space in used().filter(|space| space.total.peak_bytes >= largest / NEGLIGIBLE) {
                print_space(live, space, assignment, rows, output)?;
            }
            let small_ones: Vec<String> = used()
                .filter(|space| space.total.peak_bytes < largest / NEGLIGIBLE)
                .map(|space| format!("{} {}", space_name(space.space), short_bytes(small(space.total.peak_bytes))))
                .collect();
            if !small_ones.is_empty() {
                output.line(format_args!("Other memories: {}.", small_ones.join(", ")))?;
            }
            if live.unknown_operands() > 0 {
                output.line(format_args!(
                    "{} operands are not defined in the text: buffers may be in use for longer than shown",
                    live.unknown_operands()
                ))?;
            }
            output.line(format_args!(
                "All memories together: {} at one time (peak_memory_in_bytes of JAX).",
                long_bytes(small(live.reported_peak()))
            ))?;
            if assignment.is_none() {
                output.line(NOT_IN_THE_TEXT)?;
            }
        }
    }
    let Some((path, assignment)) = assignment else { return Ok(()) };
    let shown = |space| live.is_some_and(|live| live.spaces().iter().any(|found| found.space == space));
    for space in assignment.spaces().filter(|&space| !shown(space) && assignment.total(space).peak_bytes > 0) {
        let total = assignment.total(space);
        output.line(format_args!("{}: {} at the peak", space_name(space), long_bytes(small(total.peak_bytes))))?;
        print_total(&total, output)?;
        print_assigned(assignment, space, rows, output)?;
    }
    output.line(format_args!("Totals by {}.", path.display()))?;
    if assignment.unreadable() > 0 {
        output.complain(&format!("{}: {} lines could not be read", path.display(), assignment.unreadable()))?;
    }
    Ok(())
}

/// The largest temporaries of a memory that the text does not mention.
fn print_assigned(assignment: &BufferAssignment, space: u64, rows: usize, output: &mut Output) -> Result<(), Stop> {
    let mut table = Table::new(&[">bytes", ">offset", "value", "shape"]);
    for value in assignment.largest_temporaries(space).iter().take(rows) {
        table.row([short_bytes(value.bytes), value.offset.to_string(), value.name.clone(), value.shape.clone()]);
    }
    output.lines(table.lines())?;
    output.line("")
}

/// One memory: its totals, by the buffer assignment if there is one, and the arrays that are alive at the
/// peak.
fn print_space(
    live: &LiveMemory,
    space: &SpaceUse,
    assignment: Option<&Beside>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    let assigned = assignment.map(|(_, assignment)| assignment.total(space.space));
    let total = assigned.filter(|total| total.peak_bytes > 0).unwrap_or(space.total);
    let peak = format!("{}: {} at the peak", space_name(space.space), long_bytes(small(total.peak_bytes)));
    match space.peak_time.and_then(|time| Some((time, live.instruction(time)?))) {
        Some((time, place)) => output.line(format_args!(
            "{peak}, instruction {time} of {}: {} ({}, line {})",
            live.instructions(),
            place.instruction,
            place.opcode,
            place.line
        ))?,
        None => output.line(format_args!("{peak}, all the time"))?,
    }
    print_total(&total, output)?;
    let buffers = live.live_at(space.space, space.peak_time.unwrap_or(0));
    let groups = Group::of(&buffers);
    let mut table =
        Table::new(&[">bytes", ">share", "arrays", "used as", "instruction", "opcode", "shape", "op_name", "source"]);
    for group in groups.iter().take(rows) {
        let (buffer, bytes) = (group.first, group.bytes());
        let several = group.count > 1;
        table.row([
            short_bytes(small(bytes)),
            percent(bytes, total.peak_bytes),
            if several { format!("{} x {}", group.count, short_bytes(buffer.bytes)) } else { String::new() },
            buffer.used_as.name().to_owned(),
            group.instruction(),
            buffer.place.opcode.clone(),
            buffer.shape.clone(),
            group.op_name(),
            source(&buffer.place).unwrap_or_default(),
        ]);
    }
    output.lines(table.lines())?;
    if groups.len() > rows {
        let count: u64 = groups.iter().skip(rows).map(|group| group.count).sum();
        let bytes = small(groups.iter().skip(rows).map(Group::bytes).sum());
        output.line(format_args!("and {count} more: {}", short_bytes(bytes)))?;
    }
    output.line("")
}

fn print_total(total: &MemoryTotal, output: &mut Output) -> Result<(), Stop> {
    let mut table = Table::new(&["", ">", ">", ""]);
    for (name, bytes, note) in [
        ("parameters", total.argument_bytes, ""),
        ("results", total.output_bytes, ""),
        ("aliased", total.alias_bytes, "results that share the memory of parameters, counted in both"),
        ("temporaries", total.temp_bytes, ""),
        ("constants", total.constant_bytes, "part of the program, not of the peak"),
    ] {
        if bytes > 0 {
            let share = if name == "constants" { String::new() } else { percent(bytes, total.peak_bytes) };
            table.row([format!("  {name}"), long_bytes(small(bytes)), share, note.to_owned()]);
        }
    }
    output.lines(table.lines().into_iter().skip(1))?;
    output.line("")
}

/// `train.py:12`
fn source(place: &InstructionPlace) -> Option<String> {
    place.source.as_ref().map(|source| format!("{}:{}", source.file, source.line))
}

pub(super) fn print_objects(
    live: Option<&LiveMemory>,
    assignment: Option<&Beside>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    if let Some(live) = live {
        for space in live.spaces() {
            print_space_objects(live, space, rows, output)?;
        }
    }
    if let Some((path, assignment)) = assignment {
        for space in assignment.spaces() {
            let object = Object::default()
                .with("buffer_assignment", path.to_string_lossy().as_ref())
                .with("assigned_in", space)
                .with("memory", memory_space_name(space));
            output.line(with_total(object, &assignment.total(space)))?;
        }
    }
    // The compiler's own figures where there are any.
    let total = assignment.map(|(_, assignment)| assignment.total(0)).or_else(|| live.map(LiveMemory::total));
    let from = if assignment.is_some() { "buffer assignment" } else { "text" };
    match total {
        // Not as a `Value`, which would sort the keys.
        Some(total) => {
            let object = with_total(Object::default().with("from", from), &total)
                .with("reported_peak_bytes", live.map(|live| small(live.reported_peak())));
            output.line(format_args!("{{\"total\":{object}}}"))
        }
        None => output.line(Object::default().with("total", Value::Null)),
    }
}

/// The totals of one memory, its peak, and the buffers that are alive there.
fn print_space_objects(live: &LiveMemory, space: &SpaceUse, rows: usize, output: &mut Output) -> Result<(), Stop> {
    let peak = space.peak_time.and_then(|time| Some((time, live.instruction(time)?)));
    let peak = peak.map_or(Value::Null, |(time, place)| {
        serde_json::json!({
            "time": time,
            "instruction": place.instruction,
            "opcode": place.opcode,
            "computation": &*place.computation,
            "op_name": place.op_name,
            "source": source(&place),
            "line": place.line,
        })
    });
    let object = with_total(Object::default().with("peak_of", space.space), &space.total)
        .with("memory", memory_space_name(space.space))
        .with("scheduled", live.is_scheduled())
        .with("instructions_in_schedule", live.instructions())
        .with("peak", peak);
    output.line(object)?;
    for buffer in live.live_at(space.space, space.peak_time.unwrap_or(0)).iter().take(rows) {
        let object = Object::default()
            .with("live_in", space.space)
            .with("used_as", buffer.used_as.name())
            .with("bytes", buffer.bytes)
            .with("instruction", buffer.place.instruction.as_str())
            .with("tuple_index", buffer.tuple_index.as_slice())
            .with("opcode", buffer.place.opcode.as_str())
            .with("computation", buffer.place.computation.as_ref())
            .with("op_name", buffer.place.op_name.as_deref())
            .with("source", source(&buffer.place))
            .with("shape", buffer.shape.as_str())
            .with("line", buffer.place.line);
        output.line(object)?;
    }
    Ok(())
}

fn with_total(object: Object, total: &MemoryTotal) -> Object {
    object
        .with("argument_bytes", small(total.argument_bytes))
        .with("output_bytes", small(total.output_bytes))
        .with("alias_bytes", small(total.alias_bytes))
        .with("temp_bytes", small(total.temp_bytes))
        .with("constant_bytes", small(total.constant_bytes))
        .with("peak_bytes", small(total.peak_bytes))
}

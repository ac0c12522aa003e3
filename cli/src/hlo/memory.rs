//! The second part of `hlo`: the peak of each memory, and what is in use there.

use std::path::PathBuf;

use serde_json::Value;
use tensor_layout::tiled::memory_space_name;
use tensor_layout_hlo::{BufferAssignment, InstructionPlace, LiveMemory, MemoryTotal, SpaceUse};

use super::{small, space_name};
use crate::output::{Object, Output, Stop};
use crate::table::{Align, Table, long_bytes, short_bytes};

type Beside = (PathBuf, BufferAssignment);

const NOT_IN_THE_TEXT: &str = "not in the text: what single operations need for themselves (scratch), alignment, \
    gaps between buffers, the program's code";

pub(super) fn print_tables(
    live: Option<&LiveMemory>,
    assignment: Option<&Beside>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    match live {
        None => output.line("\nno entry computation, so no peak: the end of the dump is missing")?,
        Some(live) => {
            if !live.is_scheduled() {
                output
                    .line("\nthe module is not scheduled: the order of the text is taken for the order of the run")?;
            }
            for space in live.spaces().iter().filter(|space| space.total.peak_bytes > 0) {
                print_space(live, space, rows, output)?;
            }
            if live.unknown_operands() > 0 {
                output.line(format_args!(
                    "\n{} operands are not defined in the text: buffers may be in use for longer than shown",
                    live.unknown_operands()
                ))?;
            }
            output.line(format_args!("\n{NOT_IN_THE_TEXT}"))?;
        }
    }
    let Some((path, assignment)) = assignment else { return Ok(()) };
    for space in assignment.spaces().filter(|&space| assignment.total(space).peak_bytes > 0) {
        let total = assignment.total(space);
        output.line(format_args!(
            "\n{}: {} by {}",
            space_name(space),
            long_bytes(small(total.peak_bytes)),
            path.display()
        ))?;
        print_total(&total, output)?;
        let mut table = Table::new(&[
            ("bytes", Align::Right),
            ("offset", Align::Right),
            ("value", Align::Left),
            ("shape", Align::Left),
        ]);
        for value in assignment.largest_temporaries(space).iter().take(rows) {
            table.row([short_bytes(value.bytes), value.offset.to_string(), value.name.clone(), value.shape.clone()]);
        }
        if !assignment.largest_temporaries(space).is_empty() {
            output.line("")?;
            for line in table.lines() {
                output.line(line)?;
            }
        }
    }
    if assignment.unreadable() > 0 {
        output.complain(&format!("{}: {} lines could not be read", path.display(), assignment.unreadable()))?;
    }
    Ok(())
}

fn print_space(live: &LiveMemory, space: &SpaceUse, rows: usize, output: &mut Output) -> Result<(), Stop> {
    let name = space_name(space.space);
    let peak = long_bytes(small(space.total.peak_bytes));
    let at = space.peak_time.and_then(|time| Some((time, live.instruction(time)?)));
    match &at {
        Some((time, place)) => output.line(format_args!(
            "\n{name}: {peak} at the peak, instruction {time} of {}: {} ({}, line {})",
            live.instructions(),
            place.instruction,
            place.opcode,
            place.line
        ))?,
        None => output.line(format_args!("\n{name}: {peak}, all of the time"))?,
    }
    print_total(&space.total, output)?;
    let buffers = live.live_at(space.space, space.peak_time.unwrap_or(0));
    let mut table = Table::new(&[
        ("bytes", Align::Right),
        ("used as", Align::Left),
        ("instruction", Align::Left),
        ("opcode", Align::Left),
        ("shape", Align::Left),
        ("op_name", Align::Left),
        ("source", Align::Left),
    ]);
    for buffer in buffers.iter().take(rows) {
        let part: String = buffer.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
        table.row([
            short_bytes(buffer.bytes),
            buffer.used_as.name().to_owned(),
            format!("{}{part}", buffer.place.instruction),
            buffer.place.opcode.clone(),
            buffer.shape.clone(),
            buffer.place.op_name.clone().unwrap_or_default(),
            source(&buffer.place).unwrap_or_default(),
        ]);
    }
    output.line("")?;
    for line in table.lines() {
        output.line(line)?;
    }
    if buffers.len() > rows {
        let rest = buffers.iter().skip(rows).map(|buffer| u128::from(buffer.bytes)).sum();
        output.line(format_args!("and {} more of {}", buffers.len() - rows, short_bytes(small(rest))))?;
    }
    Ok(())
}

fn print_total(total: &MemoryTotal, output: &mut Output) -> Result<(), Stop> {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    for (name, bytes, note) in [
        ("parameters", total.argument_bytes, ""),
        ("results", total.output_bytes, ""),
        ("aliased", total.alias_bytes, "results over parameters, counted in both"),
        ("temporaries", total.temp_bytes, ""),
        ("constants", total.constant_bytes, "part of the program, not of the peak"),
    ] {
        if name == "constants" && bytes == 0 {
            continue;
        }
        let note = if bytes == 0 { "" } else { note };
        table.row([format!("  {name}"), long_bytes(small(bytes)), note.to_owned()]);
    }
    for line in table.lines().into_iter().skip(1) {
        output.line(line)?;
    }
    Ok(())
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
    for space in live.map_or(&[][..], LiveMemory::spaces) {
        let Some(live) = live else { break };
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
        // Written by hand, as a `Value` would sort the keys.
        Some(total) => {
            let object = with_total(Object::default().with("from", from), &total);
            output.line(format_args!("{{\"total\":{object}}}"))
        }
        None => output.line(Object::default().with("total", Value::Null)),
    }
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

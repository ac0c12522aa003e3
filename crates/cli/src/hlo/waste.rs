//! The last part of the output of `hlo`: padding, by buffer and by memory space.

use serde_json::json;
use tensor_layout_hlo::{BufferTable, Module, SpaceTotal, memory_name};

use super::memory::{small, space_name};
use crate::output::{Output, Stop, error_value};
use crate::table::{Table, counted, percent, percent_wasted, short_bytes};

/// Padding gets a table if it is at least this share of all bytes, in percent.
const WORTH_A_TABLE: u128 = 5;

pub(super) fn print_table(module: &Module, table: &BufferTable, output: &mut Output) -> Result<(), Stop> {
    let sum = |bytes: fn(&SpaceTotal) -> u128| table.totals().map(|(_, total)| bytes(&total)).sum::<u128>();
    let (logical, padded) = (sum(|total| total.logical_bytes), sum(|total| total.padded_bytes));
    let wasted = padded.saturating_sub(logical);
    output.line("")?;
    if padded == 0 {
        output.line("No buffer has a size that is known.")?;
    } else if wasted * 100 < padded * WORTH_A_TABLE {
        output.line(format_args!("Padding is {} of all buffers: not the problem here.", percent(wasted, padded)))?;
    } else {
        output.line(format_args!("Padding is {} of all buffers. Most of it is in:\n", percent(wasted, padded)))?;
        print_rows(table, module.is_for_tpu(), output)?;
    }
    output.line(format_args!("{} read", counted(module.instructions(), "instruction")))?;
    if module.unreadable() > 0 {
        output.complain(&format!("{} could not be read", counted(module.unreadable(), "line")))?;
        for line in module.unreadable_lines() {
            let place = format!("line {}, column {}", line.line, line.column);
            let error = &line.error;
            let sentence = match error.column() {
                Some(_) => {
                    format!("{place}: expected {}, found {}, in `{}`", error.expected(), error.found(), error.what())
                }
                None => format!("{place}: {error}"),
            };
            output.complain(&sentence)?;
        }
    }
    if table.refused_buffers() > 0 {
        output.complain(&format!("the size of {} is not known", counted(table.refused_buffers(), "buffer")))?;
        for (name, error) in table.refused() {
            let why = if name.contains("[?") || name.contains(",?") { String::new() } else { format!(": {error}") };
            output.complain(&format!("{name}{why}"))?;
        }
    }
    Ok(())
}

fn print_rows(table: &BufferTable, is_for_tpu: bool, output: &mut Output) -> Result<(), Stop> {
    let mut rows = Table::new(">wasted|>padded|>logical|>times|memory|instruction|shape");
    for row in table.rows().iter().filter(|row| row.wasted_bytes() > 0) {
        let part: String = row.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
        rows.row([
            short_bytes(row.wasted_bytes()),
            short_bytes(row.padded_bytes),
            short_bytes(row.logical_bytes),
            format!("{:.1}", row.expansion()),
            space_name(row.memory_space(), is_for_tpu),
            format!("{}{part}", row.instruction),
            row.shape.to_string(),
        ]);
    }
    output.lines(rows.lines())?;
    output.line("")?;
    let mut totals = Table::new("memory|>buffers|>logical|>padded|>padding");
    for (space, total) in table.totals() {
        let (logical, padded) = (small(total.logical_bytes), small(total.padded_bytes));
        totals.row([
            space_name(space, is_for_tpu),
            total.buffers.to_string(),
            short_bytes(logical),
            short_bytes(padded),
            percent_wasted(logical, padded),
        ]);
    }
    output.lines(totals.lines())?;
    output.line("")
}

pub(super) fn print_objects(module: &Module, table: &BufferTable, output: &mut Output) -> Result<(), Stop> {
    let is_for_tpu = module.is_for_tpu();
    for row in table.rows() {
        let object = json!({
            "type": "buffer", "instruction": row.instruction, "opcode": row.opcode,
            "computation": *row.computation, "op_name": row.op_name,
            "tuple_index": row.tuple_index, "shape": row.shape.to_string(),
            "memory_space": row.memory_space(), "memory": memory_name(row.memory_space(), is_for_tpu),
            "logical_bytes": row.logical_bytes, "padded_bytes": row.padded_bytes,
            "wasted_bytes": row.wasted_bytes(), "line": row.line,
        });
        output.line(object)?;
    }
    for (space, total) in table.totals() {
        let (logical, padded) = (small(total.logical_bytes), small(total.padded_bytes));
        let object = json!({
            "type": "padding", "memory_space": space, "memory": memory_name(space, is_for_tpu),
            "buffers": total.buffers, "logical_bytes": logical, "padded_bytes": padded,
            "wasted_bytes": padded.saturating_sub(logical),
        });
        output.line(object)?;
    }
    for line in module.unreadable_lines() {
        let error = error_value(&line.error);
        output.line(json!({ "type": "error", "line": line.line, "input": line.text, "error": error }))?;
    }
    for (name, error) in table.refused() {
        output.line(json!({ "type": "error", "input": name, "error": error_value(error) }))?;
    }
    let object = json!({
        "type": "dump", "instructions": module.instructions(), "unreadable": module.unreadable(),
        "refused": table.refused_buffers(),
    });
    output.line(object)
}

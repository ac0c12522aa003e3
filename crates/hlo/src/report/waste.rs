//! The last part of the report: padding, by buffer and by memory space.

use serde_json::json;

use super::answer::Answer;
use super::table::ReportTable;
use super::words::{counted, error_value, percent, small, space_name, tuple_index};
use crate::{BufferTable, Module, SpaceTotal, memory_name, short_bytes};

/// Padding gets a table if it is at least this share of all bytes, in percent.
const WORTH_A_TABLE: u128 = 5;

pub(super) fn answer(module: &Module, table: &BufferTable) -> Answer {
    let mut answer = Answer::default();
    let sum = |bytes: fn(&SpaceTotal) -> u128| table.totals().map(|(_, total)| bytes(&total)).sum::<u128>();
    let (logical, padded) = (sum(|total| total.logical_bytes), sum(|total| total.padded_bytes));
    let wasted = padded.saturating_sub(logical);
    let is_worth = wasted.saturating_mul(100) >= padded.saturating_mul(WORTH_A_TABLE);
    answer.line("");
    if padded == 0 {
        answer.line("No buffer has a size that is known.");
    } else if !is_worth {
        answer.line(format_args!("Padding is {} of all buffers: not the problem here.", percent(wasted, padded)));
    } else {
        answer.line(format_args!("Padding is {} of all buffers. Most of it is in:\n", percent(wasted, padded)));
    }
    add_rows(&mut answer, table, module.is_for_tpu(), padded > 0 && is_worth);
    answer.line(format_args!("{} read", counted(module.instructions(), "instruction")));
    if module.unreadable() > 0 {
        answer.complain(format_args!("{} could not be read", counted(module.unreadable(), "line")));
    }
    for line in module.unreadable_lines() {
        let (place, error) = (format!("line {}, column {}", line.line, line.column), &line.error);
        answer.complain(match error.column() {
            Some(_) => {
                format!("{place}: expected {}, found {}, in `{}`", error.expected(), error.found(), error.what())
            }
            None => format!("{place}: {error}"),
        });
        let error = error_value(error);
        answer.object(json!({ "type": "error", "line": line.line, "input": line.text, "error": error }));
    }
    if table.refused_buffers() > 0 {
        answer.complain(format_args!("the size of {} is not known", counted(table.refused_buffers(), "buffer")));
    }
    for (name, error) in table.refused() {
        let why = if name.contains("[?") || name.contains(",?") { String::new() } else { format!(": {error}") };
        answer.complain(format_args!("{name}{why}"));
        answer.object(json!({ "type": "error", "input": name, "error": error_value(error) }));
    }
    answer.object(json!({
        "type": "dump", "instructions": module.instructions(), "unreadable": module.unreadable(),
        "refused": table.refused_buffers(),
    }));
    answer
}

/// Adds the rows and the totals of the table as objects, and for people if it `is_shown` to them.
fn add_rows(answer: &mut Answer, table: &BufferTable, is_for_tpu: bool, is_shown: bool) {
    let mut rows = ReportTable::new(">wasted|>padded|>logical|>times|memory|instruction|shape");
    for row in table.rows() {
        let (shape, wasted) = (row.shape.to_string(), row.wasted_bytes());
        if wasted > 0 {
            rows.row([
                short_bytes(wasted),
                short_bytes(row.padded_bytes),
                short_bytes(row.logical_bytes),
                format!("{:.1}", row.expansion()),
                space_name(row.memory_space(), is_for_tpu),
                format!("{}{}", row.instruction, tuple_index(&row.tuple_index)),
                shape.clone(),
            ]);
        }
        answer.object(json!({
            "type": "buffer", "instruction": row.instruction, "opcode": row.opcode,
            "computation": *row.computation, "op_name": row.op_name,
            "tuple_index": row.tuple_index, "shape": shape,
            "memory_space": row.memory_space(), "memory": memory_name(row.memory_space(), is_for_tpu),
            "logical_bytes": row.logical_bytes, "padded_bytes": row.padded_bytes,
            "wasted_bytes": wasted, "line": row.line,
        }));
    }
    let mut totals = ReportTable::new("memory|>buffers|>logical|>padded|>padding");
    for (space, total) in table.totals() {
        let (logical, padded) = (small(total.logical_bytes), small(total.padded_bytes));
        let wasted = padded.saturating_sub(logical);
        totals.row([
            space_name(space, is_for_tpu),
            total.buffers.to_string(),
            short_bytes(logical),
            short_bytes(padded),
            percent(wasted.into(), padded.into()),
        ]);
        answer.object(json!({
            "type": "padding", "memory_space": space, "memory": memory_name(space, is_for_tpu),
            "buffers": total.buffers, "logical_bytes": logical, "padded_bytes": padded, "wasted_bytes": wasted,
        }));
    }
    if is_shown {
        answer.table(rows);
        answer.line("");
        answer.table(totals);
        answer.line("");
    }
}

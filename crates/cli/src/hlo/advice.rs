//! The advice of `hlo`: whether a program fits its device, what would make its peak smaller, and which arrays
//! an out-of-memory report names.

use serde_json::{Value, json};
use tensor_layout::ArrayShape;
use tensor_layout::tiled::TpuGeneration;
use tensor_layout_hlo::{
    Lever, LeverKind, LiveMemory, OutOfMemoryReport, PaddedDimension, ReportedArray, ReportedSize, hbm_bytes,
    smaller_layout,
};

use super::memory::{small, space_name};
use crate::output::{Output, Stop};
use crate::table::{Table, each_once, percent, short_bytes};

/// A lever is shown if it saves at least the peak divided by this number.
const WORTH_A_LINE: u128 = 100;

/// Prints how much memory the device of `--tpu` has left, and what would lower the peak of the main memory.
pub(super) fn print(live: &LiveMemory, tpu: Option<TpuGeneration>, output: &mut Output) -> Result<(), Stop> {
    let peak = small(live.total().peak_bytes);
    if let Some((generation, bytes)) = tpu.and_then(|generation| Some((generation, hbm_bytes(generation)?))) {
        let (left, missing) = (bytes.saturating_sub(peak), peak.saturating_sub(bytes));
        let object = || {
            json!({
                "type": "device", "tpu": generation.to_string(), "hbm_bytes": bytes, "fits": missing == 0,
                "left_bytes": left, "missing_bytes": missing,
            })
        };
        let room = if missing == 0 { (left, "left") } else { (missing, "missing") };
        output.answer(object, || {
            let (has, room, word) = (short_bytes(bytes), short_bytes(room.0), room.1);
            format!("\nA {generation} has {has} of HBM: {room} are {word}.")
        })?;
    }
    let levers = worth_a_line(live);
    if !levers.is_empty() && !output.is_json() {
        let name = space_name(0, live.is_for_tpu());
        output.line(format_args!("\nWhat would make the peak of {name} smaller, by up to:"))?;
    }
    for lever in levers {
        let (saved, advice) = (small(lever.saved_bytes), sentence(&lever, tpu));
        if !output.is_json() {
            output.sentence(format_args!("{:>11}  {advice}", short_bytes(saved)))?;
            continue;
        }
        let Lever { kind, arrays, first, .. } = lever;
        output.line(json!({
            "type": "lever", "lever": kind.name(), "saved_bytes": saved, "arrays": arrays,
            "instruction": first.place.instruction, "op_name": first.place.op_name, "shape": first.shape,
            "advice": advice,
        }))?;
    }
    Ok(())
}

fn worth_a_line(live: &LiveMemory) -> Vec<Lever> {
    let mut levers = live.levers(0);
    let peak = live.total().peak_bytes;
    levers.retain(|lever| lever.saved_bytes.saturating_mul(WORTH_A_LINE) >= peak);
    levers
}

fn sentence(lever: &Lever, tpu: Option<TpuGeneration>) -> String {
    let place = &lever.first.place;
    let name = place.op_name.as_deref().unwrap_or(&place.instruction);
    let others = match lever.arrays {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    match lever.kind {
        LeverKind::Donate => format!("donate {name}{others}: results of the same shape are written over them"),
        _ => format!("{name}{others}: {}", padding(&lever.shape, tpu)),
    }
}

/// Says which dimension of an array is padded most, and how many bytes the array takes in the layout that a
/// TPU compiler would choose.
fn padding(shape: &ArrayShape, tpu: Option<TpuGeneration>) -> String {
    let cause = match PaddedDimension::of(shape) {
        Some(PaddedDimension { axis, size, stored, .. }) => {
            format!("dimension {axis} is {size} and stored as {stored}")
        }
        None if shape.element_bits() > shape.data_type().bits() => {
            format!("an element of {} bits is stored in {}", shape.data_type().bits(), shape.element_bits())
        }
        None => "its rows are padded".to_owned(),
    };
    match smaller_layout(shape, tpu.unwrap_or(TpuGeneration::V5e)) {
        Some((other, bytes)) => format!("{cause}; {other} is {}", short_bytes(bytes)),
        None => cause,
    }
}

pub(super) fn print_report(
    report: &OutOfMemoryReport,
    tpu: Option<TpuGeneration>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    for sentence in totals(report) {
        output.sentence(sentence)?;
    }
    let arrays: Vec<&ReportedArray> = report.allocations.iter().take(rows).collect();
    if arrays.is_empty() {
        let what = if report.has_sizes() || report.failed.is_some() {
            "lists no arrays"
        } else {
            "names neither sizes nor arrays"
        };
        return output.line(format_args!(
            "The report {what}. The dump of the program does: run it with\n\
             XLA_FLAGS=--xla_dump_to=FOLDER and read its file ...after_optimizations.txt, or the one of a smaller batch."
        ));
    }
    let sum = |bytes: fn(&ReportedArray) -> u64| arrays.iter().map(|array| u128::from(bytes(array))).sum::<u128>();
    let (bytes, unpadded) = (sum(|array| array.bytes), sum(|array| array.unpadded_bytes));
    let padded = bytes.saturating_sub(unpadded);
    output.sentence(format_args!(
        "Largest allocations: {} with {}, of which {} ({}) are padding.\n",
        arrays.len(),
        short_bytes(bytes),
        short_bytes(padded),
        percent(padded, bytes)
    ))?;
    let mut table = Table::new(">bytes|>padding|used as|instruction|shape|op_name");
    for array in &arrays {
        table.row([
            array.size.as_ref().map_or_else(|| short_bytes(array.bytes), ReportedSize::to_string),
            short_bytes(array.bytes.saturating_sub(array.unpadded_bytes)),
            array.kind.clone(),
            array.instruction.clone(),
            if array.shape.is_empty() { "(no array)".to_owned() } else { array.shape.clone() },
            array.op_name.clone(),
        ]);
    }
    output.lines(table.lines())?;
    output.line("")?;
    let padded = arrays.iter().filter(|array| (array.bytes - array.unpadded_bytes) * 10 > array.bytes);
    for (text, shape) in each_once(padded.filter_map(|array| Some((&array.shape, array.array.as_ref()?)))) {
        output.sentence(format_args!("{text}: {}.", padding(shape, tpu)))?;
    }
    Ok(())
}

pub(super) fn print_report_objects(
    report: &OutOfMemoryReport,
    tpu: Option<TpuGeneration>,
    rows: usize,
    output: &mut Output,
) -> Result<(), Stop> {
    for array in report.allocations.iter().take(rows) {
        let shape = array.array.as_ref().filter(|_| array.bytes > array.unpadded_bytes);
        let object = json!({
            "type": "allocation", "allocated_bytes": array.bytes, "logical_bytes": array.unpadded_bytes,
            "wasted_bytes": array.bytes.saturating_sub(array.unpadded_bytes), "used_as": array.kind,
            "instruction": array.instruction, "op_name": array.op_name,
            "shape": array.shape, "advice": shape.map(|shape| padding(shape, tpu)),
        });
        output.line(object)?;
    }
    let bytes = |size: &Option<ReportedSize>| size.as_ref().map(|size| size.bytes);
    let parts: Vec<Value> =
        report.parts.iter().map(|(name, size)| json!({"part": name, "bytes": size.bytes})).collect();
    output.line(json!({
        "type": "out_of_memory", "memory": report.memory, "needed_bytes": bytes(&report.used),
        "available_bytes": bytes(&report.capacity), "missing_bytes": bytes(&report.missing),
        "asked_bytes": bytes(&report.asked), "free_bytes": bytes(&report.free),
        "total_bytes": bytes(&report.total), "parts": parts,
        "failed_instruction": report.failed.as_ref().map(|failed| failed.instruction.as_str()),
        "failed_shape": report.failed.as_ref().map(|failed| failed.shape.as_str()),
    }))
}

fn totals(report: &OutOfMemoryReport) -> Vec<String> {
    let mut sentences = Vec::new();
    let missing = report.missing.as_ref().map(|missing| format!(": {missing} are missing")).unwrap_or_default();
    let memory = if report.memory.is_empty() { String::new() } else { format!(" of {}", report.memory) };
    let of = report.capacity.as_ref().map(|capacity| format!(" of {capacity}{memory}")).unwrap_or_default();
    if let Some(used) = &report.used {
        sentences.push(format!("The program needs {used}{of}{missing}."));
    }
    if let Some(asked) = &report.asked {
        let exact =
            if asked.to_string().ends_with(" bytes") { String::new() } else { format!(" ({} bytes)", asked.bytes) };
        let free = report.free.as_ref().map(|free| format!("; {free}{of} are free")).unwrap_or_default();
        let missing = if report.used.is_none() { missing.as_str() } else { "" };
        sentences.push(format!("An allocation asks for {asked}{exact}{free}{missing}."));
    }
    if let Some(failed) = &report.failed {
        let ReportedArray { instruction, kind, shape, .. } = failed;
        sentences.push(format!("It was needed on the {kind} for {instruction}, which makes {shape}."));
    }
    if let Some(total) = &report.total {
        let parts: Vec<String> = report.parts.iter().map(|(name, size)| format!("{size} {name}")).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        sentences.push(format!("In all {total}{parts}."));
    }
    if let Some(last) = sentences.last_mut() {
        last.push('\n');
    }
    sentences
}

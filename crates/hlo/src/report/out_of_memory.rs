//! The report of a program that ran out of memory: its totals, and the arrays that it names.

use serde_json::{Value, json};

use super::advice::padding;
use super::answer::{Answer, ReportSettings};
use super::table::ReportTable;
use super::words::percent;
use crate::{OutOfMemoryReport, ReportedArray, ReportedSize, short_bytes};

pub(super) fn answer(report: &OutOfMemoryReport, settings: &ReportSettings) -> Answer {
    let mut answer = Answer::default();
    for sentence in totals(report) {
        answer.sentence(sentence);
    }
    let arrays: Vec<&ReportedArray> = report.allocations.iter().take(settings.rows).collect();
    if arrays.is_empty() {
        let what = if report.has_sizes() || report.failed.is_some() {
            "lists no arrays"
        } else {
            "names neither sizes nor arrays"
        };
        answer.line(format_args!(
            "The report {what}. The dump of the program does: run it with\n\
             XLA_FLAGS=--xla_dump_to=FOLDER and read its file ...after_optimizations.txt, or the one of a smaller batch."
        ));
    } else {
        add_arrays(&mut answer, &arrays, settings);
    }
    let bytes = |size: &Option<ReportedSize>| size.as_ref().map(|size| size.bytes);
    let parts: Vec<Value> =
        report.parts.iter().map(|(name, size)| json!({"part": name, "bytes": size.bytes})).collect();
    answer.object(json!({
        "type": "out_of_memory", "memory": report.memory, "needed_bytes": bytes(&report.used),
        "available_bytes": bytes(&report.capacity), "missing_bytes": bytes(&report.missing),
        "asked_bytes": bytes(&report.asked), "free_bytes": bytes(&report.free),
        "total_bytes": bytes(&report.total), "parts": parts,
        "failed_instruction": report.failed.as_ref().map(|failed| failed.instruction.as_str()),
        "failed_shape": report.failed.as_ref().map(|failed| failed.shape.as_str()),
    }));
    answer
}

fn add_arrays(answer: &mut Answer, arrays: &[&ReportedArray], settings: &ReportSettings) {
    let sum = |bytes: fn(&ReportedArray) -> u64| arrays.iter().map(|array| u128::from(bytes(array))).sum::<u128>();
    let (bytes, unpadded) = (sum(|array| array.bytes), sum(|array| array.unpadded_bytes));
    let padded = bytes.saturating_sub(unpadded);
    answer.sentence(format_args!(
        "Largest allocations: {} with {}, of which {} ({}) are padding.\n",
        arrays.len(),
        short_bytes(bytes),
        short_bytes(padded),
        percent(padded, bytes)
    ));
    let mut table = ReportTable::new(">bytes|>padding|used as|instruction|shape|op_name");
    // The padded shapes that get advice, each once, with the advice.
    let mut advised: Vec<(&str, String)> = Vec::new();
    for array in arrays {
        let wasted = array.bytes.saturating_sub(array.unpadded_bytes);
        table.row([
            array.size.as_ref().map_or_else(|| short_bytes(array.bytes), ReportedSize::to_string),
            short_bytes(wasted),
            array.kind.clone(),
            array.instruction.clone(),
            if array.shape.is_empty() { "(no array)".to_owned() } else { array.shape.clone() },
            array.op_name.clone(),
        ]);
        let advice = array.array.as_ref().filter(|_| wasted > 0).map(|shape| padding(shape, settings.tpu));
        if let Some(advice) = advice.as_ref().filter(|_| wasted.saturating_mul(10) > array.bytes)
            && advised.iter().all(|(shape, _)| *shape != array.shape)
        {
            advised.push((&array.shape, advice.clone()));
        }
        answer.object(json!({
            "type": "allocation", "allocated_bytes": array.bytes, "logical_bytes": array.unpadded_bytes,
            "wasted_bytes": wasted, "used_as": array.kind,
            "instruction": array.instruction, "op_name": array.op_name,
            "shape": array.shape, "advice": advice,
        }));
    }
    answer.table(table);
    answer.line("");
    for (shape, advice) in advised {
        answer.sentence(format_args!("{shape}: {advice}."));
    }
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

//! Two layouts: where they differ, and the copy from one to the other.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::plan::CopyPass;
use tensor_layout::plan::{CopyBox, Loop, Stride};
use tensor_layout::relayout::Settings;
use tensor_layout_text::layout::{PartCopy, copies};

use crate::answer::{list, read, with};

/// How many boxes are listed with their loops, and how many contiguous runs are stepped through.
const MOST_BOXES: usize = 8;
const MOST_RUNS: usize = 256;

pub(crate) fn compare(first: &str, second: &str) -> Result<Value, Error> {
    let (first, second) = (read(first)?, read(second)?);
    let Some(difference) = first.difference(&second)? else {
        return Ok(json!({ "same": true, "index": null, "reason": null }));
    };
    let reason = difference.reason;
    let Some(index) = difference.index else { return Ok(json!({ "same": false, "index": null, "reason": reason })) };
    let answer = json!({ "same": false, "index": list(&index), "reason": reason });
    if let (Ok(a), Ok(b)) = (first.values().place(&index), second.values().place(&index)) {
        return Ok(with(answer, "offsets", vec![a.offset.to_string(), b.offset.to_string()]));
    }
    Ok(answer)
}

pub(crate) fn relayout(source: &str, destination: &str) -> Result<Value, Error> {
    let copies = copies(&read(source)?, &read(destination)?, &Settings::default())?;
    let (mut explain, mut passes) = (String::new(), Vec::new());
    for copy in copies.list().iter().take(MOST_BOXES) {
        if copies.only().is_none() {
            let ([from, to], count) = (copy.at, copies.list().len());
            explain.push_str(&format!("one of {count} copies, from byte {from} to byte {to}\n"));
        }
        explain.push_str(&copy.plan.explain());
        let count = copy.plan.passes().count();
        for (number, pass) in copy.plan.passes().enumerate() {
            // A pass between two others has both sides in buffers in between.
            let value = with(pass_value(copy, &pass), "first", number == 0);
            passes.push(with(value, "last", number.saturating_add(1) == count));
        }
    }
    Ok(json!({ "explain": explain, "passes": passes }))
}

fn pass_value(part: &PartCopy, pass: &CopyPass<'_>) -> Value {
    let elements = |at: u64, bits: u32| at.saturating_mul(8).checked_div(bits.into()).unwrap_or(0);
    let boxes = || {
        pass.boxes().map(|mut copy| {
            copy.source = copy.source.saturating_add(elements(part.at[0], part.plan.source().element_bits()));
            let to = elements(part.at[1], part.plan.destination().element_bits());
            copy.destination = copy.destination.saturating_add(to);
            copy
        })
    };
    let mut runs = Vec::new();
    for copy in boxes().take(MOST_RUNS) {
        collect_runs(&copy, &mut runs);
        if runs.len() >= MOST_RUNS {
            break;
        }
    }
    json!({
        "boxes": pass.box_count.to_string(),
        "nests": boxes().take(MOST_BOXES).map(|copy| nest(&copy)).collect::<Vec<_>>(),
        "runs": runs.iter().map(list).collect::<Vec<_>>(),
        "source_elements": pass.source_elements.to_string(),
        "destination_elements": pass.destination_elements.to_string(),
    })
}

fn nest(copy: &CopyBox) -> Value {
    let loops: Vec<Value> = copy
        .loops()
        .iter()
        .map(|step| match step {
            Loop::Strided(Stride { extent, source, destination }) => json!({
                "extent": extent.to_string(), "source": source.to_string(), "destination": destination.to_string(),
            }),
            table => json!({ "extent": table.extent().to_string(), "table": true }),
        })
        .collect();
    json!({ "source": copy.source.to_string(), "destination": copy.destination.to_string(), "loops": loops })
}

/// The runs that are contiguous on both sides, in the order of the loops: source, destination and length in
/// elements.
fn collect_runs(copy: &CopyBox, runs: &mut Vec<[u64; 3]>) {
    let loops = copy.loops();
    let (outer, length) = match loops.split_last() {
        Some((Loop::Strided(Stride { extent, source: 1, destination: 1 }), outer)) => (outer, *extent),
        _ => (loops, 1),
    };
    if copy.elements() == 0 {
        return;
    }
    let count = outer.iter().fold(1, |product: u64, step| product.saturating_mul(step.extent()));
    for number in (0..count).take(MOST_RUNS.saturating_sub(runs.len())) {
        // The innermost loop counts fastest.
        let mut rest = number;
        let (source, destination) = outer.iter().rev().fold((copy.source, copy.destination), |from, step| {
            let i = rest.checked_rem(step.extent()).unwrap_or(0);
            rest = rest.checked_div(step.extent()).unwrap_or(0);
            step.at(i, from)
        });
        runs.push([source, destination, length]);
    }
}

//! Two layouts: where they differ, and the copy from one to the other.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::plan::CopyPass;
use tensor_layout::plan::{CopyBox, Loop, Stride};
use tensor_layout::relayout::Relayout;

use crate::answer::{list, read};

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
    let mut answer = json!({ "same": false, "index": list(&index), "reason": reason });
    if let (Ok(a), Ok(b)) = (first.values().place(&index), second.values().place(&index)) {
        answer["offsets"] = json!([a.offset.to_string(), b.offset.to_string()]);
    }
    Ok(answer)
}

pub(crate) fn relayout(source: &str, destination: &str) -> Result<Value, Error> {
    let relayout = Relayout::new(&read(source)?, &read(destination)?)?;
    let passes: Vec<Value> = relayout.passes().map(|pass| pass_value(&pass)).collect();
    Ok(json!({ "explain": relayout.explain(), "passes": passes }))
}

fn pass_value(pass: &CopyPass<'_>) -> Value {
    let mut runs = Vec::new();
    for copy in pass.boxes().take(MOST_RUNS) {
        collect_runs(&copy, &mut runs);
        if runs.len() >= MOST_RUNS {
            break;
        }
    }
    json!({
        "boxes": pass.box_count().to_string(),
        "nests": pass.boxes().take(MOST_BOXES).map(|copy| nest(&copy)).collect::<Vec<_>>(),
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

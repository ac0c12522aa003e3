//! `convert --transfers`: a copy as a list for who executes it.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::relayout::Relayout;
use tensor_layout_text::layout::Copies;
use tensor_layout_transfers::{Loop, Summary, Transfer, TransferLimits, Transfers};

use crate::answer::Answer;
use crate::output::{Output, Stop, Verdict, refused};
use crate::table::{Table, counted, lines, long_bytes};
use crate::terminal::fitted;

const SHOWN: usize = 8;

/// The most runs that are visited to count a list that is not printed whole.
const VISITS: u64 = 1 << 24;

/// Lists the copies of each plane, or of all fields of pages together.
pub(crate) fn list(
    texts: [&str; 2],
    copies: &Copies,
    (loops, limits): (Option<usize>, Option<&str>),
    is_one_list: bool,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let mut executor = match limits {
        Some(limits) => limits.parse().map_err(|error: Error| Stop::Unusable(error.to_string()))?,
        None => TransferLimits::any(),
    };
    executor.loops = loops.or(executor.loops);
    if copies.list().iter().any(|copy| copy.flip != 0) {
        let sentence = "a transfer moves bytes as they are, and this copy flips bits of them";
        return Err(Stop::Unusable(sentence.into()));
    }
    let mut copies: Vec<_> = copies.list().iter().collect();
    if is_one_list {
        // The fields of a page become one run where they lie behind each other.
        copies.sort_by_key(|copy| copy.at[1]);
    }
    for (number, planes) in copies.chunk_by(|one, other| one.plane == other.plane || is_one_list).enumerate() {
        let plans: Vec<(&Relayout, [u64; 2])> = planes.iter().map(|copy| (&*copy.plan, copy.at)).collect();
        if number > 0 && !output.is_json() {
            output.line("")?;
        }
        list_plane(texts, &plans, &executor, output)?;
    }
    Ok(Verdict::Well)
}

fn list_plane(
    [from, to]: [&str; 2],
    plans: &[(&Relayout, [u64; 2])],
    executor: &TransferLimits,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let list = Transfers::placed(plans, executor).map_err(refused(&format!("{from} -> {to}")))?;
    let mut answer = output.new_answer("transfers");
    let lengths = lengths(plans, executor);
    let counts = lengths.iter().filter_map(|(loops, count)| Some(json!({ "loops": loops, "count": count.ok()? })));
    answer.keys(|| json!({ "from": from, "to": to, "counts": counts.collect::<Vec<_>>() }));
    if output.is_json() {
        return print_json(answer, &list, output);
    }
    answer.line(format_args!("from {from}\nto   {to}"));
    let summary = list.summary_within(VISITS);
    match summary {
        Some(Summary { count: 0, .. }) => {
            answer.line("0 transfers: there is nothing to copy");
            return output.answer(&answer);
        }
        Some(Summary { bytes, count, shortest_bytes, longest_bytes }) => {
            let runs = match shortest_bytes == longest_bytes {
                true => long_bytes(longest_bytes),
                false => format!("{shortest_bytes} to {}", long_bytes(longest_bytes)),
            };
            let kind = kind(count, executor.loops);
            answer.sentence(format_args!("{kind}: {} in runs of {runs}", long_bytes(bytes)));
        }
        None => {
            let kind = kind(list.count_at_most(), executor.loops);
            answer.sentence(format_args!("up to {kind}, too many to count here"));
        }
    }
    let others = lengths.into_iter().filter(|(loops, _)| *loops != executor.loops);
    let others = others.map(|(loops, count)| match count {
        Ok(count) => kind(count, loops),
        Err(most) => format!("up to {}", kind(most, loops)),
    });
    let others: Vec<String> = others.collect();
    answer.lines((!others.is_empty()).then(|| fitted(format_args!("or else {}", others.join(", ")))));
    let mut table = Table::new(">source|>destination|>bytes|loops: count (source, destination stride)");
    for Transfer { source, destination, bytes, loops } in list.iter().take(SHOWN) {
        let loops = loops.iter().map(|Loop { count, source_stride, destination_stride }| {
            format!("{count} ({source_stride}, {destination_stride})")
        });
        let loops: Vec<String> = loops.collect();
        // Two loops a row: more would not fit in 80 columns.
        let mut rows = loops.chunks(2).map(|loops| loops.join(" "));
        let first = rows.next().unwrap_or_default();
        table.row([source.to_string(), destination.to_string(), bytes.to_string(), first]);
        rows.for_each(|loops| table.row([String::new(), String::new(), String::new(), loops]));
    }
    answer.line("");
    answer.lines(lines(&table));
    match summary.map(|summary| summary.count.saturating_sub(SHOWN as u64)) {
        Some(0) => {}
        Some(more) => answer.line(format_args!("and {more} more, which --json lists")),
        None => answer.line("and more, which --json lists"),
    }
    output.answer(&answer)
}

/// Names a number of transfers with this most number of loops.
fn kind(count: u64, loops: Option<usize>) -> String {
    match loops {
        Some(0) => counted(count, "plain range"),
        Some(loops) => format!("{} of up to {}", counted(count, "transfer"), counted(loops as u64, "loop")),
        None => format!("{} of any loops", counted(count, "transfer")),
    }
}

/// The most loops of a transfer, and the length of the list with these, or what it is at most.
type Length = (Option<usize>, Result<u64, u64>);

/// Returns how long the list is with other loops.
fn lengths(plans: &[(&Relayout, [u64; 2])], executor: &TransferLimits) -> Vec<Length> {
    let length = |loops| {
        let mut executor = executor.clone();
        executor.loops = loops;
        let list = Transfers::placed(plans, &executor).ok()?;
        Some((loops, list.summary_within(VISITS).map(|summary| summary.count).ok_or_else(|| list.count_at_most())))
    };
    [Some(0), Some(1), Some(2), None].into_iter().filter_map(length).collect()
}

/// Prints the object, one transfer after another: a list may be longer than memory.
fn print_json(mut answer: Answer, list: &Transfers, output: &mut Output) -> Result<Verdict, Stop> {
    let Summary { bytes, count, shortest_bytes, longest_bytes } = list.summary();
    answer.keys(|| {
        json!({
            "bytes": bytes, "count": count, "shortest_bytes": shortest_bytes, "longest_bytes": longest_bytes,
        })
    });
    let head = answer.to_string();
    output.bytes(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    output.bytes(b",\"transfers\":[")?;
    for (place, Transfer { source, destination, bytes, loops }) in list.iter().enumerate() {
        let loops: Vec<Value> = loops.iter().map(|Loop { count, source_stride, destination_stride }| {
            json!({ "count": count, "source_stride": source_stride, "destination_stride": destination_stride })
        }).collect();
        let transfer = json!({ "source": source, "destination": destination, "bytes": bytes, "loops": loops });
        let comma = if place == 0 { "" } else { "," };
        output.bytes(format!("{comma}{transfer}").as_bytes())?;
    }
    output.line("]}").map(|()| Verdict::Well)
}

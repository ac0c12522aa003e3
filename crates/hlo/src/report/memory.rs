//! The first part of the report: the peak of each memory space, and the arrays that are alive there.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::Answer;
use super::table::ReportTable;
use super::words::{joined, long_bytes, pattern, percent, small, space_name, tuple_index};
use crate::{
    BufferAssignment, BufferUse, InstructionPlace, LiveBuffer, LiveMemory, MemoryTotal, SpaceUse, memory_name,
    short_bytes,
};

/// Whether the compiler may need more than the peak of a space.
fn is_at_least(live: &LiveMemory<'_>, space: &SpaceUse) -> bool {
    space.may_have_gaps || live.unknown_operands() > 0
}

/// A memory space gets no table if its peak is smaller than the largest peak by this factor.
const NEGLIGIBLE: u128 = 10_000;

const NOT_IN_THE_TEXT: &str =
    "Not in the text: scratch memory of single operations, alignment, gaps between buffers, code.";

const GAPS: &str = "At least, because temporaries of several sizes leave gaps where one does not fit into the place of another. The \
    compiler's buffer assignment has them: XLA_FLAGS=--xla_dump_to=FOLDER writes it beside the dump.";

/// How each backend of JAX counts `peak_memory_in_bytes`, in words. README.md has the comparison.
const REPORTED_ON_TPU: &str = "as libtpu 0.0.52 counts (within 1% for 41 of 47 programs)";
const REPORTED_ON_CPU: &str = "without temporaries, as XLA's CPU backend counts";

/// The name of a table's last row, if the buffer assignment has more bytes than the arrays that are alive.
const FRAGMENTATION: &str = "(fragmentation)";
/// The name of a table's last row, if the buffer assignment has fewer bytes than the arrays that are alive.
const NOT_COUNTED: &str = "(not counted by the compiler)";

pub(super) struct Peak<'a> {
    pub(super) live: Option<&'a LiveMemory<'a>>,
    /// The name of the file with XLA's buffer assignment, and what that file says.
    pub(super) assignment: Option<(&'a str, &'a BufferAssignment)>,
    pub(super) rows: usize,
    /// Whether every line could be read and every array has a size. Otherwise the sums are too small.
    pub(super) is_whole: bool,
}

impl Peak<'_> {
    pub(super) fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        match self.live {
            None => answer.line("no peak: the text has no entry computation, so its end is missing"),
            Some(live) => self.add_live(live, &mut answer),
        }
        if let Some((file, assignment)) = self.assignment {
            answer.line(format_args!("Totals by {file}."));
            if assignment.local_bytes() > 0 {
                answer.line(format_args!(
                    "Thread-local allocations ({}) are in no total: they hold values inside one instruction, such as those \
                     that a sort compares.",
                    short_bytes(assignment.local_bytes())
                ));
            }
            if assignment.unreadable() > 0 {
                answer.complain(format_args!("{file}: {} lines could not be read", assignment.unreadable()));
            }
            let is_for_tpu = self.live.is_none_or(LiveMemory::is_for_tpu);
            for space in assignment.spaces() {
                let object = json!({
                    "type": "assigned", "buffer_assignment": file, "assigned_in": space,
                    "memory": memory_name(space, is_for_tpu),
                });
                answer.object(joined(object, total_keys(&assignment.total(space))));
            }
        }
        let from = if self.assignment.is_some() { "buffer assignment" } else { "text" };
        let total = self.live.map(|live| {
            let object = joined(json!({ "from": from }), total_keys(&live.total()));
            let at_least = live.spaces().iter().any(|space| space.space == 0 && is_at_least(live, space));
            let reported = small(live.reported_peak());
            joined(object, json!({ "reported_peak_bytes": reported, "at_least": at_least, "complete": self.is_whole }))
        });
        answer.object(json!({ "type": "total", "total": total }));
        answer
    }

    fn add_live(&self, live: &LiveMemory<'_>, answer: &mut Answer) {
        if !live.is_scheduled() {
            answer.sentence("the module is not scheduled: instructions are taken in the order of the text\n");
        }
        if !self.is_whole {
            answer.sentence("Not all of the text could be read (see below): what is missing is in no figure.\n");
        }
        let largest = live.spaces().iter().map(|space| space.total.peak_bytes).max().unwrap_or(0);
        let mut others = Vec::new();
        for space in live.spaces() {
            let (name, peak) = (space_name(space.space, live.is_for_tpu()), space.total.peak_bytes);
            let buffers = live.live_at(space.space, space.peak_time.unwrap_or(0));
            add_objects(live, space, buffers.iter().take(self.rows), answer);
            if peak > 0 && peak.saturating_mul(NEGLIGIBLE) >= largest {
                self.add_space(live, space, &buffers, answer);
            } else if peak > 0 {
                others.push(format!("{name} {}", short_bytes(peak)));
            }
        }
        if !others.is_empty() {
            answer.sentence(format_args!("Other memories: {}.", others.join(", ")));
        }
        if live.unknown_operands() > 0 {
            answer.sentence(format_args!(
                "{} operands are not defined in the text: buffers may be in use for longer than shown",
                live.unknown_operands()
            ));
        }
        if live.spaces().iter().any(|space| space.may_have_gaps) {
            answer.sentence(GAPS);
        }
        if self.is_whole {
            let what = if live.is_for_tpu() { REPORTED_ON_TPU } else { REPORTED_ON_CPU };
            let reported = short_bytes(live.reported_peak());
            answer.sentence(format_args!("peak_memory_in_bytes of JAX is about {reported}, {what}."));
        }
        if self.assignment.is_none() {
            answer.sentence(NOT_IN_THE_TEXT);
        }
    }

    /// Adds the totals of one memory space, and the arrays that are alive at its peak. The rows of the table
    /// add up to the peak.
    fn add_space(&self, live: &LiveMemory<'_>, space: &SpaceUse, buffers: &[LiveBuffer], answer: &mut Answer) {
        let total = &space.total;
        let at_least = match (self.is_whole, is_at_least(live, space)) {
            (false, _) => "about ",
            (true, true) => "at least ",
            (true, false) => "",
        };
        let (name, bytes) = (space_name(space.space, live.is_for_tpu()), long_bytes(small(total.peak_bytes)));
        let peak = format!("{name}: {at_least}{bytes} at the peak");
        match space.peak_time.and_then(|time| Some((time, live.instruction(time)?))) {
            Some((time, place)) => answer.sentence(format_args!(
                "{peak}, instruction {time} of {}: {} ({}, line {})",
                live.instructions(),
                place.instruction,
                place.opcode,
                place.line
            )),
            None => answer.line(format_args!("{peak}, all the time")),
        }
        add_total(space, answer);
        if let Some((_, assignment)) = self.assignment.filter(|_| buffers.is_empty()) {
            return add_assigned(assignment, space.space, self.rows, answer);
        }
        let groups = Group::of(buffers);
        let mut table = ReportTable::new(">bytes|>share|?arrays|used as|instruction|?opcode|shape|op_name|?source");
        for group in groups.iter().take(self.rows) {
            let (buffer, bytes) = (group.first, group.bytes());
            let (instruction, opcode) = (group.instruction(), &buffer.place.opcode);
            // The operation is not printed if the name of the instruction begins with it, as most names do.
            let is_said = buffer.used_as == BufferUse::Argument || instruction.starts_with(opcode.as_str());
            let arrays = format!("{} x {}", group.count, short_bytes(buffer.bytes));
            table.row([
                short_bytes(bytes),
                percent(bytes, total.peak_bytes),
                if group.count > 1 { arrays } else { String::new() },
                buffer.used_as.name().to_owned(),
                instruction,
                if is_said { String::new() } else { opcode.clone() },
                buffer.shape.clone(),
                group.op_name(),
                source(&buffer.place).unwrap_or_default(),
            ]);
        }
        let others = groups.get(self.rows..).unwrap_or(&[]);
        let (count, bytes) =
            (others.iter().map(|group| group.count).sum::<u64>(), others.iter().map(Group::bytes).sum::<u128>());
        let gap = total.peak_bytes.saturating_sub(space.live_bytes);
        let more = space.live_bytes.saturating_sub(total.peak_bytes);
        for (bytes, share, sign, name) in [
            (bytes, bytes, "", format!("({count} more)")),
            (gap, gap, "", FRAGMENTATION.to_owned()),
            (more, 0, "-", NOT_COUNTED.to_owned()),
        ] {
            if bytes > 0 {
                let bytes = format!("{sign}{}", short_bytes(bytes));
                table.row([bytes, percent(share, total.peak_bytes), String::new(), String::new(), name]);
            }
        }
        answer.table(table);
        answer.line("");
    }
}

/// Adds the largest temporaries of a memory space that no array in the HLO text is in. Only the buffer
/// assignment names them.
fn add_assigned(assignment: &BufferAssignment, space: u64, rows: usize, answer: &mut Answer) {
    let mut table = ReportTable::new(">bytes|>offset|value|shape");
    for value in assignment.largest_temporaries(space).iter().take(rows) {
        table.row([short_bytes(value.bytes), value.offset.to_string(), value.name.clone(), value.shape.clone()]);
    }
    answer.table(table);
    answer.line("");
}

/// Adds how many bytes parameters, results and temporaries take. A byte that a result shares with a parameter
/// is counted once.
fn add_total(space: &SpaceUse, answer: &mut Answer) {
    let total = &space.total;
    let outside = total.peak_bytes.saturating_sub(total.temp_bytes);
    let temporaries = space.live_bytes.saturating_sub(outside).min(total.temp_bytes);
    let shared = match small(total.alias_bytes) {
        0 => String::new(),
        bytes => format!("+ {} in parameters", short_bytes(bytes)),
    };
    let mut table = ReportTable::without_head("|>|>|");
    for (name, bytes, note) in [
        ("parameters", total.argument_bytes, ""),
        ("results", total.output_bytes.saturating_sub(total.alias_bytes), shared.as_str()),
        ("temporaries", temporaries, ""),
        ("fragmentation", total.temp_bytes.saturating_sub(temporaries), "and alignment"),
        ("constants", total.constant_bytes, "not part of the peak"),
    ] {
        if bytes > 0 || (!note.is_empty() && name == "results") {
            let share = if name == "constants" { String::new() } else { percent(bytes, total.peak_bytes) };
            table.row([format!("  {name}"), long_bytes(small(bytes)), share, note.to_owned()]);
        }
    }
    answer.table(table);
    answer.line("");
}

fn source(place: &InstructionPlace) -> Option<String> {
    place.source.as_ref().map(|source| format!("{}:{}", source.file, source.line))
}

/// Adds the object of a memory space, and those of the buffers that are alive at its peak.
fn add_objects<'a>(
    live: &LiveMemory<'_>,
    space: &SpaceUse,
    buffers: impl Iterator<Item = &'a LiveBuffer>,
    answer: &mut Answer,
) {
    let peak = space.peak_time.and_then(|time| Some((time, live.instruction(time)?)));
    let peak = peak.map(|(time, place)| {
        json!({
            "time": time, "instruction": place.instruction, "opcode": place.opcode,
            "computation": *place.computation, "op_name": place.op_name, "source": source(&place),
            "line": place.line,
        })
    });
    let object = joined(json!({ "type": "memory", "peak_of": space.space }), total_keys(&space.total));
    let more = json!({
        "memory": memory_name(space.space, live.is_for_tpu()), "live_bytes": small(space.live_bytes),
        "at_least": is_at_least(live, space), "scheduled": live.is_scheduled(),
        "instructions_in_schedule": live.instructions(), "peak": peak,
    });
    answer.object(joined(object, more));
    for buffer in buffers {
        answer.object(json!({
            "type": "live", "live_in": space.space, "used_as": buffer.used_as.name(), "bytes": buffer.bytes,
            "instruction": buffer.place.instruction, "tuple_index": buffer.tuple_index,
            "opcode": buffer.place.opcode, "computation": *buffer.place.computation,
            "op_name": buffer.place.op_name, "source": source(&buffer.place),
            "shape": buffer.shape, "line": buffer.place.line,
        }));
    }
}

fn total_keys(total: &MemoryTotal) -> Value {
    json!({
        "argument_bytes": small(total.argument_bytes), "output_bytes": small(total.output_bytes),
        "alias_bytes": small(total.alias_bytes), "temp_bytes": small(total.temp_bytes),
        "constant_bytes": small(total.constant_bytes), "peak_bytes": small(total.peak_bytes),
    })
}

/// Buffers of the same shape and use whose names differ only in numbers.
struct Group<'a> {
    /// The first buffer of the group. The row shows its shape and its size.
    first: &'a LiveBuffer,
    count: u64,
}

impl<'a> Group<'a> {
    /// Sorts buffers into groups. The group with the most bytes in all comes first.
    fn of(buffers: &'a [LiveBuffer]) -> Vec<Group<'a>> {
        let mut found: Vec<Group<'a>> = Vec::new();
        let mut places = HashMap::new();
        for buffer in buffers {
            let name = buffer.place.op_name.as_deref().map_or_else(|| stem(&buffer.place.instruction), pattern);
            let source = buffer.place.source.as_ref().map(|source| (&source.file, source.line));
            let key = (buffer.used_as, &buffer.place.opcode, &buffer.shape, name, source, buffer.tuple_index.len());
            let place = *places.entry(key).or_insert(found.len());
            match found.get_mut(place) {
                Some(group) => group.count = group.count.saturating_add(1),
                None => found.push(Group { first: buffer, count: 1 }),
            }
        }
        found.sort_by_key(|group| std::cmp::Reverse(group.bytes()));
        found
    }

    fn bytes(&self) -> u128 {
        u128::from(self.first.bytes).saturating_mul(self.count.into())
    }

    /// Returns the name of the instruction. If the group has several buffers, `*` replaces the numbers in the
    /// name.
    fn instruction(&self) -> String {
        let place = &self.first.place;
        if self.count > 1 {
            return format!("{}*", stem(&place.instruction).trim_end_matches('*'));
        }
        format!("{}{}", place.instruction, tuple_index(&self.first.tuple_index))
    }

    fn op_name(&self) -> String {
        let name = self.first.place.op_name.as_deref().unwrap_or_default();
        if self.count > 1 { pattern(name) } else { name.to_owned() }
    }
}

/// Returns the name of an instruction with `*` for its numbers, without the number that XLA appends after a
/// point.
fn stem(name: &str) -> String {
    let unnumbered = name.rsplit_once('.').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    pattern(unnumbered.map_or(name, |(stem, _)| stem))
}

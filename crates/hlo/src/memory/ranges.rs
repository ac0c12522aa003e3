//! `Ranges`: the time from the first to the last use of each part of each result.

use std::collections::HashSet;

use super::aliases::Aliases;
use super::fusion::taken;
use super::module::{Module, NONE, place};
use super::role::Role;
use super::schedule::Schedule;

/// The first and the last time at which every part in the schedule is in use. Both times are included.
///
/// The last time is the last use of the part *by this name*. Another name for the same buffer has a range of
/// its own. As in `HloLiveRange` of XLA, the result of a computation is in use until the computation ends,
/// the first state of a loop until the body begins, and a value inside an asynchronous computation until the
/// operation ends.
#[derive(Debug)]
pub(super) struct Ranges {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Ranges {
    pub(super) fn new(module: &Module, schedule: &Schedule, aliases: &Aliases, entry: u32) -> Ranges {
        let mut starts = vec![NONE; module.nodes.len()];
        for (time, &id) in (0_u32..).zip(&schedule.order) {
            set(&mut starts, id, time);
        }
        // `whole` collects the last use of each result as a whole, which counts for all its parts. Visiting
        // the parts at every use would take time in the product of the number of uses and the number of
        // parts.
        let mut whole = starts.clone();
        let mut ranges = Ranges { starts: vec![0; aliases.len()], ends: vec![0; aliases.len()] };
        for (time, &id) in (0_u32..).zip(&schedule.order) {
            let until = match module.role(id) {
                Role::GetTupleElement => {
                    ranges.use_element(module, aliases, id, time);
                    continue;
                }
                Role::While => Schedule::body(module, id).map_or(time, |body| called_at(schedule, body, id, time)),
                Role::Call => module.calls(id).first().map_or(time, |&called| called_at(schedule, called, id, time)),
                // The operands of a `ConcatBitcast` are already in the memory of its result, so it does not
                // use them.
                Role::CustomCall if module.is_marked(id) => time.saturating_sub(1),
                _ => time,
            };
            for &operand in module.operands(id) {
                raise(&mut whole, operand, until);
            }
        }
        for computation in schedule.computations() {
            let times = schedule.times(computation);
            raise(&mut whole, module.root(computation).unwrap_or(NONE), times.end);
            let asynchronous = schedule.asynchronous_end(computation);
            for id in module.nodes_of(computation) {
                // A parameter is in use from the start of its computation, even if other instructions come
                // before it in the text.
                if module.role(id) == Role::Parameter {
                    set(&mut starts, id, times.start);
                }
                if let Some(end) = asynchronous {
                    raise(&mut whole, id, end);
                }
            }
        }
        for &id in &schedule.order {
            let (start, end) = (get(&starts, id), get(&whole, id));
            for part in 0..module.parts(id).len() {
                let part = aliases.part(id, part);
                set(&mut ranges.starts, part, start);
                raise(&mut ranges.ends, part, end);
            }
        }
        ranges.keep_parameters(module, schedule, aliases, entry);
        ranges
    }

    /// Keeps the parameters of the program in use until its end. A donated parameter is left out, because a
    /// result is written over it after its last use.
    fn keep_parameters(&mut self, module: &Module, schedule: &Schedule, aliases: &Aliases, entry: u32) {
        let end = schedule.times(entry).end;
        let parts_of = |id: u32| (0..module.parts(id).len()).map(move |part| aliases.part(id, part));
        let results: HashSet<u32> =
            module.root(entry).into_iter().flat_map(parts_of).map(|part| aliases.buffer_of(part)).collect();
        for part in module.parameters(entry).flat_map(|(_, id)| parts_of(id)) {
            if !results.contains(&aliases.buffer_of(part)) {
                raise(&mut self.ends, part, end);
            }
        }
    }

    /// Records that a `get-tuple-element` uses the table of pointers and one element of its operand.
    fn use_element(&mut self, module: &Module, aliases: &Aliases, id: u32, time: u32) {
        let operand = module.operand(id, 0);
        raise(&mut self.ends, aliases.part(operand, 0), time);
        let Some(taken) = taken(module, id) else { return };
        let count = module.parts(operand).count(taken);
        if count == module.parts(id).len() {
            for part in 0..count {
                raise(&mut self.ends, aliases.part(operand, taken.saturating_add(part)), time);
            }
        }
    }

    /// Returns the first and the last time at which a part is in use.
    pub(super) fn of(&self, part: u32) -> (u32, u32) {
        (get(&self.starts, part), get(&self.ends, part))
    }
}

/// Returns the time at which a called computation begins. If another caller placed the computation in the
/// schedule, it returns `time`, the time of this caller.
fn called_at(schedule: &Schedule, called: u32, caller: u32, time: u32) -> u32 {
    if schedule.is_placed_by(called, caller) { schedule.times(called).start } else { time }
}

pub(super) fn get(all: &[u32], at: u32) -> u32 {
    all.get(place(at)).copied().unwrap_or(0)
}

fn set(all: &mut [u32], at: u32, value: u32) {
    if let Some(entry) = all.get_mut(place(at)) {
        *entry = value;
    }
}

pub(super) fn raise(all: &mut [u32], at: u32, value: u32) {
    if let Some(entry) = all.get_mut(place(at)) {
        *entry = value.max(*entry);
    }
}

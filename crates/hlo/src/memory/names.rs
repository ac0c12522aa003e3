//! `Names`: under which names each value is known, and when.

use super::aliases::Aliases;
use super::module::Module;
use super::part::PartKind;
use super::schedule::Schedule;

/// The times at which each value gets its names: tuples, calls, loops and bitcasts name a value again.
///
/// XLA writes a result over an operand only if the operand is the last name of its value
/// (`HloLiveRange::TimeBound::end_position`). So if a loop or a branch reads a value, no later instruction
/// writes over it: the call of the loop is the last name of the value, and is no operand of that instruction.
pub(super) struct Names {
    /// The value of each part, as the number of the part that represents it.
    values: Vec<u32>,
    /// Pairs of a value and a time, sorted.
    times: Vec<(u32, u32)>,
}

impl Names {
    /// Collects the names. `aliases` joins those parts that must share a buffer, and no others.
    pub(super) fn new(module: &Module, schedule: &Schedule, aliases: &mut Aliases) -> Names {
        let parts = u32::try_from(aliases.len()).unwrap_or(u32::MAX);
        let values: Vec<u32> = (0..parts).map(|part| aliases.buffer(part)).collect();
        let mut times = Vec::new();
        for (time, &id) in (0_u32..).zip(&schedule.order) {
            let arrays = module.parts(id).iter().filter(|(_, kind)| matches!(kind, PartKind::Array(_)));
            times.extend(arrays.map(|(part, _)| (aliases.buffer(aliases.part(id, part)), time)));
        }
        times.sort_unstable();
        times.dedup();
        Names { values, times }
    }

    /// Whether `operand`, an array, is the last name of its value before `time`.
    pub(super) fn is_last(&self, schedule: &Schedule, aliases: &Aliases, operand: u32, time: u32) -> bool {
        let part = usize::try_from(aliases.part(operand, 0)).ok();
        let Some(&value) = part.and_then(|part| self.values.get(part)) else { return false };
        let before = self.times.partition_point(|&entry| entry < (value, time));
        let last = before.checked_sub(1).and_then(|at| self.times.get(at)).filter(|(of, _)| *of == value);
        let name = last.and_then(|&(_, time)| schedule.order.get(usize::try_from(time).ok()?));
        name == Some(&operand)
    }
}

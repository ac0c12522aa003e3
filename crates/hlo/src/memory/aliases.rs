//! `Aliases`: which results share memory.

use std::collections::{HashMap, HashSet};

use super::assignment::BufferAssignment;
use super::fusion::{Fusion, in_place_pairs, taken};
use super::module::{Module, NONE, place};
use super::role::Role;
use super::schedule::Schedule;

/// Numbers for all parts of all results in the schedule, and the buffer of each part.
///
/// The rules are those of XLA's `HloDataflowAnalysis` and `HloAliasAnalysis`. Tuples, bitcasts and the later
/// halves of asynchronous operations only name existing values. The state of a loop is in one buffer. A
/// result that is updated in place is in the buffer of its operand, and a result of `input_output_alias` is
/// in the buffer of a parameter.
#[derive(Debug)]
pub(super) struct Aliases {
    /// The number of the first part of each instruction; [`NONE`] outside the schedule.
    first: Vec<u32>,
    /// A forest with one tree for each buffer: the part that represents the buffer is its own parent.
    parents: Vec<u32>,
    /// Whether several values are in a buffer, one after the other. The entry is at the part that represents
    /// the buffer.
    several: Vec<bool>,
}

impl Aliases {
    /// `None` if there are more than 2^32 parts.
    pub(super) fn new(module: &Module, schedule: &Schedule, fusions: &[Fusion], entry: u32) -> Option<Aliases> {
        let mut first = vec![NONE; module.nodes.len()];
        let mut count = 0_u32;
        for &id in &schedule.order {
            *first.get_mut(place(id))? = count;
            count = count.checked_add(module.parts(id).len())?;
        }
        let parents: Vec<u32> = (0..count).collect();
        let several = vec![false; parents.len()];
        let mut aliases = Aliases { first, parents, several };
        for &id in &schedule.order {
            aliases.join_names(module, id);
            aliases.join_called(module, schedule, id);
            for (result, operand, part) in in_place_pairs(module, fusions, id) {
                let operand = module.operand(id, operand);
                aliases.join(aliases.part(id, result), aliases.part(operand, part), true);
            }
        }
        aliases.join_donated(module, entry);
        Some(aliases)
    }

    /// The number of a part of a result; [`NONE`] outside the schedule.
    pub(super) fn part(&self, id: u32, part: u32) -> u32 {
        self.first.get(place(id)).map_or(NONE, |first| first.saturating_add(part))
    }

    /// How many parts there are.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The buffer of a part: the number of the part that represents it.
    pub(super) fn buffer(&mut self, part: u32) -> u32 {
        let mut at = part;
        loop {
            let parent = self.parents.get(place(at)).copied().unwrap_or(at);
            if parent == at {
                return at;
            }
            // Halving the path makes the next search shorter.
            let next = self.parents.get(place(parent)).copied().unwrap_or(parent);
            if let Some(entry) = self.parents.get_mut(place(at)) {
                *entry = next;
            }
            at = next;
        }
    }

    /// The buffer of a part, without shortening the next search.
    pub(super) fn buffer_of(&self, part: u32) -> u32 {
        let mut at = part;
        while let Some(&parent) = self.parents.get(place(at)).filter(|&&parent| parent != at) {
            at = parent;
        }
        at
    }

    /// Whether several values are in the buffer, one after the other.
    pub(super) fn holds_several(&self, buffer: u32) -> bool {
        self.several.get(place(buffer)).copied().unwrap_or(false)
    }

    /// Puts two parts into one buffer. `several` says that they are different values.
    pub(super) fn join(&mut self, a: u32, b: u32, several: bool) {
        if place(a) >= self.parents.len() || place(b) >= self.parents.len() {
            return;
        }
        let (a, b) = (self.buffer(a), self.buffer(b));
        let several = several || self.holds_several(a) || self.holds_several(b);
        // The earlier part represents the joined buffer. Halving keeps the paths short.
        let (low, high) = (a.min(b), a.max(b));
        if let Some(entry) = self.parents.get_mut(place(high)) {
            *entry = low;
        }
        if let Some(entry) = self.several.get_mut(place(low)) {
            *entry = several;
        }
    }

    /// Joins all parts at two places, if both have the same number of parts.
    fn join_all(&mut self, module: &Module, (a, a_part): (u32, u32), (b, b_part): (u32, u32), several: bool) {
        let count = module.parts(a).count(a_part);
        if count != module.parts(b).count(b_part) {
            return;
        }
        for part in 0..count {
            let a = self.part(a, a_part.saturating_add(part));
            let b = self.part(b, b_part.saturating_add(part));
            self.join(a, b, several);
        }
    }

    /// Joins a result that only names an operand with that operand.
    fn join_names(&mut self, module: &Module, id: u32) {
        let parts = module.parts(id);
        let operands = module.operands(id);
        let first = module.operand(id, 0);
        match module.role(id) {
            Role::GetTupleElement => {
                if let Some(part) = taken(module, id) {
                    self.join_all(module, (id, 0), (first, part), false);
                }
            }
            Role::Tuple => {
                for (&part, &operand) in parts.elements(0).iter().zip(operands) {
                    self.join_all(module, (id, part), (operand, 0), false);
                }
            }
            Role::Forward | Role::Update | Role::Done(None) => self.join_all(module, (id, 0), (first, 0), false),
            Role::Done(Some(element)) => {
                // `recv-done` returns a token beside the data.
                let result = if module.opcode(id) == "recv-done" { parts.at(&[0]) } else { Some(0) };
                if let (Some(result), Some(part)) = (result, module.parts(first).at(&[element])) {
                    self.join_all(module, (id, result), (first, part), false);
                }
            }
            Role::Start(element) => {
                let Some(held) = parts.at(&[element]) else { return };
                if parts.elements(held).is_empty() {
                    self.join_all(module, (id, held), (first, 0), false);
                }
                for (&part, &operand) in parts.elements(held).iter().zip(operands) {
                    self.join_all(module, (id, part), (operand, 0), false);
                }
            }
            _ => {}
        }
    }

    /// Joins the operands of a call with the parameters, and the root with the result.
    fn join_called(&mut self, module: &Module, schedule: &Schedule, id: u32) {
        let role = module.role(id);
        let first = module.operand(id, 0);
        let body = (role == Role::While).then(|| Schedule::body(module, id)).flatten();
        let mut seen = HashSet::new();
        for (position, &called) in (1_u32..).zip(module.calls(id)) {
            if !schedule.is_placed_by(called, id) || !seen.insert(called) {
                continue;
            }
            for (number, parameter) in module.parameters(called) {
                let operand = module.operand(id, if role == Role::Conditional { position } else { number });
                self.join_all(module, (parameter, 0), (operand, 0), role == Role::While);
            }
            let root = (module.root(called).unwrap_or(NONE), 0);
            match role {
                Role::While if body == Some(called) => self.join_all(module, root, (first, 0), true),
                Role::Conditional => self.join_all(module, root, (id, 0), true),
                Role::Call => self.join_all(module, root, (id, 0), false),
                // A start without operands has no result yet: it belongs to the update that brings the
                // operands.
                Role::Start(_) if !module.operands(id).is_empty() => {
                    if let Some(part) = module.parts(id).at(&[1]) {
                        self.join_all(module, root, (id, part), false);
                    }
                }
                _ => {}
            }
        }
        if role == Role::While {
            self.join_all(module, (id, 0), (first, 0), true);
        }
        if role == Role::Update {
            self.join_brought(module, schedule, id);
        }
    }

    /// Joins the operands that an `async-update` brings to an `async-start` without operands, as for a
    /// SparseCore. They are the parameters of the computation that the start calls, and its root is element 1
    /// of the update.
    fn join_brought(&mut self, module: &Module, schedule: &Schedule, id: u32) {
        let Some((&start, brought)) = module.operands(id).split_first().filter(|(_, brought)| !brought.is_empty())
        else {
            return;
        };
        let parts = module.parts(id);
        for (&part, &operand) in parts.at(&[0]).map_or(&[][..], |held| parts.elements(held)).iter().zip(brought) {
            self.join_all(module, (id, part), (operand, 0), false);
        }
        let Some(&called) = module.calls(start).first().filter(|&&called| schedule.is_placed_by(called, start)) else {
            return;
        };
        for (number, parameter) in module.parameters(called) {
            let operand = brought.get(place(number)).copied().unwrap_or(NONE);
            self.join_all(module, (parameter, 0), (operand, 0), false);
        }
        if let (Some(root), Some(result)) = (module.root(called), parts.at(&[1])) {
            self.join_all(module, (root, 0), (id, result), false);
        }
    }

    /// Joins the values that the compiler put into one place. Returns the bytes of each part that has a place
    /// in the assignment.
    pub(super) fn join_assigned(
        &mut self,
        module: &Module,
        schedule: &Schedule,
        assignment: &BufferAssignment,
    ) -> HashMap<u32, u64> {
        let (mut first_in, mut bytes) = (HashMap::new(), HashMap::new());
        for &id in &schedule.order {
            let parts = module.parts(id);
            for (part, _) in parts.iter() {
                let Some(place) = assignment.place(module.name(id), &parts.index_of(part)) else { continue };
                let part = self.part(id, part);
                self.join(*first_in.entry(place).or_insert(part), part, true);
                bytes.insert(part, place.bytes);
            }
        }
        bytes
    }

    /// Joins donated parameters with the results that are written over them.
    fn join_donated(&mut self, module: &Module, entry: u32) {
        let Some(root) = module.root(entry) else { return };
        let mut parameters: Vec<(u32, u32)> = module.parameters(entry).collect();
        parameters.sort_unstable();
        for alias in &module.header.aliases {
            let Ok(number) = u32::try_from(alias.parameter) else { continue };
            let Ok(found) = parameters.binary_search_by_key(&number, |&(number, _)| number) else { continue };
            let Some(&(_, parameter)) = parameters.get(found) else { continue };
            let Some(result) = module.parts(root).at(&alias.output) else { continue };
            let Some(part) = module.parts(parameter).at(&alias.parameter_index) else { continue };
            self.join(self.part(root, result), self.part(parameter, part), true);
        }
    }
}

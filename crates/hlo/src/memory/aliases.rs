//! `Aliases`: which results share a buffer.

use std::collections::{HashMap, HashSet};

use super::assignment::BufferAssignment;
use super::fusion::{Fusion, in_place_pairs, taken};
use super::module::{Module, NONE, place};
use super::role::Role;
use super::schedule::Schedule;

/// Numbers all parts of all results in the schedule, and finds the buffer of each part. A part is an array or
/// a table of pointers in the shape of a result ([`Parts`](super::part::Parts)).
///
/// The rules are those of XLA's `HloDataflowAnalysis` and `HloAliasAnalysis`. Tuples, bitcasts and the later
/// halves of asynchronous operations only name existing values. The state of a loop is in one buffer. A
/// result that is updated in place is in the buffer of its operand, and a result of `input_output_alias` is
/// in the buffer of a parameter.
#[derive(Debug)]
pub(super) struct Aliases {
    /// For each instruction, the number of the first part of its result, or [`NONE`] if the instruction is
    /// not in the schedule.
    first: Vec<u32>,
    /// A union-find forest over part numbers, with one tree for each buffer. The root of a tree represents
    /// the buffer and is its own parent.
    parents: Vec<u32>,
    /// Whether a buffer holds different values, one after the other. The entry of a buffer is at the number
    /// of the part that represents it.
    several: Vec<bool>,
    /// Whether a buffer is a parameter of the program that nothing may write over: in a text that is not
    /// scheduled yet, the copies that the compiler puts in front of such writes are missing. The entry of a
    /// buffer is at the number of the part that represents it.
    kept: Vec<bool>,
}

impl Aliases {
    /// Joins all parts that must share a buffer. `None` if there are more than 2^32 parts.
    pub(super) fn new(module: &Module, schedule: &Schedule, fusions: &[Fusion], entry: u32) -> Option<Aliases> {
        let mut first = vec![NONE; module.nodes.len()];
        let mut count = 0_u32;
        for &id in &schedule.order {
            *first.get_mut(place(id))? = count;
            count = count.checked_add(module.parts(id).len())?;
        }
        let parents: Vec<u32> = (0..count).collect();
        let (several, kept) = (vec![false; parents.len()], vec![false; parents.len()]);
        let mut aliases = Aliases { first, parents, several, kept };
        if !module.header.is_scheduled {
            aliases.keep_parameters(module, entry);
        }
        let result = module.root(entry).filter(|_| !module.header.is_scheduled);
        for &id in &schedule.order {
            if result == Some(id) && module.role(id) == Role::Tuple {
                aliases.join_results(module, id);
            } else {
                aliases.join_names(module, id);
            }
            aliases.join_called(module, schedule, id);
            for (result, operand, part) in in_place_pairs(module, fusions, id) {
                let operand = module.operand(id, operand);
                aliases.join(aliases.part(id, result), aliases.part(operand, part), true);
            }
        }
        aliases.join_donated(module, entry);
        Some(aliases)
    }

    /// Returns the number of a part among all parts. `part` is its place in the shape of instruction `id`'s
    /// result. Returns [`NONE`] if the instruction is not in the schedule.
    pub(super) fn part(&self, id: u32, part: u32) -> u32 {
        self.first.get(place(id)).map_or(NONE, |first| first.saturating_add(part))
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

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

    /// Returns the buffer of a part. Unlike [`buffer`](Self::buffer) this does not shorten the path for later
    /// searches.
    pub(super) fn buffer_of(&self, part: u32) -> u32 {
        let mut at = part;
        while let Some(&parent) = self.parents.get(place(at)).filter(|&&parent| parent != at) {
            at = parent;
        }
        at
    }

    /// Whether different values are in the buffer, one after the other.
    pub(super) fn holds_several(&self, buffer: u32) -> bool {
        self.several.get(place(buffer)).copied().unwrap_or(false)
    }

    /// Puts two parts into one buffer. `several` says that they hold different values.
    pub(super) fn join(&mut self, a: u32, b: u32, several: bool) {
        if place(a) >= self.parents.len() || place(b) >= self.parents.len() {
            return;
        }
        let (a, b) = (self.buffer(a), self.buffer(b));
        let is_kept = |buffer: u32| self.kept.get(place(buffer)).copied().unwrap_or(false);
        let kept = is_kept(a) || is_kept(b);
        if several && kept && a != b {
            return;
        }
        let several = several || self.holds_several(a) || self.holds_several(b);
        // The earlier part represents the joined buffer. No ranks are kept, because path halving keeps
        // searches short.
        let (low, high) = (a.min(b), a.max(b));
        if let Some(entry) = self.parents.get_mut(place(high)) {
            *entry = low;
        }
        for (flags, flag) in [(&mut self.several, several), (&mut self.kept, kept)] {
            if let Some(entry) = flags.get_mut(place(low)) {
                *entry = flag;
            }
        }
    }

    /// Joins each part inside the part `a_part` of `a` with the corresponding part inside `b_part` of `b`.
    /// Nothing is joined if their numbers of parts differ.
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

    /// Joins the parts of a result that only name an operand with the parts of that operand.
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
                // The result of `recv-done` is a tuple of the data and a token. All other operations of this
                // role return the data alone.
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

    /// Joins the elements of the tuple of results with the operands, in a text that is not scheduled yet: the
    /// copies that the compiler makes of a parameter that is a result, and of a value that is returned twice,
    /// are missing. Their buffers are those of the elements.
    fn join_results(&mut self, module: &Module, id: u32) {
        let mut seen = HashSet::new();
        for (&part, &operand) in module.parts(id).elements(0).iter().zip(module.operands(id)) {
            let buffer = self.buffer(self.part(operand, 0));
            let is_kept = self.kept.get(place(buffer)).copied().unwrap_or(false);
            if !is_kept && seen.insert(buffer) {
                self.join_all(module, (id, part), (operand, 0), false);
            }
        }
    }

    /// Joins the operands of a call with the parameters of the called computation, and its root with the
    /// result of the call.
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
                // The state of a loop is in the buffer of the loop's result.
                let operand = if role == Role::While { id } else { operand };
                self.join_all(module, (parameter, 0), (operand, 0), role == Role::While);
            }
            let root = (module.root(called).unwrap_or(NONE), 0);
            match role {
                Role::While if body == Some(called) => self.join_all(module, root, (id, 0), true),
                Role::Conditional => self.join_all(module, root, (id, 0), true),
                Role::Call => self.join_all(module, root, (id, 0), false),
                // The computation of a start without operands runs when an update brings them, and
                // `join_brought` joins its root with the result of that update.
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

    /// Joins the operands that an `async-update` brings to an `async-start` without operands, as programs for
    /// a SparseCore have them. The operands are joined with the parameters of the computation that the start
    /// calls, and the root of that computation with element 1 of the update.
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

    /// Joins the values that the buffer assignment puts into one place. Returns the size in bytes of each
    /// part that has a place in the assignment.
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

    /// Marks the parameters that are not donated.
    fn keep_parameters(&mut self, module: &Module, entry: u32) {
        let aliases = &module.header.aliases;
        for (number, id) in module.parameters(entry) {
            let parts = module.parts(id);
            let donated = aliases.iter().filter(|alias| u32::try_from(alias.parameter) == Ok(number));
            let donated: Vec<u32> = donated.filter_map(|alias| parts.at(&alias.parameter_index)).collect();
            for (part, _) in parts.iter().filter(|(part, _)| !donated.contains(part)) {
                let part = self.part(id, part);
                if let Some(kept) = self.kept.get_mut(place(part)) {
                    *kept = true;
                }
            }
        }
    }

    /// Joins donated parameters with the results that are written over them (`input_output_alias`).
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

//! Runs shader code on the CPU.
//!
//! The invocations of a workgroup execute each statement together, so that between two barriers no order of
//! the invocations is favoured. The workgroups run one after the other. Errors that a GPU ignores silently
//! are reported as a [`Fault`].

use super::binding::{Access, Memory, MemoryKind};
use super::compute::ComputeShader;
use super::count::{AccessCount, Counter};
use super::expression::{BuiltIn, Condition, Expr, Node, Op, Variable};
use super::fault::{Fault, Outcome};
use super::races::Uses;
use super::statement::Statement;

/// The content of a memory during a run.
pub(crate) enum Words<'a> {
    Read(&'a [u32]),
    Write(&'a mut [u32]),
    /// The words of a workgroup array. A word is `None` until it is written.
    Workgroup(Vec<Option<u32>>),
    /// A memory of this many words that are all zero, for runs that only count accesses.
    Zeros(usize),
}

impl Words<'_> {
    fn len(&self) -> usize {
        match self {
            Words::Read(words) => words.len(),
            Words::Write(words) => words.len(),
            Words::Workgroup(words) => words.len(),
            Words::Zeros(words) => *words,
        }
    }
}

/// A memory, with a record of the invocations that touched each word. Nothing is recorded for a memory that
/// is only read, and nothing if only one invocation runs.
struct Held<'a> {
    words: Words<'a>,
    uses: Uses,
}

/// The state of the interpreter: the values of variables, memories and uniforms that expressions read.
pub(super) struct Machine<'a> {
    /// The value of each variable in each invocation of the workgroup. The values of one variable are side by
    /// side.
    values: Vec<u32>,
    invocations: usize,
    memories: Vec<Held<'a>>,
    uniforms: &'a [u32],
    workgroup: [u32; 3],
    /// The number of the workgroup's first invocation, counted over the whole dispatch.
    first_invocation: u64,
    /// Counts the accesses. It is `None` in runs that compute values.
    counter: Option<Counter>,
}

/// Runs a shader over `workgroups` along x, y and z. `uniforms` are the words of the uniform block, and each
/// of `buffers` is as long as its binding.
pub(crate) fn dispatch(
    shader: &ComputeShader,
    workgroups: [u32; 3],
    uniforms: &[u32],
    buffers: &mut [Vec<u32>],
) -> Result<(), Fault> {
    run(shader, workgroups, uniforms, buffers).map_err(|fault| *fault)
}

fn run(shader: &ComputeShader, workgroups: [u32; 3], uniforms: &[u32], buffers: &mut [Vec<u32>]) -> Outcome<()> {
    let refuse = |sentence: String| Err(Box::new(Fault::Dispatch(sentence)));
    let (have, want) = ((buffers.len(), uniforms.len()), (shader.buffers().count(), shader.uniforms.len()));
    if have != want {
        return refuse(format!("{} buffers and {} uniforms for a shader of {} and {}", have.0, have.1, want.0, want.1));
    }
    if let Some(count) = workgroups.into_iter().find(|&count| count > super::compute::MAX_WORKGROUPS) {
        return refuse(format!("{count} workgroups along one axis"));
    }
    for ((name, most), &value) in shader.uniforms.iter().zip(uniforms) {
        if value > *most {
            return Err(Box::new(Fault::AboveBound { name: name.to_string(), value, most: *most }));
        }
    }
    let mut bound = buffers.iter_mut();
    let memories = shader.memories.iter().filter_map(|memory| {
        Some(match memory.kind {
            MemoryKind::Buffer { access: Access::Read, .. } => Words::Read(bound.next()?),
            MemoryKind::Buffer { access: Access::ReadWrite, .. } => Words::Write(bound.next()?),
            MemoryKind::Workgroup(words) => Words::Workgroup(vec![None; size(words)]),
        })
    });
    let mut machine = Machine::of(shader, uniforms, memories.collect());
    let [x, y, z] = workgroups;
    let all = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    machine.workgroups(shader, all)
}

/// Counts the accesses of a dispatch. At most `most` workgroups are run, at even distances over the dispatch.
/// No buffer is read or written: `words` is the length of each buffer, in words.
pub(crate) fn count_accesses(
    shader: &ComputeShader,
    [x, y, z]: [u32; 3],
    uniforms: &[u32],
    words: &[usize],
    counter: Counter,
    most: u64,
) -> Result<AccessCount, Fault> {
    let mut bound = words.iter();
    let memories = shader.memories.iter().filter_map(|memory| {
        Some(match memory.kind {
            MemoryKind::Buffer { .. } => Words::Zeros(*bound.next()?),
            MemoryKind::Workgroup(words) => Words::Workgroup(vec![None; size(words)]),
        })
    });
    let mut machine = Machine::of(shader, uniforms, memories.collect());
    machine.counter = Some(counter);
    let total = [x, y, z].into_iter().fold(1_u64, |product, side| product.saturating_mul(side.into()));
    let runs = total.min(most).max(1);
    let group = |run: u64| {
        let number = if runs == total {
            run
        } else {
            run.saturating_mul(total.saturating_sub(1)).div_euclid(runs.saturating_sub(1).max(1))
        };
        let (row, column) = (number.div_euclid(x.max(1).into()), number.rem_euclid(x.max(1).into()));
        let part = |part: u64| u32::try_from(part).unwrap_or(0);
        [part(column), part(row.rem_euclid(y.max(1).into())), part(row.div_euclid(y.max(1).into()))]
    };
    machine.workgroups(shader, (0..runs).map(group)).map_err(|fault| *fault)?;
    Ok(machine.counter.map(|counter| counter.count).unwrap_or_default())
}

fn size(words: u32) -> usize {
    usize::try_from(words).unwrap_or(usize::MAX)
}

impl<'a> Machine<'a> {
    /// Returns a machine for one call of a function, outside any dispatch, with `slots` variables.
    pub(super) fn single(slots: usize, buffers: Vec<Words<'a>>) -> Machine<'a> {
        let memories = buffers.into_iter().map(|words| Held { words, uses: Uses::new(0) }).collect();
        let values = vec![0; slots];
        Machine {
            values,
            invocations: 1,
            memories,
            uniforms: &[],
            workgroup: [0; 3],
            first_invocation: 0,
            counter: None,
        }
    }

    fn of(shader: &ComputeShader, uniforms: &'a [u32], memories: Vec<Words<'a>>) -> Machine<'a> {
        let held = memories.into_iter().map(|words| {
            let counted = if let Words::Read(_) | Words::Zeros(_) = words { 0 } else { words.len() };
            Held { words, uses: Uses::new(counted) }
        });
        let invocations = size(shader.invocations());
        Machine {
            values: vec![0; shader.slots.saturating_mul(invocations)],
            invocations,
            memories: held.collect(),
            uniforms,
            workgroup: [0; 3],
            first_invocation: 0,
            counter: None,
        }
    }

    /// Runs the given workgroups one after the other.
    fn workgroups(&mut self, shader: &ComputeShader, workgroups: impl Iterator<Item = [u32; 3]>) -> Outcome<()> {
        let all: Vec<usize> = (0..self.invocations).collect();
        for workgroup in workgroups {
            self.workgroup = workgroup;
            self.block(&shader.body, &all)?;
            self.first_invocation = self.first_invocation.saturating_add(u64::from(shader.invocations()));
            for (words, uses) in self.of_workgroup() {
                words.fill(None);
                uses.forget();
            }
            if let Some(counter) = &mut self.counter {
                counter.end_workgroup();
            }
        }
        Ok(())
    }

    /// Evaluates a part of a statement for each invocation in `active`, and counts its accesses. A lane is
    /// the number of an invocation in the workgroup.
    fn each(&mut self, active: &[usize], mut evaluate: impl FnMut(&mut Self, usize) -> Outcome<()>) -> Outcome<()> {
        for &lane in active {
            if let Some(counter) = &mut self.counter {
                counter.next_lane();
            }
            evaluate(self, lane)?;
        }
        if let Some(counter) = &mut self.counter {
            counter.end_statement();
        }
        Ok(())
    }

    fn touch(&mut self, memory: &Memory, lane: usize, word: u32, width: u32) {
        if let Some(counter) = &mut self.counter {
            counter.touch(memory.place, lane, word, width);
        }
    }

    fn of_workgroup(&mut self) -> impl Iterator<Item = (&mut Vec<Option<u32>>, &mut Uses)> {
        self.memories.iter_mut().filter_map(|held| match &mut held.words {
            Words::Workgroup(words) => Some((words, &mut held.uses)),
            _ => None,
        })
    }

    /// Sets a variable in one lane. A value above the bound of the variable is a fault.
    pub(super) fn set(&mut self, variable: &Variable, lane: usize, value: u32) -> Outcome<()> {
        if value > variable.most {
            return Err(Box::new(Fault::AboveBound { name: variable.name.to_string(), value, most: variable.most }));
        }
        self.put(variable, lane, value);
        Ok(())
    }

    /// Sets a variable in one lane without a check of its bound.
    fn put(&mut self, variable: &Variable, lane: usize, value: u32) {
        let place = self.place(variable, lane);
        if let Some(slot) = self.values.get_mut(place) {
            *slot = value;
        }
    }

    fn get(&self, variable: &Variable, lane: usize) -> u32 {
        self.values.get(self.place(variable, lane)).copied().unwrap_or(0)
    }

    fn place(&self, variable: &Variable, lane: usize) -> usize {
        variable.slot.saturating_mul(self.invocations).saturating_add(lane)
    }

    /// Runs statements in the lanes that `active` lists.
    pub(super) fn block(&mut self, block: &[Statement], active: &[usize]) -> Outcome<()> {
        for statement in block {
            self.statement(statement, active)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, active: &[usize]) -> Outcome<()> {
        match statement {
            Statement::Let(variable, value) | Statement::Var(variable, value) | Statement::Assign(variable, value) => {
                self.each(active, |machine, lane| {
                    let value = machine.value(value, lane)?;
                    machine.set(variable, lane, value)
                })?;
            }
            Statement::Store { to, index, value } => self.each(active, |machine, lane| {
                let index = machine.value(index, lane)?;
                let value = machine.value(value, lane)?;
                machine.touch(to, lane, index, 1);
                machine.store(to, index, value, lane)
            })?,
            Statement::LoadGroup { words, from, index, .. } => self.each(active, |machine, lane| {
                let first = first_word(from, machine.value(index, lane)?)?;
                machine.touch(from, lane, first, from.width());
                for (place, variable) in (first..).zip(words) {
                    let value = machine.load(from, place, lane)?;
                    machine.set(variable, lane, value)?;
                }
                Ok(())
            })?,
            Statement::StoreGroup { to, index, words } => self.each(active, |machine, lane| {
                let first = first_word(to, machine.value(index, lane)?)?;
                machine.touch(to, lane, first, to.width());
                for (place, word) in (first..).zip(words) {
                    let value = machine.value(word, lane)?;
                    machine.store(to, place, value, lane)?;
                }
                Ok(())
            })?,
            Statement::If { condition, then, otherwise } => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.each(active, |machine, lane| {
                    if machine.holds(condition, lane)? {
                        yes.push(lane)
                    } else {
                        no.push(lane)
                    }
                    Ok(())
                })?;
                for (block, lanes) in [(then, yes), (otherwise, no)] {
                    if !lanes.is_empty() {
                        self.block(block, &lanes)?;
                    }
                }
            }
            Statement::For { counter, start, end, step, body } => {
                self.repeat(counter, [start, end], *step, body, active)?
            }
            Statement::Barrier => {
                let (reached, invocations) = (active.len(), self.invocations);
                if reached != invocations {
                    return Err(Box::new(Fault::BarrierInBranch { reached, invocations }));
                }
                self.of_workgroup().for_each(|(_, uses)| uses.forget());
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        counter: &Variable,
        [start, end]: [&Expr; 2],
        step: u32,
        body: &[Statement],
        active: &[usize],
    ) -> Outcome<()> {
        let mut turning = Vec::with_capacity(active.len());
        for &lane in active {
            let start = self.value(start, lane)?;
            // After the last iteration the counter is at or above `end`, so it may be above its bound and is
            // not checked.
            self.put(counter, lane, start);
            if start < self.value(end, lane)? {
                turning.push(lane);
            }
        }
        while !turning.is_empty() {
            self.block(body, &turning)?;
            let mut still = Vec::with_capacity(turning.len());
            for &lane in &turning {
                let (now, end) = (self.get(counter, lane), self.value(end, lane)?);
                let fault =
                    || Box::new(Fault::Arithmetic { expression: format!("{} += step", counter.name), a: now, b: step });
                let next = now.checked_add(step).filter(|_| step > 0).ok_or_else(fault)?;
                self.put(counter, lane, next);
                if next < end {
                    still.push(lane);
                }
            }
            turning = still;
        }
        Ok(())
    }

    pub(super) fn value(&mut self, expr: &Expr, lane: usize) -> Outcome<u32> {
        Ok(match &*expr.node {
            Node::Constant(value) => *value,
            Node::Variable(variable) => self.get(variable, lane),
            Node::Uniform(place, _) => self.uniforms.get(*place).copied().unwrap_or(0),
            Node::BuiltIn(BuiltIn::WorkgroupId(axis)) => self.workgroup.get(*axis).copied().unwrap_or(0),
            Node::BuiltIn(BuiltIn::LocalInvocationIndex) => u32::try_from(lane).unwrap_or(u32::MAX),
            Node::Binary(op, a, b) => {
                let (a, b) = (self.value(a, lane)?, self.value(b, lane)?);
                apply(*op, a, b, expr)?
            }
            Node::Select { condition, yes, no } => {
                // WGSL evaluates both operands, so both must be legal.
                let (yes, no) = (self.value(yes, lane)?, self.value(no, lane)?);
                if self.holds(condition, lane)? { yes } else { no }
            }
            Node::Load(from, index) => {
                let index = self.value(index, lane)?;
                self.touch(from, lane, index, 1);
                self.load(from, index, lane)?
            }
        })
    }

    pub(super) fn holds(&mut self, condition: &Condition, lane: usize) -> Outcome<bool> {
        Ok(match condition {
            Condition::True => true,
            Condition::False => false,
            Condition::Compare(comparison, a, b) => {
                let (a, b) = (self.value(a, lane)?, self.value(b, lane)?);
                comparison.holds(a, b)
            }
            Condition::And(pair) => self.holds(&pair.0, lane)? && self.holds(&pair.1, lane)?,
            Condition::Or(pair) => self.holds(&pair.0, lane)? || self.holds(&pair.1, lane)?,
        })
    }

    fn invocation(&self, lane: usize) -> u64 {
        self.first_invocation.saturating_add(u64::try_from(lane).unwrap_or(u64::MAX))
    }

    fn load(&mut self, from: &Memory, index: u32, lane: usize) -> Outcome<u32> {
        let invocation = self.invocation(lane);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(held) = self.memories.get_mut(from.place) else { return Err(out_of_range(&from.name, index, 0)) };
        let word = match &held.words {
            Words::Read(words) => words.get(place).copied().map(Some),
            Words::Write(words) => words.get(place).copied().map(Some),
            Words::Workgroup(words) => words.get(place).copied(),
            Words::Zeros(words) => (place < *words).then_some(Some(0)),
        };
        let word = word.ok_or_else(|| out_of_range(&from.name, index, held.words.len()))?;
        if !held.uses.read(place, invocation) {
            return Err(race(&from.name, index, invocation));
        }
        word.ok_or_else(|| Box::new(Fault::NotWritten { array: from.name.to_string(), index }))
    }

    fn store(&mut self, to: &Memory, index: u32, value: u32, lane: usize) -> Outcome<()> {
        let invocation = self.invocation(lane);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(held) = self.memories.get_mut(to.place) else { return Err(out_of_range(&to.name, index, 0)) };
        let stored = match &mut held.words {
            Words::Read(_) => return Err(Box::new(Fault::ReadOnly { buffer: to.name.to_string() })),
            Words::Write(words) => words.get_mut(place).map(|word| *word = value),
            Words::Workgroup(words) => words.get_mut(place).map(|word| *word = Some(value)),
            Words::Zeros(words) => (place < *words).then_some(()),
        };
        stored.ok_or_else(|| out_of_range(&to.name, index, held.words.len()))?;
        if held.uses.write(place, invocation) { Ok(()) } else { Err(race(&to.name, index, invocation)) }
    }
}

fn first_word(memory: &Memory, group: u32) -> Outcome<u32> {
    let width = memory.width();
    let first = group.checked_mul(width).filter(|first| first.checked_add(width).is_some());
    first.ok_or_else(|| out_of_range(&memory.name, group, 0))
}

fn apply(op: Op, a: u32, b: u32, expr: &Expr) -> Outcome<u32> {
    op.apply(a, b).ok_or_else(|| Box::new(Fault::Arithmetic { expression: expr.to_string(), a, b }))
}

fn out_of_range(memory: &str, index: u32, words: usize) -> Box<Fault> {
    Box::new(Fault::OutOfRange { memory: memory.to_owned(), index, words })
}

fn race(memory: &str, index: u32, invocation: u64) -> Box<Fault> {
    Box::new(Fault::Race { memory: memory.to_owned(), index, invocation })
}

#[cfg(test)]
mod tests;

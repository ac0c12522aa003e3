//! Running shader code on the CPU.
//!
//! The invocations of a workgroup go through each statement together, so that between two barriers no order
//! among them is better than another; the workgroups run one after the other. What a GPU would do silently is
//! a [`Fault`].

use super::binding::{Access, Memory, MemoryKind};
use super::compute::ComputeShader;
use super::expression::{BuiltIn, Condition, Expr, Node, Op, Variable};
use super::fault::{Fault, Outcome};
use super::races::Uses;
use super::statement::Statement;

/// The words of a memory.
pub(crate) enum Words<'a> {
    Read(&'a [u32]),
    Write(&'a mut [u32]),
    /// Of a workgroup; `None` where nothing has been written.
    Workgroup(Vec<Option<u32>>),
}

impl Words<'_> {
    fn len(&self) -> usize {
        match self {
            Words::Read(words) => words.len(),
            Words::Write(words) => words.len(),
            Words::Workgroup(words) => words.len(),
        }
    }
}

/// A memory, and who touched its words: of one that is only read, or where one invocation runs alone, no one
/// counts that.
struct Held<'a> {
    words: Words<'a>,
    uses: Uses,
}

/// Where expressions get their values from.
pub(super) struct Machine<'a> {
    /// A value for each variable and each of the invocations that run side by side.
    values: Vec<u32>,
    invocations: usize,
    memories: Vec<Held<'a>>,
    uniforms: &'a [u32],
    workgroup: [u32; 3],
    /// The number of the workgroup's first invocation among all.
    first_invocation: u64,
}

/// Runs a shader over `workgroups`. The uniforms are the words of its uniform block; a buffer's length is
/// that of its binding.
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
    let size = |words: u32| usize::try_from(words).unwrap_or(usize::MAX);
    let invocations = size(shader.invocations());
    let mut bound = buffers.iter_mut();
    let memories = shader.memories.iter().filter_map(|memory| {
        let words = match memory.kind {
            MemoryKind::Buffer { access: Access::Read, .. } => Words::Read(bound.next()?),
            MemoryKind::Buffer { access: Access::ReadWrite, .. } => Words::Write(bound.next()?),
            MemoryKind::Workgroup(words) => Words::Workgroup(vec![None; size(words)]),
        };
        let counted = if let Words::Read(_) = words { 0 } else { words.len() };
        Some(Held { words, uses: Uses::new(counted) })
    });
    let mut machine = Machine {
        values: vec![0; shader.slots.saturating_mul(invocations)],
        invocations,
        memories: memories.collect(),
        uniforms,
        workgroup: [0; 3],
        first_invocation: 0,
    };
    let all: Vec<usize> = (0..invocations).collect();
    let [x, y, z] = workgroups;
    for workgroup in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
        machine.workgroup = workgroup;
        machine.block(&shader.body, &all)?;
        machine.first_invocation = machine.first_invocation.saturating_add(u64::from(shader.invocations()));
        for (words, uses) in machine.of_workgroup() {
            words.fill(None);
            uses.forget();
        }
    }
    Ok(())
}

impl<'a> Machine<'a> {
    /// One invocation outside any dispatch, with `slots` variables.
    pub(super) fn single(slots: usize, buffers: Vec<Words<'a>>) -> Machine<'a> {
        let memories = buffers.into_iter().map(|words| Held { words, uses: Uses::new(0) }).collect();
        let values = vec![0; slots];
        Machine { values, invocations: 1, memories, uniforms: &[], workgroup: [0; 3], first_invocation: 0 }
    }

    /// The memory that the workgroup has.
    fn of_workgroup(&mut self) -> impl Iterator<Item = (&mut Vec<Option<u32>>, &mut Uses)> {
        self.memories.iter_mut().filter_map(|held| match &mut held.words {
            Words::Workgroup(words) => Some((words, &mut held.uses)),
            _ => None,
        })
    }

    /// Gives a variable of every lane in `active` a value within its bound.
    pub(super) fn set(&mut self, variable: &Variable, lane: usize, value: u32) -> Outcome<()> {
        if value > variable.most {
            return Err(Box::new(Fault::AboveBound { name: variable.name.to_string(), value, most: variable.most }));
        }
        self.put(variable, lane, value);
        Ok(())
    }

    /// The same without a bound.
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

    /// Runs statements for the lanes in `active`.
    pub(super) fn block(&mut self, block: &[Statement], active: &[usize]) -> Outcome<()> {
        for statement in block {
            self.statement(statement, active)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, active: &[usize]) -> Outcome<()> {
        match statement {
            Statement::Let(variable, value) | Statement::Var(variable, value) | Statement::Assign(variable, value) => {
                for &lane in active {
                    let value = self.value(value, lane)?;
                    self.set(variable, lane, value)?;
                }
            }
            Statement::Store { to, index, value } => {
                for &lane in active {
                    let index = self.value(index, lane)?;
                    for part in 0..to.width() {
                        let value = match &*value.node {
                            Node::Load(from, index) => self.load(from, index, part, lane)?,
                            _ => self.value(value, lane)?,
                        };
                        self.store(to, word(to, index, part)?, value, lane)?;
                    }
                }
            }
            Statement::If { condition, then, otherwise } => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                for &lane in active {
                    if self.holds(condition, lane)? { yes.push(lane) } else { no.push(lane) }
                }
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
            // The counter itself may be at `end`, or above it.
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

    /// The value of an expression for one lane.
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
                // WGSL evaluates both, so both must be legal.
                let (yes, no) = (self.value(yes, lane)?, self.value(no, lane)?);
                if self.holds(condition, lane)? { yes } else { no }
            }
            Node::Load(from, index) => self.load(from, index, 0, lane)?,
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

    /// A word of what is at `index`.
    fn load(&mut self, from: &Memory, index: &Expr, part: u32, lane: usize) -> Outcome<u32> {
        let index = word(from, self.value(index, lane)?, part)?;
        let invocation = self.invocation(lane);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(held) = self.memories.get_mut(from.place) else { return Err(out_of_range(&from.name, index, 0)) };
        let word = match &held.words {
            Words::Read(words) => words.get(place).copied().map(Some),
            Words::Write(words) => words.get(place).copied().map(Some),
            Words::Workgroup(words) => words.get(place).copied(),
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
        };
        stored.ok_or_else(|| out_of_range(&to.name, index, held.words.len()))?;
        if held.uses.write(place, invocation) { Ok(()) } else { Err(race(&to.name, index, invocation)) }
    }
}

/// Word `part` of a group.
fn word(memory: &Memory, group: u32, part: u32) -> Outcome<u32> {
    let word = group.checked_mul(memory.width()).and_then(|first| first.checked_add(part));
    word.ok_or_else(|| out_of_range(&memory.name, group, 0))
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

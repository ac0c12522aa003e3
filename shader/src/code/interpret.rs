//! Running shader code on the CPU.
//!
//! The invocations of a workgroup go through each statement together, so that between two barriers no order
//! among them is better than another; the workgroups run one after the other. What a GPU would do silently is
//! a [`Fault`].

use super::binding::Access;
use super::compute::ComputeShader;
use super::expression::{BuiltIn, Condition, Expr, Node, Op, Variable};
use super::fault::{Fault, Outcome};
use super::lanes::Lanes;
use super::races::Uses;
use super::statement::Statement;
use super::wgsl;

/// The words of a storage buffer.
pub(crate) enum Words<'a> {
    Read(&'a [u32]),
    Write(&'a mut [u32]),
}

impl Words<'_> {
    fn get(&self) -> &[u32] {
        match self {
            Words::Read(words) => words,
            Words::Write(words) => words,
        }
    }
}

/// Where expressions get their values from.
pub(super) struct Machine<'a> {
    lanes: Lanes,
    buffers: Vec<Words<'a>>,
    uniforms: &'a [u32],
    /// Who touched the buffers that are written, in the order of the buffers; empty where one invocation runs
    /// alone.
    uses: Vec<Option<Uses>>,
    shared: Vec<Shared>,
    workgroup: [u32; 3],
    /// The number of the workgroup's first invocation among all.
    first_invocation: u64,
}

struct Shared {
    /// `None` where nothing has been written.
    words: Vec<Option<u32>>,
    uses: Uses,
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
    if buffers.len() != shader.buffers.len() || uniforms.len() != shader.uniforms.len() {
        let (have, want) = ((buffers.len(), uniforms.len()), (shader.buffers.len(), shader.uniforms.len()));
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
    let uses = shader.buffers.iter().zip(&*buffers);
    let uses =
        uses.map(|(buffer, words)| (buffer.access == Access::ReadWrite).then(|| Uses::new(words.len()))).collect();
    let shared = shader.shared.iter();
    let shared =
        shared.map(|array| Shared { words: vec![None; size(array.words)], uses: Uses::new(size(array.words)) });
    let bound = buffers.iter_mut().zip(&shader.buffers).map(|(words, buffer)| match buffer.access {
        Access::Read => Words::Read(words),
        Access::ReadWrite => Words::Write(words),
    });
    let mut machine = Machine {
        lanes: Lanes::new(shader.slots, invocations),
        buffers: bound.collect(),
        uniforms,
        uses,
        shared: shared.collect(),
        workgroup: [0; 3],
        first_invocation: 0,
    };
    let all: Vec<usize> = (0..invocations).collect();
    let [x, y, z] = workgroups;
    for workgroup in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
        machine.workgroup = workgroup;
        machine.block(&shader.body, &all)?;
        machine.first_invocation = machine.first_invocation.saturating_add(u64::from(shader.invocations()));
        for array in &mut machine.shared {
            array.words.fill(None);
            array.uses.forget();
        }
    }
    Ok(())
}

impl<'a> Machine<'a> {
    /// One invocation outside any dispatch, with `slots` variables.
    pub(super) fn single(slots: usize, buffers: Vec<Words<'a>>) -> Machine<'a> {
        let lanes = Lanes::new(slots, 1);
        Machine { lanes, buffers, uniforms: &[], uses: vec![], shared: vec![], workgroup: [0; 3], first_invocation: 0 }
    }

    /// Gives a variable of every lane in `active` a value within its bound.
    pub(super) fn set(&mut self, variable: &Variable, lane: usize, value: u32) -> Outcome<()> {
        if value > variable.most {
            return Err(Box::new(Fault::AboveBound { name: variable.name.to_string(), value, most: variable.most }));
        }
        self.lanes.set(variable, lane, value);
        Ok(())
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
            Statement::Store { buffer, name, index, value } => {
                for &lane in active {
                    let (index, value) = (self.value(index, lane)?, self.value(value, lane)?);
                    self.store(*buffer, name, index, value, lane)?;
                }
            }
            Statement::StoreShared { array, name, index, value } => {
                for &lane in active {
                    let (index, value) = (self.value(index, lane)?, self.value(value, lane)?);
                    self.store_shared(*array, name, index, value, lane)?;
                }
            }
            Statement::CopyFour { to, at, from, index } => self.copy_four([to, from], [at, index], active)?,
            Statement::FillFour { to, at, word } => self.fill_four(to, at, *word, active)?,
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
                if active.len() != self.lanes.count() {
                    let invocations = self.lanes.count();
                    return Err(Box::new(Fault::BarrierInBranch { reached: active.len(), invocations }));
                }
                self.shared.iter_mut().for_each(|array| array.uses.forget());
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
            self.lanes.set(counter, lane, start);
            if start < self.value(end, lane)? {
                turning.push(lane);
            }
        }
        while !turning.is_empty() {
            self.block(body, &turning)?;
            let mut still = Vec::with_capacity(turning.len());
            for &lane in &turning {
                let (now, end) = (self.lanes.get(counter, lane), self.value(end, lane)?);
                let fault =
                    || Box::new(Fault::Arithmetic { expression: format!("{} += step", counter.name), a: now, b: step });
                let next = now.checked_add(step).filter(|_| step > 0).ok_or_else(fault)?;
                self.lanes.set(counter, lane, next);
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
            Node::Variable(variable) => self.lanes.get(variable, lane),
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
            Node::Load { buffer, name, index } => {
                let index = self.value(index, lane)?;
                self.load(*buffer, name, index, lane)?
            }
            Node::LoadShared { array, name, index } => {
                let index = self.value(index, lane)?;
                self.load_shared(*array, name, index, lane)?
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

    pub(super) fn load(&mut self, buffer: usize, name: &str, index: u32, lane: usize) -> Outcome<u32> {
        let invocation = self.invocation(lane);
        let words = self.buffers.get(buffer).map_or(&[][..], Words::get);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(&value) = words.get(place) else { return Err(out_of_range(name, index, words.len())) };
        let uses = self.uses.get_mut(buffer).and_then(Option::as_mut);
        if !uses.is_none_or(|uses| uses.read(place, invocation)) {
            return Err(race(name, index, invocation));
        }
        Ok(value)
    }

    pub(super) fn store(&mut self, buffer: usize, name: &str, index: u32, value: u32, lane: usize) -> Outcome<()> {
        let invocation = self.invocation(lane);
        let Some(Words::Write(words)) = self.buffers.get_mut(buffer) else {
            return Err(Box::new(Fault::ReadOnly { buffer: name.to_owned() }));
        };
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let count = words.len();
        let Some(word) = words.get_mut(place) else { return Err(out_of_range(name, index, count)) };
        *word = value;
        let uses = self.uses.get_mut(buffer).and_then(Option::as_mut);
        if uses.is_none_or(|uses| uses.write(place, invocation)) { Ok(()) } else { Err(race(name, index, invocation)) }
    }

    fn load_shared(&mut self, array: usize, name: &str, index: u32, lane: usize) -> Outcome<u32> {
        let invocation = self.invocation(lane);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(shared) = self.shared.get_mut(array) else { return Err(out_of_range(name, index, 0)) };
        let Some(&word) = shared.words.get(place) else { return Err(out_of_range(name, index, shared.words.len())) };
        if !shared.uses.read(place, invocation) {
            return Err(race(name, index, invocation));
        }
        word.ok_or_else(|| Box::new(Fault::NotWritten { array: name.to_owned(), index }))
    }

    fn store_shared(&mut self, array: usize, name: &str, index: u32, value: u32, lane: usize) -> Outcome<()> {
        let invocation = self.invocation(lane);
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(shared) = self.shared.get_mut(array) else { return Err(out_of_range(name, index, 0)) };
        let count = shared.words.len();
        let Some(word) = shared.words.get_mut(place) else { return Err(out_of_range(name, index, count)) };
        *word = Some(value);
        if shared.uses.write(place, invocation) { Ok(()) } else { Err(race(name, index, invocation)) }
    }
}

fn apply(op: Op, a: u32, b: u32, expr: &Expr) -> Outcome<u32> {
    op.apply(a, b).ok_or_else(|| Box::new(Fault::Arithmetic { expression: wgsl::expression(expr), a, b }))
}

pub(super) fn out_of_range(memory: &str, index: u32, words: usize) -> Box<Fault> {
    Box::new(Fault::OutOfRange { memory: memory.to_owned(), index, words })
}

fn race(memory: &str, index: u32, invocation: u64) -> Box<Fault> {
    Box::new(Fault::Race { memory: memory.to_owned(), index, invocation })
}

#[cfg(test)]
mod tests;

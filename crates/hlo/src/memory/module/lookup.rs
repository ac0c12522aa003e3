//! Lookups in a module by the number of an instruction or of a computation.

use std::ops::Range;
use std::sync::Arc;

use tensor_layout::{ArrayShape, Shape};

use crate::instruction::{OperandAlias, Owner};
use crate::sources::SourceLine;

use super::super::part::{ArrayFacts, PartKind, Parts};
use super::super::role::Role;
use super::{Module, NONE, Node, place};

impl Module {
    /// Calls `handle` for every instruction that is not inside a fusion or another instruction. The arguments
    /// are the instruction, the name of its computation, and whether this computation is the entry.
    pub(crate) fn each_buffer(&self, mut handle: impl FnMut(Owner<'_>, &Arc<str>, bool)) {
        let entry = self.entry();
        for (number, computation) in (0_u32..).zip(&self.computations).filter(|(_, found)| !found.is_inlined) {
            for id in computation.nodes.clone() {
                let Some(shape) = self.shape_of(id) else { continue };
                let (name, opcode, op_name, line) = (self.name(id), self.opcode(id), self.op_name(id), self.line(id));
                handle(Owner { name, opcode, op_name, shape, line }, &computation.name, Some(number) == entry);
            }
        }
    }

    /// Returns the number of the entry computation. Without an `ENTRY` it is the last computation, as in the
    /// reader of XLA. But XLA writes both an `ENTRY` and an `entry_computation_layout` in the first line. A
    /// text that has only the layout has lost its end, and `None` is returned.
    pub(in crate::memory) fn entry(&self) -> Option<u32> {
        let numbered = || (0_u32..).zip(&self.computations).filter(|(_, found)| !found.nodes.is_empty());
        if let Some((marked, _)) = numbered().find(|(_, found)| found.is_entry) {
            return Some(marked);
        }
        let last = numbered().max_by_key(|(_, found)| found.nodes.start).map(|(number, _)| number);
        last.filter(|_| !self.is_cut && !self.header.has_entry_layout)
    }

    pub(in crate::memory) fn nodes_of(&self, computation: u32) -> Range<u32> {
        self.computations.get(place(computation)).map_or(0..0, |found| found.nodes.clone())
    }

    /// The parameters of a computation, as (number of the parameter, number of its instruction).
    pub(in crate::memory) fn parameters(&self, computation: u32) -> impl Iterator<Item = (u32, u32)> {
        let nodes = self.nodes_of(computation).filter(|&id| self.role(id) == Role::Parameter);
        nodes.filter_map(|id| Some((self.node(id)?.number, id)))
    }

    /// Whether the text is one of a TPU: most results of its instructions are tiled. A program for a CPU or a
    /// GPU can have tiles too, where its caller asked for them, in the layouts of its parameters and results
    /// alone, and ignores them.
    ///
    /// ```
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = |layout: &str| format!("ENTRY %e (p: f32[8,100]) -> f32[8,100] {{
    ///   %p = f32[8,100]{{1,0:T(8,128)}} parameter(0)
    ///   ROOT %r = f32[8,100]{{1,0{layout}}} negate(%p)
    /// }}");
    /// let is_for_tpu = |layout| Module::read(dump(layout).as_bytes()).map(|module| module.is_for_tpu());
    /// assert!(is_for_tpu(":T(8,128)")? && !is_for_tpu("")?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn is_for_tpu(&self) -> bool {
        let (mut tiled, mut plain, mut parameters) = (0_u64, 0_u64, false);
        for id in (0_u32..).take(self.nodes.len()) {
            for (_, kind) in self.parts(id).iter() {
                let PartKind::Array(array) = kind else { continue };
                let array = self.array(array);
                match (self.role(id), array.is_tiled) {
                    (Role::Parameter, is_tiled) => parameters |= is_tiled,
                    (_, true) => tiled = tiled.saturating_add(1),
                    (_, false) if !array.is_scalar => plain = plain.saturating_add(1),
                    _ => {}
                }
            }
        }
        if tiled.max(plain) == 0 { parameters } else { tiled > plain }
    }

    pub(in crate::memory) fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.get(place(id))
    }

    pub(in crate::memory) fn role(&self, id: u32) -> Role {
        self.node(id).and_then(|node| self.roles.get(place(node.opcode))).copied().unwrap_or(Role::Other)
    }

    /// Whether the instruction is a fusion that may be written over its operands (kind `kLoop` or `kInput`,
    /// or a fusion of YNN on a CPU), or a custom call of `ConcatBitcast`.
    pub(in crate::memory) fn is_marked(&self, id: u32) -> bool {
        matches!(self.role(id), Role::Fusion | Role::CustomCall) && self.node(id).is_some_and(|node| node.number == 1)
    }

    pub(in crate::memory) fn is_output_fusion(&self, id: u32) -> bool {
        self.role(id) == Role::Fusion && self.node(id).is_some_and(|node| node.number == 2)
    }

    /// The instructions that compute the operands of an instruction. An operand is [`NONE`] if its name is
    /// not defined before.
    pub(in crate::memory) fn operands(&self, id: u32) -> &[u32] {
        list(&self.operands, &self.nodes, id, |node| node.operands_end)
    }

    /// The numbers of the computations that an instruction calls, in the order of the text.
    pub(in crate::memory) fn calls(&self, id: u32) -> &[u32] {
        list(&self.calls, &self.nodes, id, |node| node.calls_end)
    }

    /// The parts of the result of an instruction. [`NONE`] has no parts.
    pub(in crate::memory) fn parts(&self, id: u32) -> &Parts {
        self.node(id).and_then(|node| self.parts.get(place(node.shape))).unwrap_or(&self.no_parts)
    }

    /// The instruction that computes the operand at a position; [`NONE`] if there is no such operand.
    pub(in crate::memory) fn operand(&self, id: u32, position: u32) -> u32 {
        self.operands(id).get(place(position)).copied().unwrap_or(NONE)
    }

    pub(in crate::memory) fn array(&self, array: u32) -> ArrayFacts {
        self.array_facts.get(place(array)).copied().unwrap_or_default()
    }

    pub(in crate::memory) fn array_facts(&self) -> &[ArrayFacts] {
        &self.array_facts
    }

    pub(in crate::memory) fn array_shape(&self, array: u32) -> Option<&ArrayShape> {
        self.arrays.get(array)
    }

    /// The number of the shape of an instruction's result. Equal shapes have equal numbers.
    pub(in crate::memory) fn shape_number(&self, id: u32) -> Option<u32> {
        self.node(id).map(|node| node.shape)
    }

    pub(in crate::memory) fn shape_of(&self, id: u32) -> Option<&Shape> {
        self.shapes.get(self.node(id)?.shape)
    }

    pub(in crate::memory) fn operand_aliases(&self, id: u32) -> &[OperandAlias] {
        match self.aliases.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(found) => self.aliases.get(found).map_or(&[], |(_, aliases)| aliases.as_slice()),
            Err(_) => &[],
        }
    }

    /// Returns the instruction whose result a computation returns. Without a `ROOT` it is the last
    /// instruction, as in the reader of XLA. `None` if the computation has no instructions.
    pub(in crate::memory) fn root(&self, computation: u32) -> Option<u32> {
        let found = self.computations.get(place(computation))?;
        match found.root {
            // A computation that was called but not read has the range 0..0, and no instruction is before 0.
            NONE => found.nodes.end.checked_sub(1),
            root => Some(root),
        }
    }

    pub(in crate::memory) fn name(&self, id: u32) -> &str {
        let start = match place(id).checked_sub(1).and_then(|before| self.nodes.get(before)) {
            Some(before) => place(before.name_end),
            None => 0,
        };
        self.node(id).and_then(|node| self.names.get(start..place(node.name_end))).unwrap_or("")
    }

    pub(in crate::memory) fn opcode(&self, id: u32) -> &str {
        self.node(id).and_then(|node| self.opcodes.get(node.opcode)).map_or("", |opcode| opcode)
    }

    pub(in crate::memory) fn op_name(&self, id: u32) -> Option<&str> {
        self.node(id).and_then(|node| self.op_names.get(node.op_name)).map(|name| &**name)
    }

    pub(in crate::memory) fn source(&self, id: u32) -> Option<&SourceLine> {
        self.node(id).and_then(|node| self.sources.get(node.source))
    }

    pub(in crate::memory) fn line(&self, id: u32) -> u64 {
        self.node(id).map_or(0, |node| node.line.into())
    }
}

/// Returns the entries of the common list `all` that belong to an instruction.
fn list<'a>(all: &'a [u32], nodes: &[Node], id: u32, end: fn(&Node) -> u32) -> &'a [u32] {
    let start = place(id).checked_sub(1).and_then(|before| nodes.get(before)).map_or(0, |before| place(end(before)));
    nodes.get(place(id)).and_then(|node| all.get(start..place(end(node)))).unwrap_or(&[])
}

//! `Fusion`: which operands of a fusion its results must or may be written over.

use std::cell::Cell;

use crate::instruction::OperandAlias;

use super::module::{Computation, Module, NONE, place};
use super::part::PartKind;
use super::role::Role;

/// How the results of one fused computation use the memory of its parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct Fusion {
    /// The parts of the result that must be written over a part of a parameter, as (part of the result,
    /// number of the parameter, part of the parameter). They are in ascending order.
    pub(super) in_place: Vec<(u32, u32, u32)>,
    /// The numbers of the parameters that the result may be written over, in ascending order. An element of
    /// such a parameter is needed only for the element of the result with the same index.
    pub(super) elementwise: Vec<u32>,
    pub(super) has_convolution: bool,
}

/// Finds for every fused computation which results must share the memory of an operand, and which may. A
/// `dynamic-update-slice` or a `scatter` at the root writes into its operand, so it must share. The rules are
/// those of XLA's `AliasInfo` and `HloDataflowAnalysis`.
///
/// A dump prints a computation before its callers, so one pass in the order of the text is enough. If an
/// inner fusion is printed after its caller, no sharing is found through it.
pub(super) fn fusions(module: &Module) -> Vec<Fusion> {
    let mut found: Vec<Fusion> = Vec::with_capacity(module.computations.len());
    let mut order: Vec<u32> = (0_u32..).take(module.computations.len()).collect();
    order.sort_by_key(|&number| module.computations.get(place(number)).map(|computation| computation.nodes.start));
    found.resize_with(module.computations.len(), Fusion::default);
    for number in order {
        let Some(computation) = module.computations.get(place(number)).filter(|found| found.is_inlined) else {
            continue;
        };
        let Some(root) = module.root(number) else { continue };
        let size = computation.nodes.len().saturating_add(place(module.parts(root).len()));
        let steps = Cell::new(size.saturating_mul(8).saturating_add(1000));
        let inside = Inside { module, computation, fusions: &found, steps };
        let has_convolution = computation.nodes.clone().any(|id| module.opcode(id) == "convolution");
        let fusion = Fusion { in_place: inside.in_place(root), elementwise: inside.elementwise(), has_convolution };
        if let Some(entry) = found.get_mut(place(number)) {
            *entry = fusion;
        }
    }
    found
}

struct Inside<'a> {
    module: &'a Module,
    computation: &'a Computation,
    fusions: &'a [Fusion],
    /// How many more steps may be taken from results back to their operands. When they are used up, no
    /// further sharing is found. Without a limit, a malicious text could take time in the product of results
    /// and steps.
    steps: Cell<usize>,
}

impl Inside<'_> {
    fn in_place(&self, root: u32) -> Vec<(u32, u32, u32)> {
        let mut found = Vec::new();
        for (part, _) in self.module.parts(root).iter().filter(|(_, kind)| matches!(kind, PartKind::Array(_))) {
            let Some((source, source_part)) = self.source(root, part) else { continue };
            let Some((operand, operand_part)) = self.written_over(source, source_part) else { continue };
            let Some((mut from, mut from_part)) = self.source(operand, operand_part) else { continue };
            // If the value comes from an inner fusion that is itself written over one of its operands, the
            // search goes on at this operand.
            if self.module.role(from) == Role::Fusion
                && let Some((operand, part)) = self.written_over(from, from_part)
                && let Some(further) = self.source(operand, part)
            {
                (from, from_part) = further;
            }
            if self.module.role(from) == Role::Parameter
                && let Some(node) = self.module.node(from)
            {
                found.push((part, node.number, from_part));
            }
        }
        found
    }

    /// Follows a part of a result back through tuples, `get-tuple-element` and bitcasts. Returns the
    /// instruction that computes the value, and the part of its result. `None` if an operand is unknown or no
    /// steps are left.
    fn source(&self, id: u32, part: u32) -> Option<(u32, u32)> {
        let (mut id, mut part) = (id, part);
        loop {
            (id, part) = match self.module.role(id) {
                Role::Tuple if part > 0 => {
                    let (element, start) = self.module.parts(id).element_with(0, part)?;
                    (*self.module.operands(id).get(element)?, part.checked_sub(start)?)
                }
                Role::GetTupleElement => (self.module.operand(id, 0), part.checked_add(taken(self.module, id)?)?),
                Role::Forward => (self.module.operand(id, 0), part),
                _ => return Some((id, part)),
            };
            self.steps.set(self.steps.get().checked_sub(1)?);
            if id == NONE {
                return None;
            }
        }
    }

    /// Returns the operand that a part of a result must be written over, and the part of that operand.
    fn written_over(&self, id: u32, part: u32) -> Option<(u32, u32)> {
        self.steps.set(self.steps.get().checked_sub(self.module.operand_aliases(id).len())?);
        let (operand, operand_part) = in_place_pair(self.module, self.fusions, id, part)?;
        Some((self.module.operand(id, operand), operand_part))
    }

    /// Finds [`Fusion::elementwise`]. A value is elementwise if all its users are, so the instructions are
    /// visited from the last to the first.
    fn elementwise(&self) -> Vec<u32> {
        let nodes = self.computation.nodes.clone();
        let mut good = vec![true; nodes.len()];
        let mut found = Vec::new();
        for id in nodes.clone().rev() {
            let at = |id: u32| id.checked_sub(nodes.start).map_or(usize::MAX, place);
            let through = good.get(at(id)).copied().unwrap_or(false);
            let role = self.module.role(id);
            if role == Role::Parameter && through {
                found.extend(self.module.node(id).map(|node| node.number));
            }
            let is_elementwise = match role {
                Role::Elementwise | Role::Copy | Role::Tuple => true,
                Role::Fusion => self.module.is_marked(id) && self.is_elementwise_fusion(id),
                _ => false,
            };
            if through && is_elementwise {
                continue;
            }
            for &operand in self.module.operands(id) {
                if let Some(entry) = good.get_mut(at(operand)) {
                    *entry = false;
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn is_elementwise_fusion(&self, id: u32) -> bool {
        let fusion = called(self.module, self.fusions, id);
        fusion.is_some_and(|fusion| fusion.elementwise.len() >= self.module.operands(id).len())
    }
}

/// Returns the place of the element that a `get-tuple-element` takes, in the shape of its operand.
pub(super) fn taken(module: &Module, id: u32) -> Option<u32> {
    let operand = *module.operands(id).first()?;
    module.parts(operand).at(&[place(module.node(id)?.number)])
}

/// Returns all parts of a result that must share the memory of an operand, as (part of the result, position
/// of the operand, part of the operand).
pub(super) fn in_place_pairs(module: &Module, fusions: &[Fusion], id: u32) -> Vec<(u32, u32, u32)> {
    let parts = module.parts(id);
    let mut pairs = Vec::new();
    match module.role(id) {
        Role::InPlace if parts.elements(0).is_empty() => pairs.push((0, 0, 0)),
        Role::InPlace => pairs.extend((0_u32..).zip(parts.elements(0)).map(|(operand, &part)| (part, operand, 0))),
        Role::Fusion => pairs.extend(called(module, fusions, id).map_or(&[][..], |fusion| &fusion.in_place)),
        _ => {}
    }
    pairs.extend(module.operand_aliases(id).iter().filter_map(|alias| annotated(module, id, alias)));
    pairs
}

/// Returns the operand whose memory one part of the result must share: the position of the operand, and the
/// part of it.
fn in_place_pair(module: &Module, fusions: &[Fusion], id: u32, part: u32) -> Option<(u32, u32)> {
    let found = match module.role(id) {
        Role::InPlace if part == 0 => Some((0, 0)),
        Role::InPlace => {
            let (operand, start) = module.parts(id).element_with(0, part)?;
            u32::try_from(operand).ok().filter(|_| start == part).map(|operand| (operand, 0))
        }
        Role::Fusion => {
            let pairs = &called(module, fusions, id)?.in_place;
            let found = pairs.binary_search_by_key(&part, |&(part, ..)| part).ok();
            found.and_then(|found| pairs.get(found)).map(|&(_, operand, part)| (operand, part))
        }
        _ => None,
    };
    found.or_else(|| {
        let mut pairs = module.operand_aliases(id).iter().filter_map(|alias| annotated(module, id, alias));
        pairs.find(|&(result, ..)| result == part).map(|(_, operand, part)| (operand, part))
    })
}

/// Returns what is known about the computation that a fusion calls.
pub(super) fn called<'a>(module: &Module, fusions: &'a [Fusion], id: u32) -> Option<&'a Fusion> {
    fusions.get(place(*module.calls(id).first()?))
}

/// Converts an entry of `output_to_operand_aliasing` to (part of the result, position of the operand, part of
/// the operand). `None` if a shape has no part at that index.
fn annotated(module: &Module, id: u32, alias: &OperandAlias) -> Option<(u32, u32, u32)> {
    let operand = u32::try_from(alias.operand).ok()?;
    let part = module.parts(module.operand(id, operand)).at(&alias.operand_index)?;
    Some((module.parts(id).at(&alias.output)?, operand, part))
}

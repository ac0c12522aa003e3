//! Puts results into the buffers of operands that are not needed any more, as XLA does.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use super::aliases::Aliases;
use super::fusion::{Fusion, called};
use super::module::{Module, place};
use super::names::Names;
use super::part::PartKind;
use super::ranges::{Ranges, get, raise};
use super::role::Role;
use super::schedule::Schedule;

/// The most instructions that are searched for uses of one value. Past this number uses may be missed, and
/// then the operand's buffer is not shared.
const MOST_SEARCHED: usize = 256;

/// Joins temporaries with operands as the heap simulator of XLA does. A result takes the buffer of an operand
/// if both have the same shape and layout, the operation is the last use of the operand and may be written
/// over it (`CanShareOperandBufferWithUser`), and each of the two buffers has held one value so far.
pub(super) fn share(
    module: &Module,
    schedule: &Schedule,
    fusions: &[Fusion],
    ranges: &Ranges,
    names: &Names,
    aliases: &mut Aliases,
    is_temporary: impl Fn(u32) -> bool,
) {
    let parts = u32::try_from(aliases.len()).unwrap_or(u32::MAX);
    let mut ends = vec![0; aliases.len()];
    for part in 0..parts {
        let buffer = aliases.buffer(part);
        raise(&mut ends, buffer, ranges.of(part).1);
    }
    for (time, &id) in (0_u32..).zip(&schedule.order) {
        let Some(allowed) = Allowed::of(module, fusions, id) else { continue };
        // The operands whose last use is this instruction, by the number of their shape, in the order of the
        // operands.
        let mut dying: HashMap<u32, VecDeque<(u32, u32)>> = HashMap::new();
        for (position, &operand) in (0_u32..).zip(module.operands(id)) {
            let PartKind::Array(array) = module.parts(operand).kind(0) else { continue };
            if !allowed.operand(position) || !names.is_last(schedule, aliases, operand, time) {
                continue;
            }
            let buffer = aliases.buffer(aliases.part(operand, 0));
            if get(&ends, buffer) == time && !aliases.holds_several(buffer) && is_temporary(buffer) {
                dying.entry(array).or_default().push_back((position, buffer));
            }
        }
        if dying.is_empty() {
            continue;
        }
        for (part, kind) in module.parts(id).iter() {
            let PartKind::Array(array) = kind else { continue };
            let own = aliases.part(id, part);
            let result = aliases.buffer(own);
            if ranges.of(own).0 != time || !is_temporary(result) || aliases.holds_several(result) {
                continue;
            }
            let Entry::Occupied(mut found) = dying.entry(array) else { continue };
            let Some(&(position, operand)) = found.get().front() else { continue };
            // A sort of several arrays may write each array over its own operand only.
            let is_own = !matches!(allowed, Allowed::OwnPosition) || part == 0 || part == position.saturating_add(1);
            if !is_own {
                continue;
            }
            found.get_mut().pop_front();
            let end = get(&ends, operand).max(get(&ends, result));
            aliases.join(result, operand, false);
            raise(&mut ends, aliases.buffer(result), end);
        }
    }
}

/// The number of uses of each instruction.
pub(super) fn users(module: &Module, schedule: &Schedule) -> Vec<u32> {
    let mut users = vec![0_u32; module.nodes.len()];
    for &operand in schedule.order.iter().flat_map(|&id| module.operands(id)) {
        let count = get(&users, operand).saturating_add(1);
        raise(&mut users, operand, count);
    }
    users
}

/// Whether the instruction at `time` may write a result over `buffer`, which holds one of its operands of the
/// same shape: every other use of that operand is one that the instruction depends on.
pub(super) fn may_write_over(
    module: &Module,
    schedule: &Schedule,
    fusions: &[Fusion],
    users: &[u32],
    names: &Names,
    aliases: &mut Aliases,
    (time, buffer): (u32, u32),
) -> bool {
    let Some(&id) = schedule.order.get(place(time)) else { return false };
    let Some(allowed) = Allowed::of(module, fusions, id) else { return false };
    let buffer = aliases.buffer(buffer);
    (0_u32..).zip(module.operands(id)).any(|(position, &operand)| {
        let kind = module.parts(operand).kind(0);
        allowed.operand(position)
            && aliases.buffer(aliases.part(operand, 0)) == buffer
            && matches!(kind, PartKind::Array(_))
            && module.parts(id).iter().any(|(_, of)| of == kind)
            && uses_up_to(module, id, operand) == get(users, operand)
            && names.is_last(schedule, aliases, operand, time)
    })
}

/// Counts the uses of a value by instruction `id` and by all instructions that `id` depends on. Outside
/// temporary memory, XLA knows the order of instructions only from their dependencies. Any other user of the
/// value could run after `id`, so the buffer is shared only if this counts all uses.
fn uses_up_to(module: &Module, id: u32, value: u32) -> u32 {
    let (mut uses, mut seen, mut open) = (0_u32, HashSet::from([id]), vec![id]);
    while let Some(user) = open.pop() {
        for &operand in module.operands(user) {
            if operand == value {
                uses = uses.saturating_add(1);
            } else if seen.len() < MOST_SEARCHED && seen.insert(operand) {
                open.push(operand);
            }
        }
    }
    uses
}

/// Which operands the result of an operation may be written over.
enum Allowed<'a> {
    All,
    OwnPosition,
    Some(&'a [u32]),
}

impl Allowed<'_> {
    fn of<'a>(module: &Module, fusions: &'a [Fusion], id: u32) -> Option<Allowed<'a>> {
        match module.role(id) {
            Role::Elementwise => Some(Allowed::All),
            Role::Sort => Some(Allowed::OwnPosition),
            Role::Fusion if module.is_marked(id) => Some(Allowed::Some(&called(module, fusions, id)?.elementwise)),
            // The convolution must not read the operand. An operand that is added to the result of the
            // convolution may be overwritten.
            Role::Fusion if module.is_output_fusion(id) => {
                let fusion = called(module, fusions, id).filter(|fusion| fusion.has_convolution)?;
                Some(Allowed::Some(&fusion.elementwise))
            }
            _ => None,
        }
    }

    fn operand(&self, position: u32) -> bool {
        match self {
            Allowed::All | Allowed::OwnPosition => true,
            Allowed::Some(positions) => positions.binary_search(&position).is_ok(),
        }
    }
}

//! Results that XLA writes over an operand which no one needs afterwards.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::aliases::Aliases;
use super::fusion::{Fusion, called};
use super::module::Module;
use super::part::PartKind;
use super::ranges::{Ranges, get, raise};
use super::role::Role;
use super::schedule::Schedule;

/// Joins results with operands as XLA's heap simulator does: an array takes the buffer of an operand of its
/// shape and layout whose last use this is, if the operation allows it (`CanShareOperandBufferWithUser`) and
/// each buffer held one value so far. Which operands `may_give` theirs (not parameters), and which results
/// `may_take` one?
pub(super) fn share(
    module: &Module,
    schedule: &Schedule,
    fusions: &[Fusion],
    ranges: &Ranges,
    aliases: &mut Aliases,
    may_give: impl Fn(u32) -> bool,
    may_take: impl Fn(u32) -> bool,
) {
    let parts = u32::try_from(aliases.len()).unwrap_or(u32::MAX);
    let mut ends = vec![0; aliases.len()];
    for part in 0..parts {
        let buffer = aliases.buffer(part);
        raise(&mut ends, buffer, ranges.of(part).1);
    }
    for (time, &id) in (0_u32..).zip(&schedule.order) {
        let Some(allowed) = Allowed::of(module, fusions, id) else { continue };
        // Operands by shape, in their order.
        let mut dying: HashMap<u32, VecDeque<(u32, u32)>> = HashMap::new();
        for (position, &operand) in (0_u32..).zip(module.operands(id)) {
            let PartKind::Array(array) = module.parts(operand).kind(0) else { continue };
            if !allowed.operand(position) {
                continue;
            }
            let buffer = aliases.buffer(aliases.part(operand, 0));
            if get(&ends, buffer) == time && !aliases.holds_several(buffer) && may_give(buffer) {
                dying.entry(array).or_default().push_back((position, buffer));
            }
        }
        if dying.is_empty() {
            continue;
        }
        for (part, kind) in module.parts(id).iter() {
            let PartKind::Array(array) = kind else { continue };
            let result = aliases.buffer(aliases.part(id, part));
            if ranges.of(result).0 != time || aliases.holds_several(result) || !may_take(result) {
                continue;
            }
            let Entry::Occupied(mut found) = dying.entry(array) else { continue };
            let Some(&(position, operand)) = found.get().front() else { continue };
            // A sort of several arrays puts each over its own operand.
            if matches!(allowed, Allowed::OwnPosition) && part > 0 && part != position.saturating_add(1) {
                continue;
            }
            found.get_mut().pop_front();
            let end = get(&ends, operand).max(get(&ends, result));
            aliases.join(result, operand, false);
            raise(&mut ends, aliases.buffer(result), end);
        }
    }
}

/// The operands an operation may write over.
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
            // An operand that the convolution does not read, such as the other side of an addition to its
            // result.
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

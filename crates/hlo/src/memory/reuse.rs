//! Puts temporaries into the memory of results that are not computed yet, as the `BufferAssigner` of XLA does
//! on CPUs and GPUs. The memory of a donated parameter is used in the same way after its last use. The
//! largest temporary is placed first. Temporaries of equal size are placed in the order of a post-order walk
//! from the root through the operands. Each temporary goes into the smallest result that is large enough and
//! free while the temporary is in use. If several results of that size are free, it goes into the last one in
//! the order of the walk. Two values may touch: the later one may begin with the instruction that uses the
//! earlier one last, if that instruction may be written over its operand. The compiler for TPUs does not do
//! this.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::aliases::Aliases;
use super::fusion::Fusion;
use super::module::{Module, place};
use super::names::Names;
use super::ranges::{Ranges, get};
use super::report::BufferUse;
use super::schedule::Schedule;
use super::sharing::{may_write_over, users};
use super::uses::{Buffer, Use, all_uses};

/// How many results are tried for one temporary. If none of them is free, the temporary keeps its own memory.
/// Trying all results would take time in the product of the numbers of temporaries and results.
const MOST_TRIED: usize = 64;

/// Joins temporaries with results, in the order that the head of this file describes.
pub(super) fn reuse_results(
    module: &Module,
    schedule: &Schedule,
    fusions: &[Fusion],
    names: &Names,
    aliases: &mut Aliases,
    ranges: &Ranges,
    buffers: &[Buffer],
) {
    let buffer = |number: u32| buffers.get(place(number)).copied().unwrap_or_default();
    let uses = all_uses(aliases, ranges, |number| {
        let buffer = buffer(number);
        buffer.bytes > 0 && matches!(buffer.used_as(), BufferUse::Temporary | BufferUse::Result | BufferUse::Aliased)
    });
    let users = users(module, schedule);
    let first = first_in_post_order(module, schedule, &users, aliases);
    let of_one: Vec<&[Use]> = uses.chunk_by(|a, b| a.buffer == b.buffer).collect();
    let mut results = Vec::new();
    let mut temporaries = Vec::new();
    for uses in of_one {
        let Some(number) = uses.first().map(|first| first.buffer) else { continue };
        let (space, bytes, first) = (buffer(number).space, buffer(number).bytes, get(&first, number));
        match buffer(number).used_as() {
            BufferUse::Result | BufferUse::Aliased => {
                let mut times = Times::default();
                times.take(uses);
                results.push((space, bytes, Reverse(first), number, times));
            }
            _ => temporaries.push((Reverse(bytes), first, number, uses)),
        }
    }
    results.sort_by_key(|&(space, bytes, first, number, _)| (space, bytes, first, number));
    temporaries.sort_by_key(|&(bytes, first, number, _)| (bytes, first, number));
    for (Reverse(bytes), _, number, uses) in temporaries {
        let space = buffer(number).space;
        let from = results.partition_point(|&(of, size, ..)| (of, size) < (space, bytes));
        let fitting = results.get_mut(from..).unwrap_or_default().iter_mut().take(MOST_TRIED);
        for (of, _, _, result, times) in fitting {
            let mut touches = |time: u32, earlier: u32| {
                may_write_over(module, schedule, fusions, &users, names, aliases, (time, earlier))
            };
            if *of == space && times.are_free(uses, |time, later| touches(time, if later { *result } else { number })) {
                times.take(uses);
                aliases.join(*result, number, true);
                break;
            }
        }
    }
}

/// For each buffer, the place of its first value in a post-order walk of each computation, from the
/// instructions that nothing uses through the operands, the first operand first.
fn first_in_post_order(module: &Module, schedule: &Schedule, users: &[u32], aliases: &mut Aliases) -> Vec<u32> {
    let mut seen = vec![false; module.nodes.len()];
    let mut first = vec![u32::MAX; aliases.len()];
    let mut position = 0_u32;
    for &end in schedule.order.iter().filter(|&&id| get(users, id) == 0) {
        // An instruction is on the stack with the number of its operands that were visited.
        let mut open = vec![(end, 0_usize)];
        while let Some((id, visited)) = open.last_mut() {
            let next = module.operands(*id).get(*visited).copied();
            *visited = visited.saturating_add(1);
            match next {
                Some(operand) => {
                    if let Some(seen) = seen.get_mut(place(operand)).filter(|seen| !**seen) {
                        *seen = true;
                        open.push((operand, 0));
                    }
                }
                None => {
                    for (part, _) in module.parts(*id).iter() {
                        let buffer = aliases.buffer(aliases.part(*id, part));
                        if let Some(first) = first.get_mut(place(buffer)) {
                            *first = position.min(*first);
                        }
                    }
                    position = position.saturating_add(1);
                    open.pop();
                }
            }
        }
    }
    first
}

/// The ranges of time in which the memory of a result is taken: the end of each range by its start. The
/// ranges do not overlap.
#[derive(Debug, Default)]
struct Times(BTreeMap<u32, u32>);

impl Times {
    /// Whether all ranges are free. `may_touch` says whether a value may begin at the time at which another
    /// one ends, and gets that time and whether the later of the two is the new one.
    fn are_free(&self, uses: &[Use], mut may_touch: impl FnMut(u32, bool) -> bool) -> bool {
        uses.iter().all(|used| {
            let after = self.0.get(&used.end).is_none_or(|_| used.start < used.end && may_touch(used.end, false));
            let before = self.0.range(..used.end).next_back();
            after
                && before.is_none_or(|(_, &end)| {
                    end < used.start || (end == used.start && used.start < used.end && may_touch(end, true))
                })
        })
    }

    fn take(&mut self, uses: &[Use]) {
        self.0.extend(uses.iter().map(|used| (used.start, used.end)));
    }
}

//! Puts temporaries into the memory of results that are not computed yet, as the `BufferAssigner` of XLA does
//! on CPUs and GPUs. The memory of a donated parameter is used in the same way after its last use. The
//! largest temporary is placed first. Each temporary goes into the smallest result that is large enough and
//! free while the temporary is in use. The compiler for TPUs does not do this.

use std::collections::BTreeMap;

use super::aliases::Aliases;
use super::module::place;
use super::ranges::Ranges;
use super::report::BufferUse;
use super::uses::{Buffer, Use, all_uses};

/// How many results are tried for one temporary. If none of them is free, the temporary keeps its own memory.
/// Trying all results would take time in the product of the numbers of temporaries and results.
const MOST_TRIED: usize = 64;

/// Joins temporaries with results, in the order that the head of this file describes.
pub(super) fn reuse_results(aliases: &mut Aliases, ranges: &Ranges, buffers: &[Buffer]) {
    let buffer = |number: u32| buffers.get(place(number)).copied().unwrap_or_default();
    let uses = all_uses(aliases, ranges, |number| {
        let buffer = buffer(number);
        buffer.bytes > 0 && matches!(buffer.used_as(), BufferUse::Temporary | BufferUse::Result | BufferUse::Aliased)
    });
    let of_one: Vec<&[Use]> = uses.chunk_by(|a, b| a.buffer == b.buffer).collect();
    let mut results = Vec::new();
    let mut temporaries = Vec::new();
    for uses in of_one {
        let Some(number) = uses.first().map(|first| first.buffer) else { continue };
        let (space, bytes) = (buffer(number).space, buffer(number).bytes);
        match buffer(number).used_as() {
            BufferUse::Result | BufferUse::Aliased => results.push((space, bytes, number, Times::default())),
            _ => temporaries.push((bytes, number, uses)),
        }
        if let Some((_, _, same, times)) = results.last_mut()
            && *same == number
        {
            times.take(uses);
        }
    }
    results.sort_by_key(|&(space, bytes, number, _)| (space, bytes, number));
    temporaries.sort_by_key(|&(bytes, number, _)| (std::cmp::Reverse(bytes), number));
    for (bytes, number, uses) in temporaries {
        let space = buffer(number).space;
        let from = results.partition_point(|&(of, size, ..)| (of, size) < (space, bytes));
        let fitting = results.get_mut(from..).unwrap_or_default().iter_mut().take(MOST_TRIED);
        for (of, _, result, times) in fitting {
            if *of == space && times.are_free(uses) {
                times.take(uses);
                aliases.join(*result, number, true);
                break;
            }
        }
    }
}

/// The ranges of time in which the memory of a result is taken: the end of each range by its start. The
/// ranges do not overlap.
#[derive(Debug, Default)]
struct Times(BTreeMap<u32, u32>);

impl Times {
    fn are_free(&self, uses: &[Use]) -> bool {
        uses.iter().all(|used| self.0.range(..=used.end).next_back().is_none_or(|(_, &end)| end < used.start))
    }

    fn take(&mut self, uses: &[Use]) {
        self.0.extend(uses.iter().map(|used| (used.start, used.end)));
    }
}

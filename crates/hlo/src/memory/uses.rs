//! `Buffer` and `Use`: the buffers of a program, and the times at which each is in use.

use super::aliases::Aliases;
use super::ranges::Ranges;
use super::report::BufferUse;

/// A buffer of the program: the memory that all parts joined by `Aliases` share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Buffer {
    pub(super) bytes: u64,
    /// The position of the memory space in the ascending list of spaces that occur. It is not the `n` of
    /// `S(n)`.
    pub(super) space: u32,
    pub(super) is_argument: bool,
    pub(super) is_result: bool,
    pub(super) is_constant: bool,
}

impl Buffer {
    pub(super) fn used_as(&self) -> BufferUse {
        match (self.is_argument, self.is_result) {
            (true, true) => BufferUse::Aliased,
            (true, false) => BufferUse::Argument,
            (false, true) => BufferUse::Result,
            _ if self.is_constant => BufferUse::Constant,
            _ => BufferUse::Temporary,
        }
    }
}

/// A range of time in which a buffer is in use. Both `start` and `end` are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) buffer: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Returns the uses of the buffers for which `wanted` is true, sorted and merged by [`join`].
pub(super) fn all_uses(aliases: &mut Aliases, ranges: &Ranges, wanted: impl Fn(u32) -> bool) -> Vec<Use> {
    let mut uses = Vec::new();
    for part in (0_u32..).take(aliases.len()) {
        let buffer = aliases.buffer(part);
        if wanted(buffer) {
            let (start, end) = ranges.of(part);
            uses.push(Use { buffer, start, end });
        }
    }
    join(&mut uses);
    uses.shrink_to_fit();
    uses
}

/// Sorts the uses by buffer and time, and merges the ranges of one buffer that touch or overlap.
pub(super) fn join(uses: &mut Vec<Use>) {
    uses.sort_unstable();
    uses.dedup_by(|next, kept| {
        let joins = next.buffer == kept.buffer && next.start <= kept.end.saturating_add(1);
        if joins {
            kept.end = kept.end.max(next.end);
        }
        joins
    });
}

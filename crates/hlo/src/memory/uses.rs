//! `Buffer` and `Use`: the buffers of a program, and when each is in use.

use super::aliases::Aliases;
use super::ranges::Ranges;
use super::report::BufferUse;

/// A buffer: all parts that are in one place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Buffer {
    pub(super) bytes: u64,
    /// The number of the memory space, counted over the spaces that occur in ascending order.
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

/// The first and the last time at which a buffer is in use. Both are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) buffer: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The uses of the wanted buffers.
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

/// Sorts the uses. Ranges of one buffer that touch or overlap are merged.
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

//! The buffers that are in use at one time, each with the name of its value.

use std::collections::HashMap;
use std::sync::Arc;

use super::live::LiveMemory;
use super::module::{NONE, place};
use super::part::PartKind;
use super::report::{BufferUse, InstructionPlace, LiveBuffer};
use super::role::Role;
use super::uses::Buffer;

impl LiveMemory<'_> {
    /// The buffers of a space that are in use at a time, the largest first. Parameters and results are in use
    /// at all times. Constants are not included.
    ///
    /// A buffer is named after the largest value that it ever holds, because it has the bytes of that value.
    /// If several values have this size, the buffer is named after the one that it holds at that time, or
    /// else after the next one.
    #[must_use]
    pub fn live_at(&self, space: u64, time: u32) -> Vec<LiveBuffer> {
        self.numbered_at(space, time).into_iter().map(|(_, buffer)| buffer).collect()
    }

    /// The buffers of [`live_at`](Self::live_at), each with the number of the part that represents it.
    pub(super) fn numbered_at(&self, space: u64, time: u32) -> Vec<(u32, LiveBuffer)> {
        let Some(number) = self.spaces.iter().position(|found| found.space == space) else { return Vec::new() };
        let mut live: HashMap<u32, Named> = HashMap::new();
        for (part, buffer) in (0_u32..).zip(&self.buffers) {
            let fixed = matches!(buffer.used_as(), BufferUse::Argument | BufferUse::Result | BufferUse::Aliased);
            if buffer.bytes > 0 && place(buffer.space) == number && fixed {
                live.insert(part, Named::default());
            }
        }
        for used in self.uses.iter().filter(|used| used.start <= time && time <= used.end) {
            if place(self.buffer(used.buffer).space) == number {
                live.insert(used.buffer, Named::default());
            }
        }
        for &id in &self.schedule.order {
            for (part, _) in self.module.parts(id).iter() {
                let number = self.aliases.part(id, part);
                if let Some(named) = live.get_mut(&self.aliases.buffer_of(number)) {
                    named.offer((self.largest(id, part), self.rank(id, part, number, time)), id, part);
                }
            }
        }
        let mut found: Vec<(u32, LiveBuffer)> =
            live.into_iter().map(|(number, named)| (number, self.live_buffer(self.buffer(number), named))).collect();
        found.sort_by(|(_, a), (_, b)| {
            b.bytes
                .cmp(&a.bytes)
                .then_with(|| a.place.line.cmp(&b.place.line))
                .then_with(|| a.tuple_index.cmp(&b.tuple_index))
        });
        found
    }

    /// The size of the array of a part in bytes.
    fn largest(&self, id: u32, part: u32) -> u64 {
        match self.module.parts(id).kind(part) {
            PartKind::Array(array) => self.module.array(array).padded_bytes,
            PartKind::Tuple(_) | PartKind::Nothing => 0,
        }
    }

    /// How well a part names its buffer at a time. The larger the rank, the better: highest are parameters of
    /// the program, then the value that was computed last, then the value that is computed next. Other names
    /// for a value come last.
    fn rank(&self, id: u32, part: u32, number: u32, time: u32) -> (u8, i64) {
        let start = self.ranges.of(number).0;
        let held = |element: usize| self.module.parts(id).at(&[element]);
        let own = match self.module.role(id) {
            Role::Parameter if self.module.nodes_of(self.entry).contains(&id) => return (3, 0),
            Role::Tuple => part == 0,
            Role::Start(element) => held(element).is_none_or(|held| {
                let end = held.saturating_add(self.module.parts(id).count(held));
                !(held..end).contains(&part)
            }),
            role => role != Role::Parameter && !role.is_name_only(),
        };
        match (own, start <= time) {
            (true, true) => (2, start.into()),
            (true, false) => (1, i64::from(start).saturating_neg()),
            (false, _) => (0, i64::from(start).saturating_neg()),
        }
    }

    fn live_buffer(&self, buffer: Buffer, named: Named) -> LiveBuffer {
        let parts = self.module.parts(named.id);
        let shape = match parts.kind(named.part) {
            PartKind::Array(array) => self.module.array_shape(array).map(ToString::to_string).unwrap_or_default(),
            PartKind::Tuple(elements) => format!("table of {elements} pointers"),
            PartKind::Nothing => String::new(),
        };
        LiveBuffer {
            place: self.place(named.id),
            tuple_index: parts.index_of(named.part),
            shape,
            bytes: buffer.bytes,
            used_as: buffer.used_as(),
        }
    }

    pub(super) fn place(&self, id: u32) -> InstructionPlace {
        let at = self.computations.partition_point(|&(first, _)| first <= id).checked_sub(1);
        let computation = at.and_then(|at| self.computations.get(at)).map_or(NONE, |&(_, number)| number);
        let computation = self.module.computations.get(place(computation)).map(|found| Arc::clone(&found.name));
        InstructionPlace {
            instruction: self.module.name(id).to_owned(),
            opcode: self.module.opcode(id).to_owned(),
            computation: computation.unwrap_or_default(),
            op_name: self.module.op_name(id).map(str::to_owned),
            source: self.module.source(id).cloned(),
            line: self.module.line(id),
        }
    }
}

/// The part with the highest rank among those that were looked at to name a buffer.
#[derive(Debug, Clone, Copy, Default)]
struct Named {
    rank: Option<(u64, (u8, i64))>,
    id: u32,
    part: u32,
}

impl Named {
    fn offer(&mut self, rank: (u64, (u8, i64)), id: u32, part: u32) {
        if self.rank.is_none_or(|best| rank > best) {
            *self = Named { rank: Some(rank), id, part };
        }
    }
}

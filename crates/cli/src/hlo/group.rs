//! Arrays of equal shape and similar names as one row of a table: `cache[*][*]`, 16 x 32 MiB.

use std::collections::HashMap;

use tensor_layout_hlo::LiveBuffer;

use crate::table::pattern;

/// Buffers of the same shape and use whose names differ only in numbers.
pub(super) struct Group<'a> {
    /// The first buffer of the group. The row shows its shape and its size.
    pub(super) first: &'a LiveBuffer,
    pub(super) count: u64,
}

impl<'a> Group<'a> {
    /// Sorts buffers into groups. The group with the most bytes in all comes first.
    pub(super) fn of(buffers: &'a [LiveBuffer]) -> Vec<Group<'a>> {
        let mut found: Vec<Group<'a>> = Vec::new();
        let mut places = HashMap::new();
        for buffer in buffers {
            let name = buffer.place.op_name.as_deref().map_or_else(|| stem(&buffer.place.instruction), pattern);
            let source = buffer.place.source.as_ref().map(|source| (&source.file, source.line));
            let key = (buffer.used_as, &buffer.place.opcode, &buffer.shape, name, source, buffer.tuple_index.len());
            let place = *places.entry(key).or_insert(found.len());
            match found.get_mut(place) {
                Some(group) => group.count += 1,
                None => found.push(Group { first: buffer, count: 1 }),
            }
        }
        found.sort_by_key(|group| std::cmp::Reverse(group.bytes()));
        found
    }

    pub(super) fn bytes(&self) -> u128 {
        u128::from(self.first.bytes) * u128::from(self.count)
    }

    /// Returns the name of the instruction. If the group has several buffers, `*` replaces the numbers in the
    /// name.
    pub(super) fn instruction(&self) -> String {
        let place = &self.first.place;
        if self.count > 1 {
            return format!("{}*", stem(&place.instruction).trim_end_matches('*'));
        }
        let part: String = self.first.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
        format!("{}{part}", place.instruction)
    }

    /// Returns the operation of the source program. If the group has several buffers, `*` replaces the
    /// numbers in it.
    pub(super) fn op_name(&self) -> String {
        let name = self.first.place.op_name.as_deref().unwrap_or_default();
        if self.count > 1 { pattern(name) } else { name.to_owned() }
    }
}

/// Returns the name of an instruction with `*` for its numbers, without the number that XLA appends after a
/// point.
fn stem(name: &str) -> String {
    let unnumbered = name.rsplit_once('.').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    pattern(unnumbered.map_or(name, |(stem, _)| stem))
}

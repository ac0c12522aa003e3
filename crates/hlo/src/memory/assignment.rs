//! `BufferAssignment`: the memory that the compiler assigned to a program.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use crate::lines::Lines;
use tensor_layout::Error;
use tensor_layout::cursor::Cursor;

use super::report::MemoryTotal;

/// The contents of a `*buffer-assignment.txt`, which `--xla_dump_to` writes beside the text of the module.
/// Its sizes are those that the compiler took, with scratch memory, alignment and fragmentation.
///
/// ```
/// use tensor_layout_hlo::BufferAssignment;
///
/// let dump = "BufferAssignment:
/// allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
///  value: <0 x @0> (size=64,offset=0): f32[16]{0}
/// allocation 1: size 64, output shape is |f32[16]|, maybe-live-out:
///  value: <2 y @0> (size=64,offset=0): f32[16]{0}
/// allocation 2: size 128, preallocated-temp:
///  value: <1 t @0> (size=64,offset=64): f32[16]{0}
/// ";
/// let assignment = BufferAssignment::read(dump.as_bytes())?;
/// let total = assignment.total(0);
/// assert_eq!((total.argument_bytes, total.output_bytes, total.temp_bytes, total.peak_bytes), (64, 64, 128, 256));
/// assert_eq!(assignment.largest_temporaries(0)[0].name, "t");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BufferAssignment {
    spaces: BTreeMap<u64, Space>,
    allocations: u64,
    unreadable: u64,
    /// Whether the program is for a TPU. Only a TPU's assignment states a page for each allocation.
    on_tpu: bool,
    /// The bytes of `thread-local` allocations, which are in no total.
    local_bytes: u128,
    /// The place of each value, by its name. Values in `thread-local` allocations are left out, because they
    /// belong to a computation that runs inside one instruction.
    places: HashMap<Box<str>, AssignedPlace>,
}

/// The place of a value in the memory of the program. Values in one place share its memory, at the same time
/// or one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AssignedPlace {
    allocation: u64,
    /// The offset of the value in the allocation, in bytes.
    offset: u64,
    pub(super) bytes: u64,
}

/// The compiler of a TPU reports the temporaries of the main memory in blocks of this size, in bytes.
const TPU_BLOCK: u128 = 16 << 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Space {
    total: MemoryTotal,
    /// The largest values in the temporary memory of the space, the largest first, at most
    /// [`SHOWN`](BufferAssignment::SHOWN).
    largest: Vec<AssignedValue>,
    /// Whether some temporary value is a table of pointers or a scalar integer, and whether some temporary
    /// value is neither.
    has_small: bool,
    has_others: bool,
}

/// A value in temporary memory: its instruction, its size and its offset.
///
/// ```
/// use tensor_layout_hlo::{AssignedValue, BufferAssignment};
///
/// let dump = "BufferAssignment:
/// allocation 2: size 128, preallocated-temp:
///  value: <1 t @0> (size=64,offset=64): f32[16]{0}
/// ";
/// let assignment = BufferAssignment::read(dump.as_bytes())?;
/// let value: &AssignedValue = &assignment.largest_temporaries(0)[0];
/// assert_eq!((value.name.as_str(), value.bytes, value.offset), ("t", 64, 64));
/// assert_eq!((assignment.allocations(), assignment.unreadable()), (1, 0));
/// assert_eq!(assignment.spaces().collect::<Vec<_>>(), [0]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignedValue {
    /// The name of the instruction. An element of its tuple is added in braces: `fusion.2{0}`.
    pub name: String,
    /// The size of the value, in bytes.
    pub bytes: u64,
    /// The offset of the value in the temporary memory, in bytes.
    pub offset: u64,
    /// The shape of the value, as the file writes it.
    pub shape: String,
}

/// The fields of an allocation's line.
#[derive(Debug, Clone, Copy, Default)]
struct Allocation {
    number: u64,
    bytes: u64,
    space: u64,
    is_argument: bool,
    is_result: bool,
    is_temporary: bool,
    is_constant: bool,
    is_paged: bool,
    is_local: bool,
}

impl BufferAssignment {
    /// The most values that [`largest_temporaries`](Self::largest_temporaries) returns for a memory space.
    pub const SHOWN: usize = 100;

    /// Reads a buffer assignment. It takes about 100 bytes of memory for each value.
    ///
    /// # Errors
    ///
    /// Returns an error of the stream itself. Lines that cannot be read are counted
    /// ([`unreadable`](Self::unreadable)).
    pub fn read(dump: impl BufRead) -> io::Result<BufferAssignment> {
        let mut assignment = BufferAssignment::default();
        let mut lines = Lines::new(dump);
        let mut open = None;
        while let Some(line) = lines.next()? {
            let text = line.text.trim_end();
            if let Some(text) = text.strip_prefix("allocation ") {
                match allocation(text) {
                    Ok(found) => {
                        assignment.enter(found);
                        open = Some(found);
                    }
                    Err(_) => assignment.unreadable = assignment.unreadable.saturating_add(1),
                }
            } else if let Some(text) = text.trim_start().strip_prefix("value: <") {
                if let Some(allocation) = open.filter(|allocation: &Allocation| !allocation.is_local) {
                    match value(text) {
                        Ok(found) => assignment.enter_value(allocation, found),
                        Err(_) => assignment.unreadable = assignment.unreadable.saturating_add(1),
                    }
                }
            } else if !text.is_empty() {
                // The tables after the allocations repeat their values. These lines are in no allocation, so
                // they are skipped.
                open = None;
            }
        }
        Ok(assignment)
    }

    fn enter(&mut self, allocation: Allocation) {
        self.allocations = self.allocations.saturating_add(1);
        self.on_tpu |= allocation.is_paged;
        let bytes = u128::from(allocation.bytes);
        self.local_bytes = self.local_bytes.saturating_add(if allocation.is_local { bytes } else { 0 });
        let total = &mut self.spaces.entry(allocation.space).or_default().total;
        let add = |total: &mut u128, counts: bool| *total = total.saturating_add(if counts { bytes } else { 0 });
        add(&mut total.argument_bytes, allocation.is_argument);
        add(&mut total.output_bytes, allocation.is_result);
        add(&mut total.alias_bytes, allocation.is_argument && allocation.is_result);
        add(&mut total.temp_bytes, allocation.is_temporary);
        add(&mut total.constant_bytes, allocation.is_constant);
        add(&mut total.peak_bytes, allocation.is_argument || allocation.is_result || allocation.is_temporary);
    }

    fn enter_value(&mut self, allocation: Allocation, value: AssignedValue) {
        let place = AssignedPlace { allocation: allocation.number, offset: value.offset, bytes: value.bytes };
        // The name of a tuple's table of pointers ends with `{}`, an empty tuple index.
        self.places.insert(value.name.trim_end_matches("{}").into(), place);
        if !allocation.is_temporary {
            return;
        }
        let space = self.spaces.entry(allocation.space).or_default();
        if value.bytes > 0 {
            let is_small = is_table_or_counter(&value.shape);
            space.has_small |= is_small;
            space.has_others |= !is_small;
        }
        let largest = &mut space.largest;
        let at =
            largest.partition_point(|kept| (Reverse(kept.bytes), kept.offset) <= (Reverse(value.bytes), value.offset));
        if at < Self::SHOWN {
            largest.insert(at, value);
            largest.truncate(Self::SHOWN);
        }
    }

    /// The sizes in a memory space; space 0 is the main memory. On a TPU, the temporaries of space 0 are
    /// counted as the compiler reports them: in blocks of 16 KiB, and as 0 if they consist only of tables of
    /// pointers and scalar integers.
    ///
    /// ```
    /// use tensor_layout_hlo::BufferAssignment;
    ///
    /// let dump = "BufferAssignment:\nallocation 0: size 16896, page 0, preallocated-temp:\n";
    /// assert_eq!(BufferAssignment::read(dump.as_bytes())?.total(0).temp_bytes, 32_768);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn total(&self, space: u64) -> MemoryTotal {
        let Some(found) = self.spaces.get(&space) else { return MemoryTotal::default() };
        let mut total = found.total;
        if self.on_tpu && space == 0 {
            let is_none = found.has_small && !found.has_others;
            let blocks = if is_none { 0 } else { total.temp_bytes.div_ceil(TPU_BLOCK) };
            let rounded = blocks.saturating_mul(TPU_BLOCK);
            total.peak_bytes = total.peak_bytes.saturating_sub(total.temp_bytes).saturating_add(rounded);
            total.temp_bytes = rounded;
        }
        total
    }

    /// The bytes of allocations that each thread has for itself, while it runs one instruction.
    pub(crate) fn local_bytes(&self) -> u128 {
        self.local_bytes
    }

    /// Returns the place of a value. A value is known by its instruction and its index in the instruction's
    /// tuple.
    pub(super) fn place(&self, instruction: &str, index: &[usize]) -> Option<AssignedPlace> {
        if index.is_empty() {
            return self.places.get(instruction).copied();
        }
        let index: Vec<String> = index.iter().map(usize::to_string).collect();
        self.places.get(format!("{instruction}{{{}}}", index.join(",")).as_str()).copied()
    }

    /// The numbers of the memory spaces that have allocations, in ascending order.
    ///
    /// ```
    /// use tensor_layout_hlo::BufferAssignment;
    ///
    /// let dump = "BufferAssignment:\nallocation 0: size 64, color 1, preallocated-temp:\n value: <0 t @0> (size=64,offset=0): f32[16]{0}\n";
    /// let assignment = BufferAssignment::read(dump.as_bytes())?;
    /// assert_eq!(assignment.spaces().collect::<Vec<_>>(), [1]);
    /// assert_eq!((assignment.allocations(), assignment.unreadable()), (1, 0));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn spaces(&self) -> impl Iterator<Item = u64> {
        self.spaces.keys().copied()
    }

    /// The largest values in the temporary memory of a space, the largest first. Values at overlapping
    /// offsets are in use at different times.
    #[must_use]
    pub fn largest_temporaries(&self, space: u64) -> &[AssignedValue] {
        self.spaces.get(&space).map_or(&[], |space| &space.largest)
    }

    /// The number of allocations that could be read.
    #[must_use]
    pub fn allocations(&self) -> u64 {
        self.allocations
    }

    /// The number of lines of allocations and values that could not be read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

/// Whether the shape is a tuple `(..)`, whose buffer is a table of pointers, or a scalar integer or truth
/// value, such as a loop counter. If a TPU program has no other temporaries, its compiler reports none.
fn is_table_or_counter(shape: &str) -> bool {
    let is_counter = shape.trim_start_matches("pred").trim_start_matches(['s', 'u']);
    shape.starts_with('(') || is_counter.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("[]")
}

/// Reads the line of an allocation after its first word: `3: size 512, color 2, page 0, parameter 1, shape
/// |f32[2]| at ShapeIndex {}, maybe-live-out:`.
fn allocation(text: &str) -> Result<Allocation, Error> {
    let mut cursor = Cursor::new(text);
    let number = cursor.number("the number of an allocation")?;
    cursor.expect(":", "`:`")?;
    let Some((_, after)) = text.split_once("size ") else { return Err(cursor.error("`size`")) };
    let mut cursor = Cursor::new(after);
    let mut allocation = Allocation { number, bytes: cursor.number("a size in bytes")?, ..Allocation::default() };
    // The line is split at commas. Shapes contain commas too, but they are between bars, so the text between
    // bars is left out.
    let outside = after.split('|').step_by(2).flat_map(|piece| piece.split(','));
    for part in outside.map(|part| part.trim().trim_end_matches(':').trim()) {
        match part.split_once(' ') {
            Some(("color", number)) => allocation.space = Cursor::new(number).number("a memory space")?,
            Some(("parameter", _)) => allocation.is_argument = true,
            Some(("page", _)) => allocation.is_paged = true,
            _ => {}
        }
        allocation.is_result |= part == "maybe-live-out";
        allocation.is_temporary |= part == "preallocated-temp";
        allocation.is_constant |= part == "constant";
        allocation.is_local |= part == "thread-local";
    }
    Ok(allocation)
}

/// Reads the line of a value after `value: <`: `12 fusion.2{0} @0> (size=512,offset=0): f32[2]{0}`.
fn value(text: &str) -> Result<AssignedValue, Error> {
    let mut cursor = Cursor::new(text);
    cursor.number("the number of a value")?;
    let rest = cursor.rest();
    let Some((name, after)) = rest.split_once('>') else { return Err(cursor.error("a name and `>`")) };
    let name = name.rsplit_once('@').map_or(name, |(name, _)| name).trim().to_owned();
    let mut cursor = Cursor::new(after);
    cursor.expect("(size=", "`(size=`")?;
    let bytes = cursor.number("a size in bytes")?;
    cursor.expect(",offset=", "`,offset=`")?;
    let offset = cursor.number("an offset in bytes")?;
    cursor.expect("):", "`):`")?;
    Ok(AssignedValue { name, bytes, offset, shape: cursor.rest().trim_end().to_owned() })
}

#[cfg(test)]
mod tests;

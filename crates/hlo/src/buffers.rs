//! `BufferTable`: the size of each buffer of a dump, and how much of it is padding.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Display;
use std::sync::Arc;

use tensor_layout::{ArrayShape, Error, Shape};

use super::bytes::{buffer_bytes, bytes_without_tiles};
use super::instruction::{Owner, aliased_element, is_alias};
use super::memory::Module;

/// A row of a [`BufferTable`]: one array that an instruction writes to memory, with its size and its padding.
///
/// ```
/// use tensor_layout_hlo::{BufferRow, BufferTable, Module};
///
/// let dump = "ENTRY %main (p: f32[1000,1]) -> f32[1000,1] {
///   %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
///   ROOT %negate = f32[1000,1]{1,0:T(8,128)S(1)} negate(%p)
/// }";
/// let table = BufferTable::of(&Module::read(dump.as_bytes())?, 10);
/// let row: &BufferRow = table.rows()[0];
/// assert_eq!((row.wasted_bytes(), row.expansion()), (508_000, 128.0));
/// assert!(row.memory_space() <= 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferRow {
    /// The instruction's name, without the `%`.
    pub instruction: String,
    /// The operation of the instruction: `add`, `fusion`.
    pub opcode: String,
    /// The name of the computation that contains the instruction, without the `%`.
    pub computation: Arc<str>,
    /// The operation of the source program that the instruction comes from (`op_name`), if the dump names it.
    pub op_name: Option<String>,
    /// The index of the array in the tuple that the instruction returns. It is empty if the result is not a
    /// tuple.
    pub tuple_index: Vec<usize>,
    /// The data type, the sizes and the layout of the array.
    pub shape: ArrayShape,
    /// The size of the array's elements without padding, in bytes.
    pub logical_bytes: u64,
    /// The size of the buffer in bytes: elements, padding, and the metadata that `M(n)` puts in front of the
    /// data.
    pub padded_bytes: u64,
    /// The line of the dump at which the instruction starts. The first line is 1.
    pub line: u64,
}

impl BufferRow {
    /// The bytes of the buffer that hold no element: [`padded_bytes`](Self::padded_bytes) less
    /// [`logical_bytes`](Self::logical_bytes).
    #[must_use]
    pub fn wasted_bytes(&self) -> u64 {
        self.padded_bytes.saturating_sub(self.logical_bytes)
    }

    /// The memory space of the array, the `n` of `S(n)`;
    /// [`memory_space_name`](tensor_layout::tiled::memory_space_name) names it.
    #[must_use]
    pub fn memory_space(&self) -> u64 {
        self.shape.layout().memory_space
    }

    /// The padded size divided by the size of the elements; 1 for an empty array.
    #[must_use]
    pub fn expansion(&self) -> f64 {
        if self.logical_bytes == 0 {
            return 1.0;
        }
        #[allow(clippy::as_conversions, reason = "rounds above 2^53, as a ratio may")]
        let float = |bytes: u64| bytes as f64;
        float(self.padded_bytes) / float(self.logical_bytes)
    }

    fn rank(&self) -> (u64, u64, Reverse<u64>, Reverse<&[usize]>) {
        (self.wasted_bytes(), self.padded_bytes, Reverse(self.line), Reverse(&self.tuple_index))
    }
}

/// A row that is compared by its wasted bytes, so that a heap can drop the row that wastes least.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranked(BufferRow);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.rank().cmp(&other.0.rank())
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The sums over all buffers of one memory space. The sum of the sizes is not the peak, because XLA reuses
/// memory.
///
/// ```
/// use tensor_layout_hlo::{BufferTable, Module, SpaceTotal};
///
/// let dump = "ENTRY %main (p: f32[8,100]) -> f32[8,100] {
///   ROOT %p = f32[8,100]{1,0:T(8,128)} parameter(0)
/// }";
/// let table = BufferTable::of(&Module::read(dump.as_bytes())?, 10);
/// let SpaceTotal { buffers, logical_bytes, padded_bytes, .. } = table.total(0).expect("a buffer in HBM");
/// assert_eq!((buffers, logical_bytes, padded_bytes), (1, 3200, 4096));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceTotal {
    /// The number of buffers in the memory space.
    pub buffers: u64,
    /// The size of the elements of all buffers without padding, in bytes.
    pub logical_bytes: u128,
    /// The size of all buffers with padding, in bytes.
    pub padded_bytes: u128,
}

/// The buffers of a dump: the rows that waste most, and totals for each memory.
///
/// Only the rows with the most wasted bytes are kept; [`of`](Self::of) is told how many. Results that are
/// only another name for a buffer are left out ([`Instruction::is_alias`](super::Instruction::is_alias),
/// [`Instruction::aliased_element`](super::Instruction::aliased_element)). The values inside fusions, and
/// inside the function of a `reduce`, are left out too.
///
/// ```
/// use tensor_layout_hlo::{BufferTable, Module};
///
/// let dump = "ENTRY %main (p: f32[8,100]) -> f32[8,100] {
///   %p = f32[8,100]{1,0:T(8,128)} parameter(0)
///   ROOT %q = f32[8,100]{1,0:T(8,128)} sine(%p)
/// }";
/// let table = BufferTable::of(&Module::read(dump.as_bytes())?, 10);
/// assert_eq!((table.refused_buffers(), table.refused().len()), (0, 0));
/// let spaces: Vec<u64> = table.totals().map(|(space, _)| space).collect();
/// assert_eq!(spaces, [0]);
/// assert_eq!(table.total(0).unwrap().padded_bytes, 8192);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BufferTable {
    kept: usize,
    /// The rows that are kept. The row that wastes least is on top of the heap, to be dropped first.
    rows: BinaryHeap<Reverse<Ranked>>,
    totals: BTreeMap<u64, SpaceTotal>,
    refused: Vec<(String, Error)>,
    refused_buffers: u64,
}

impl BufferTable {
    /// The most arrays of unknown size that [`refused`](Self::refused) returns. Further arrays are only
    /// counted.
    pub const SHOWN: usize = 20;

    /// Makes the table of a module. It keeps the `kept` rows with the most wasted bytes.
    ///
    /// ```
    /// use tensor_layout_hlo::{BufferTable, Module};
    ///
    /// let dump = "ENTRY %e (x: f32[9,1]) -> f32[9,1] {\n  ROOT %x = f32[9,1]{1,0:T(8,128)} parameter(0)\n}\n";
    /// let table = BufferTable::of(&Module::read(dump.as_bytes())?, 10);
    /// assert_eq!((table.rows()[0].logical_bytes, table.rows()[0].padded_bytes), (36, 8192));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn of(module: &Module, kept: usize) -> BufferTable {
        let mut table = BufferTable {
            kept,
            rows: BinaryHeap::new(),
            totals: BTreeMap::new(),
            refused: Vec::new(),
            refused_buffers: 0,
        };
        let bytes = if module.is_for_tpu() { buffer_bytes } else { bytes_without_tiles };
        module.each_buffer(|owner, computation, is_entry| table.add_buffers(&owner, computation, is_entry, bytes));
        table
    }

    fn add_buffers(
        &mut self,
        owner: &Owner,
        computation: &Arc<str>,
        in_entry: bool,
        bytes: fn(&ArrayShape) -> Result<u64, Error>,
    ) {
        if is_alias(owner.opcode, in_entry) {
            return;
        }
        self.refuse_unbounded(owner.name, owner.shape);
        let aliased = aliased_element(owner.opcode);
        for (tuple_index, shape) in owner.shape.arrays() {
            if tuple_index.first().is_some_and(|&element| aliased == Some(element)) {
                continue;
            }
            let sizes = shape.logical_size_in_bytes().and_then(|logical| Ok((logical, bytes(shape)?)));
            let (logical_bytes, padded_bytes) = match sizes {
                Ok(sizes) => sizes,
                Err(error) => {
                    self.refuse(owner.name, shape, error);
                    continue;
                }
            };
            let total = self.totals.entry(shape.layout().memory_space).or_default();
            total.buffers = total.buffers.saturating_add(1);
            total.logical_bytes = total.logical_bytes.saturating_add(logical_bytes.into());
            total.padded_bytes = total.padded_bytes.saturating_add(padded_bytes.into());
            let rank = (
                padded_bytes.saturating_sub(logical_bytes),
                padded_bytes,
                Reverse(owner.line),
                Reverse(tuple_index.as_slice()),
            );
            // Most rows of a long dump are dropped at once. Their names are not copied before that is known.
            if self.rows.len() >= self.kept
                && self.rows.peek().is_none_or(|Reverse(Ranked(least))| rank <= least.rank())
            {
                continue;
            }
            self.rows.push(Reverse(Ranked(BufferRow {
                instruction: owner.name.to_owned(),
                opcode: owner.opcode.to_owned(),
                computation: Arc::clone(computation),
                op_name: owner.op_name.map(str::to_owned),
                tuple_index,
                shape: shape.clone(),
                logical_bytes,
                padded_bytes,
                line: owner.line,
            })));
            if self.rows.len() > self.kept {
                self.rows.pop();
            }
        }
    }

    /// Counts the arrays whose sizes the text does not state, such as `f32[?]`, as refused.
    fn refuse_unbounded(&mut self, name: &str, shape: &Shape) {
        match shape {
            Shape::Unbounded(array) => {
                let error = array.to_string().parse::<ArrayShape>().err();
                error.into_iter().for_each(|error| self.refuse(name, array, error));
            }
            // The recursion is safe, because the reader of shapes lets tuples nest at most 128 deep.
            Shape::Tuple(elements) => elements.iter().for_each(|element| self.refuse_unbounded(name, element)),
            _ => {}
        }
    }

    fn refuse(&mut self, name: &str, shape: &dyn Display, error: Error) {
        self.refused_buffers = self.refused_buffers.saturating_add(1);
        if self.refused.len() < Self::SHOWN {
            self.refused.push((format!("{name} = {shape}"), error));
        }
    }

    /// The rows that are kept, ordered by wasted bytes, the largest first.
    #[must_use]
    pub fn rows(&self) -> Vec<&BufferRow> {
        let mut rows: Vec<&BufferRow> = self.rows.iter().map(|Reverse(Ranked(row))| row).collect();
        rows.sort_unstable_by_key(|row| Reverse(row.rank()));
        rows
    }

    /// The numbers of the memory spaces that contain buffers, in ascending order, each with its total.
    pub fn totals(&self) -> impl Iterator<Item = (u64, SpaceTotal)> {
        self.totals.iter().map(|(&space, &total)| (space, total))
    }

    /// The total for one memory space. `None` if no buffer is in this space.
    #[must_use]
    pub fn total(&self, memory_space: u64) -> Option<SpaceTotal> {
        self.totals.get(&memory_space).copied()
    }

    /// The number of arrays without a known size: `f32[?]`, or a size that does not fit in 64 bits. They are
    /// in no row and in no total.
    #[must_use]
    pub fn refused_buffers(&self) -> u64 {
        self.refused_buffers
    }

    /// The first arrays without a known size, at most [`SHOWN`](Self::SHOWN): `name = shape`, and the reason.
    #[must_use]
    pub fn refused(&self) -> &[(String, Error)] {
        &self.refused
    }
}

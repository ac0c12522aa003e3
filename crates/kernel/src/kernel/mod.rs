//! A copy of bytes as data: loops, and in their innermost iteration a kernel.
//!
//! ```text
//! for i in 0..8:                      loops: at most a few, outer to inner; each has a stride on either side
//!     for j in 0..2:
//!         transpose 64 x 100          kernel: what runs in each iteration, with its own few numbers
//! ```
//!
//! A [`Kernel`] says *what runs*: not only that a plane is transposed, but by which code, in which panels, by
//! way of which staging buffer. Nothing is decided later. Whoever makes a kernel decides with the sizes, the
//! strides and the machine known; [`Copy::new`](crate::Copy::new) checks that there is code for the decision
//! (`fit.rs`); running it is one dispatch.
//!
//! All offsets, strides and lengths are in bytes.

mod bits;
mod fit;
mod loops;
mod panels;
mod plane;
mod reach;
mod width;

pub use bits::{BitInterleave, BitRows, Direction};
pub use loops::{Loop, Stride};
pub use panels::{KEPT_COLUMNS, Panels, Stage, is_in_register};
pub use plane::{Axis, MICRO_TILE, MicroTile, Plane};
pub use width::{PackedWords, WidthChange, WidthRow};

pub use fit::{Misfit, fills_lines, has_shuffle};
pub(crate) use fit::{Place, side_by_side};
pub(crate) use panels::{MOST_ROWS, STAGE, count};
pub(crate) use reach::{Reach, writes_are_disjoint};

use crate::block_permutation::BlockPermutation;

/// The longest unit that is transposed, in bytes: two cache lines.
pub const LONGEST_UNIT: usize = 2 * crate::line::LINE;

/// The longest unit that is reversed in registers, in bytes: half a vector of the narrowest kind.
pub const LONGEST_REVERSED: usize = 16;

/// The most rows that are interleaved into one: registers hold 2, 3, 4, 8 or 16 of them.
pub const MOST_INTERLEAVED: usize = 16;

/// The longest run that several iterations join in the staging buffer of an interleave, in bytes.
pub const JOINED_RUN: usize = 1 << 10;

/// How many columns of a plane of runs are staged at a time.
pub const RUN_COLUMNS: usize = 16;

/// What runs in an iteration of the loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// Copies `count.extent` contiguous runs of `run` bytes.
    Runs {
        /// Bytes of a run.
        run: usize,
        /// Where the runs begin: both strides are at least 0.
        count: Stride,
        /// By which code.
        by: Runs,
    },
    /// For each iteration of `count`, copies a run of `run` bytes between each pair of offsets.
    Table {
        /// Bytes of a run.
        run: usize,
        /// Where the runs of an iteration of `count` begin, source and destination.
        offsets: Vec<(usize, usize)>,
        /// Where the iterations begin: both strides are at least 0.
        count: Stride,
    },
    /// Transposes a plane.
    Transpose {
        /// The plane.
        plane: Plane,
        /// By which code.
        by: Transpose,
    },
    /// Permutes the bytes, or the halves of bytes, of many small blocks.
    PermuteBlocks(BlockPermutation),
    /// Reverses the units of each of `count.extent` runs.
    Reverse {
        /// Bytes that stay together.
        unit: usize,
        /// Units of a run.
        extent: usize,
        /// Where the runs begin: both strides are at least 0.
        count: Stride,
        /// By which code.
        by: Reverse,
    },
    /// Interleaves rows of elements of 1, 2 or 4 bits, or deinterleaves them.
    InterleaveBits {
        /// The rows.
        rows: BitInterleave,
        /// Where rows of the destination are collected.
        by: Rows,
    },
    /// Unpacks a row of elements of 1, 2 or 4 bits to a byte each, or packs it.
    ChangeWidth(WidthRow),
    /// Unpacks words of elements of 1, 2 or 4 bits into rows of bytes, or packs such rows into words.
    ChangeWords {
        /// The words.
        words: PackedWords,
        /// Where rows of the destination are collected.
        by: Rows,
    },
}

/// How runs are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// One short run is written again and again, from a register.
    Repeat,
    /// Runs of 1, 2, 4, 8, 12 or 16 bytes, by one load and one store each.
    Words,
    /// Runs of 17 to 256 bytes, as their first and their last bytes: two pieces that may overlap, so that no
    /// length takes a branch.
    Halves,
    /// Runs of at least a line, whose lines are copied in an order that hardware prefetchers do not follow.
    Scattered,
    /// Line by line. Past the cache, a line that two neighbouring runs share is stored once and whole.
    Lines {
        /// How many runs ahead the source is prefetched; 0: it is not.
        ahead: u32,
    },
    /// By the standard library's `memcpy`.
    Memcpy,
}

/// How a plane is transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transpose {
    /// Unit by unit, for planes too small or too narrow for anything else. Units of 1, 2, 4 or 8 bytes.
    Units,
    /// Blocks of 16-byte units in registers, what is left unit by unit. Both pitches are constant.
    Lanes,
    /// A few source rows are interleaved, in registers, into one dense row of the destination.
    Interleave(Rows),
    /// One dense row of the source is deinterleaved, in registers, into a few rows of the destination.
    Deinterleave(Rows),
    /// A few rows of odd runs are interleaved or deinterleaved by a table of bytes.
    Shuffle,
    /// Blocks in registers; the whole plane is one panel, which is in the cache.
    Panel {
        /// Blocks go in an order that hardware prefetchers do not follow.
        scattered: bool,
    },
    /// Blocks in registers, panel by panel.
    Panels(Panels),
    /// Whole runs, from row to row.
    Runs(PlaneRuns),
}

/// How a plane of long units is transposed, run by run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneRuns {
    /// In which order.
    pub order: RunOrder,
    /// How many source rows ahead is prefetched; 0: nothing is.
    pub ahead: u32,
    /// What runs instead where lines are to be stored past the cache and the destination does not begin at
    /// one: the alignment of a buffer is known when it is there.
    pub unaligned: Option<Panels>,
}

/// In which order the runs of a plane are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// Past the cache: the source front to back, a line of each destination row in turns.
    Source,
    /// Through the cache: of this many columns the source front to back, then the next columns.
    FewColumns(u8),
    /// This many runs of a destination row, then as many of the next destination row.
    Pieces(u16),
}

/// Where the destination rows of an interleave or a deinterleave are collected before they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Nowhere: registers are stored to their rows.
    Direct,
    /// Past the cache, in a staging buffer: some lines of each row, which are then stored row by row. For
    /// registers that are half a line, as few buffers of the CPU hold lines that are half full.
    Staged,
    /// Past the cache, in a staging buffer: this many iterations, whose runs continue each other in every row
    /// of the destination.
    Joined(u16),
}

/// How the units of runs are reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reverse {
    /// Whole units, or whole short runs, inside one register at a time.
    Registers,
    /// Short runs that are side by side, by a table of bytes.
    Shuffle,
    /// Run by run, from two registers.
    Runs,
}

impl Kernel {
    /// What runs, in a few words. The words are those of a plan's explanation.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Runs { by, .. } => match by {
                Runs::Repeat => "one run repeated",
                Runs::Words => "runs of a word each",
                Runs::Halves => "runs in two halves",
                Runs::Scattered => "runs by scattered lines",
                Runs::Lines { .. } => "runs line by line",
                Runs::Memcpy => "runs by memcpy",
            },
            Kernel::Table { .. } => "runs at a table of offsets",
            Kernel::Transpose { by, .. } => match by {
                Transpose::Units => "unit by unit",
                Transpose::Lanes => "blocks of 16-byte units",
                Transpose::Interleave(_) => "interleave in registers",
                Transpose::Deinterleave(_) => "deinterleave in registers",
                Transpose::Shuffle => "byte shuffle",
                Transpose::Panel { .. } => "register blocks in one panel",
                Transpose::Panels(_) => "register blocks in panels",
                Transpose::Runs(PlaneRuns { order, .. }) => match order {
                    RunOrder::Source => "lines in the order of the source",
                    RunOrder::FewColumns(_) => "runs of a few columns at a time",
                    RunOrder::Pieces(_) => "runs in pieces of a row",
                },
            },
            Kernel::Reverse { by, .. } => match by {
                Reverse::Registers => "reverse inside registers",
                Reverse::Shuffle => "byte shuffle",
                Reverse::Runs => "reverse run by run",
            },
            Kernel::PermuteBlocks(_) => "blocks permuted in registers",
            Kernel::InterleaveBits { .. } => "interleave bits in registers",
            Kernel::ChangeWidth(_) => "change of width in registers",
            Kernel::ChangeWords { .. } => "change of words in registers",
        }
    }

    /// The rows of the destination that an iteration separates from one row of the source: the bytes of a row
    /// and the row pitch. `None` if the kernel does no such thing.
    #[must_use]
    pub fn separated_rows(&self) -> Option<(usize, isize)> {
        match self {
            Kernel::Transpose { plane, .. } if plane.columns.extent <= MOST_INTERLEAVED => {
                plane.deinterleaves().map(|pitch| (plane.destination_row(), pitch))
            }
            Kernel::InterleaveBits { rows, .. } if rows.direction == Direction::Deinterleave => {
                Some((rows.row, rows.pitch.cast_signed()))
            }
            Kernel::ChangeWords { words, .. } if words.change != WidthChange::Pack => {
                Some((words.words, words.pitch.cast_signed()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;

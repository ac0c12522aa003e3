//! A copy of bytes as data: a nest of loops, and a kernel that runs in each iteration of the innermost loop.
//!
//! ```text
//! for i in 0..8:                      loops: at most a few, outer to inner, with a stride on either side
//!     for j in 0..2:
//!         transpose 64 x 100          kernel: what runs in each iteration, with its own few numbers
//! ```
//!
//! A [`Kernel`] says *what runs*. It says not only that a plane is transposed, but also by which code, in
//! which panels and through which staging buffer. The caller that makes a kernel knows the sizes, the strides
//! and the machine, and decides. [`Copy::new`](crate::Copy::new) checks that there is code for the decision
//! (`fit.rs`). Running the kernel is one dispatch without further decisions.
//!
//! All offsets, strides and lengths are in bytes.

mod bits;
mod fit;
mod panels;
mod plane;
mod reach;

pub use bits::{BitInterleave, Direction, WidthChange, WidthRow};
pub use panels::{KEPT_COLUMNS, Panels, Stage, is_in_register};
pub use plane::{Axis, MICRO_TILE, MicroTile, Plane};

pub(crate) use fit::Context;
pub use fit::{Misfit, fills_lines, has_shuffle};
pub(crate) use panels::{MOST_ROWS, STAGE, count};
pub(crate) use reach::Reach;

use crate::block_permutation::BlockPermutation;
use crate::channels::Channels;
pub use crate::loops::{FixedList, Loop, Offsets, Stride};

/// The longest unit that is transposed, in bytes: two cache lines.
pub const LONGEST_UNIT: usize = 2 * crate::machine::LINE;

/// The most rows that are interleaved into one row. There are shuffles for 2, 3, 4, 8 and 16 rows of units.
pub const MOST_INTERLEAVED: usize = 16;

/// The longest run that several iterations form together in the staging buffer of a deinterleave, in bytes.
/// [`Rows::Joined`] joins them.
pub const JOINED_RUN: usize = 1 << 10;

/// How many columns go into the staging buffer at a time, if a unit is too long for a register.
pub const RUN_COLUMNS: usize = 16;

/// The code that runs in each iteration of the loops, with its lengths, counts, strides and tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// Copies `count.extent` contiguous runs of `run` bytes.
    Runs {
        /// The length of a run in bytes.
        run: usize,
        /// The number of runs, and their strides, which are at least 0.
        count: Stride,
        /// The code that copies the runs.
        by: Runs,
    },
    /// Copies a run of `run` bytes for each pair of offsets, in each iteration of `count`.
    Table {
        /// The length of a run in bytes.
        run: usize,
        /// The offsets of each run, source and destination, from the start of an iteration of `count`.
        offsets: Offsets,
        /// The number of iterations, and their strides, which are at least 0.
        count: Stride,
    },
    /// Transposes a plane.
    Transpose {
        /// The plane.
        plane: Plane,
        /// The code that transposes the plane.
        by: Transpose,
    },
    /// Permutes the bytes, or the halves of bytes, of many small blocks.
    PermuteBlocks(BlockPermutation),
    /// Copies some units of every group of units.
    Channels(Channels),
    /// Interleaves rows of elements of 1, 2 or 4 bits, or deinterleaves a row.
    InterleaveBits {
        /// The rows.
        rows: BitInterleave,
        /// Whether the rows of the destination go through a staging buffer.
        by: Rows,
    },
    /// Unpacks a row of elements of 1, 2 or 4 bits to bytes, one byte for each element, or packs such bytes.
    ChangeWidth(WidthRow),
}

/// How contiguous runs are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// One short run is loaded into a register, and the register is stored again and again.
    Repeat,
    /// Runs of 1, 2, 4, 8, 12 or 16 bytes are copied by one load and one store each.
    Words,
    /// Runs of 17 to 256 bytes are copied as two halves, which may overlap: the first bytes and the last
    /// bytes. So no length needs a branch.
    Halves,
    /// Runs of at least a cache line are copied line by line, in an order that hardware prefetchers do not
    /// follow.
    Scattered,
    /// Runs are copied line by line. With non-temporal stores, two neighbouring runs that share a line store
    /// the line once, as a whole.
    Lines {
        /// How many runs ahead the source is prefetched; 0 for no prefetch.
        ahead: u32,
    },
    /// Runs are copied by the standard library's `memcpy`.
    Memcpy,
}

/// How a plane is transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transpose {
    /// The plane is copied unit by unit, because it is too small or too narrow for vectors. Units have 1, 2,
    /// 4 or 8 bytes.
    Units,
    /// Squares of units that fill registers are transposed in registers, and the remaining units one by one.
    /// Units have 4, 8 or 16 bytes. Both pitches are constant.
    Squares,
    /// A few source rows are interleaved, in registers, into one dense row of the destination.
    Interleave(Rows),
    /// One dense row of the source is deinterleaved, in registers, into a few rows of the destination.
    Deinterleave(Rows),
    /// Blocks are transposed in registers. The whole plane is one panel, and is in a cache.
    Panel {
        /// Whether the blocks are in an order that hardware prefetchers do not follow.
        scattered: bool,
    },
    /// Blocks are transposed in registers, panel by panel.
    Panels(Panels),
    /// The plane is copied run by run, because its units are too long for registers.
    Runs(PlaneRuns),
}

/// How a plane of long units is transposed, run by run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneRuns {
    /// The order of the runs.
    pub order: RunOrder,
    /// How many source rows ahead the source is prefetched; 0 for no prefetch.
    pub ahead: u32,
    /// The panels that run instead if lines must be written with non-temporal stores, but the destination
    /// does not start at a line. The address of a destination is known only when the copy runs.
    pub unaligned: Option<Panels>,
}

/// The order in which the runs of a plane are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// With non-temporal stores: the source is read front to back, and each destination row gets one line in
    /// turn.
    Source,
    /// With ordinary stores: this many columns of the source are copied front to back, and then the next
    /// columns.
    FewColumns(u8),
    /// This many runs of a destination row are copied, then this many runs of the next destination row.
    Pieces(u16),
}

/// How the destination rows of an interleave or a deinterleave are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Registers are stored directly to the destination rows.
    Direct,
    /// With non-temporal stores: a staging buffer collects some lines of each row, which are then stored row
    /// by row. This is for registers of half a line, because a CPU has few buffers for lines that are written
    /// in part.
    Staged,
    /// With non-temporal stores: a staging buffer collects this many iterations. In every destination row,
    /// the runs of these iterations continue each other.
    Joined(u16),
}

/// How a copy loads and stores. These choices are independent of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Whether whole cache lines are written with non-temporal stores.
    pub streaming: bool,
    /// How the source is prefetched between iterations.
    pub prefetch: Prefetch,
}

/// How the source is prefetched between iterations. Kernels of planes and of long lists of runs have their
/// own distances, in panels, rows or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing is prefetched.
    None,
    /// Prefetches the source of the iteration that is this many iterations ahead, at least 1.
    Iterations(u32),
    /// Prefetches the source this many bytes ahead, in the row that is being copied.
    InRow(u32),
}

impl Access {
    /// Ordinary stores and no prefetch, for data that is in a cache.
    pub const PLAIN: Access = Access { streaming: false, prefetch: Prefetch::None };
}

impl Kernel {
    /// Whether few copies use this kernel. Programs with the feature `small` run it in safe Rust.
    pub(crate) fn is_rare(&self) -> bool {
        matches!(self, Kernel::InterleaveBits { .. } | Kernel::ChangeWidth(_))
    }
}

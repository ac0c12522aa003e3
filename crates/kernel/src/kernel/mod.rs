//! A copy of bytes as data: a nest of loops, and a kernel that runs in each iteration of the innermost loop.
//!
//! ```text
//! for i in 0..8:                      loops: at most a few, outer to inner, with a stride on either side
//!     for j in 0..2:
//!         transpose 64 x 100          kernel: what runs in each iteration, with its own few numbers
//! ```
//!
//! A [`Kernel`] says *what runs*: for example, that a plane is transposed, and also by which code, in which
//! panels and through which staging buffer. The caller that makes a kernel knows the sizes, the strides and
//! the machine, and decides all this. [`Copy::new`](crate::Copy::new) checks that there is code for the
//! decision (`fit.rs`). Running the kernel is one dispatch without further decisions.
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

/// The longest run, in bytes, that [`Rows::Joined`] makes of the runs of several iterations, in the staging
/// buffer of a deinterleave.
pub const JOINED_RUN: usize = 1 << 10;

/// How many columns go into the staging buffer at a time, if units are too long for registers.
pub const RUN_COLUMNS: usize = 16;

/// The code that runs in each iteration of the loops, with its lengths, counts, strides and tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// Copies `count.extent` contiguous runs of `run` bytes.
    Runs {
        /// The length of a run in bytes.
        run: usize,
        /// How many runs an iteration copies, and their strides, which are at least 0.
        count: Stride,
        /// The code that copies the runs.
        by: Runs,
    },
    /// Copies a run of `run` bytes for each pair of offsets, in each iteration of the inner loop `count`.
    Table {
        /// The length of a run in bytes.
        run: usize,
        /// The offsets of each run, source and destination, from the start of an iteration of `count`.
        offsets: Offsets,
        /// The inner loop of the kernel: its number of iterations, and its strides, which are at least 0.
        count: Stride,
    },
    /// Transposes a plane.
    Transpose {
        /// The plane.
        plane: Plane,
        /// The code that transposes the plane.
        by: Transpose,
    },
    /// Permutes the bytes, or the halves of bytes, of many small, equal blocks.
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
    /// The run, which is short, is loaded into a register once. The register is stored until the row is full.
    Repeat,
    /// Runs of 1, 2, 4, 8, 12 or 16 bytes are copied by one load and one store each.
    Words,
    /// Runs of 17 to 256 bytes are copied as two halves, which may overlap: the first bytes and the last
    /// bytes. So runs are copied without a branch on their length.
    Halves,
    /// Runs of at least a cache line are copied line by line, in an order that hardware prefetchers do not
    /// follow.
    Scattered,
    /// Runs are copied line by line. With non-temporal stores, a destination line that two neighbouring runs
    /// share is stored once, as a whole.
    Lines {
        /// How many runs ahead of the copy the source is prefetched; 0 for no prefetch.
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
    /// As many rows and columns as a register has units (squares) are transposed in registers, and the
    /// remaining units one by one. Units have 4, 8 or 16 bytes. Both pitches are constant.
    Squares,
    /// A few source rows are interleaved, in registers, into one dense row of the destination.
    Interleave(Rows),
    /// One dense row of the source is deinterleaved, in registers, into a few rows of the destination.
    Deinterleave(Rows),
    /// Blocks are transposed in registers. The plane is a single panel, and is in a cache.
    Panel {
        /// Whether blocks are transposed in an order that hardware prefetchers do not follow.
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
    /// How many source rows ahead of the copy the source is prefetched; 0 for no prefetch.
    pub ahead: u32,
    /// What runs instead if whole lines are to be streamed and the destination does not start at a line:
    /// panels. The address of the destination is known only when the copy runs.
    pub unaligned: Option<Panels>,
}

/// The order in which the runs of a plane are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// With non-temporal stores: the source is read front to back, and the destination rows get one line
    /// each, in turns.
    Source,
    /// With ordinary stores: this many columns of the source are copied front to back, and then the next
    /// columns.
    FewColumns(u8),
    /// This many runs of a destination row are copied, and then as many of the next destination row.
    Pieces(u16),
}

/// How the destination rows of an interleave or a deinterleave are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Registers are stored directly to the destination rows.
    Direct,
    /// With non-temporal stores: a staging buffer collects some lines of each row, which are then stored row
    /// by row. This is for registers of half a line: they write lines in part, for which a CPU has few
    /// buffers.
    Staged,
    /// With non-temporal stores: a staging buffer collects the runs of this many iterations, which continue
    /// each other in every destination row.
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

/// How the source is prefetched between iterations. Some kernels have a distance of their own besides, in
/// panels, rows or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing is prefetched.
    None,
    /// Prefetches the source of a later iteration: this many iterations ahead, at least 1.
    Iterations(u32),
    /// Prefetches this many bytes ahead in the source row that is being copied.
    InRow(u32),
}

impl Access {
    /// Ordinary stores and no prefetch, for data that is in a cache.
    pub const PLAIN: Access = Access { streaming: false, prefetch: Prefetch::None };
}

impl Kernel {
    /// Whether a kernel is so rare that programs with the feature `small` run it in safe Rust.
    pub(crate) fn is_rare(&self) -> bool {
        matches!(self, Kernel::InterleaveBits { .. } | Kernel::ChangeWidth(_))
    }
}

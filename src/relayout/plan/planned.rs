//! What a plan is made of: a list of planned boxes, which `exec` runs without further decisions.

use smallvec::SmallVec;
use strided_copy::PlainNest;
use strided_copy::kernel::{FixedList, Loop, Stride};

use crate::map::{CopyBox, Loops};

use super::widths::Change;

/// Planned boxes. Most programs have a single box, which needs no allocation.
pub(crate) type PlannedBoxes = SmallVec<[PlannedBox; 1]>;

/// A copy of whole bytes: a kernel and the loops that it runs in, with room for two loops.
pub(crate) type Copy = strided_copy::Copy<CopyLoops>;

/// The loops of a kept copy. Up to 2 loops need no allocation. Room for more would make every plan larger.
pub(crate) type CopyLoops = SmallVec<[Loop; 2]>;

/// One box, planned.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every box is a copy of whole bytes; a box of its own would cost an allocation"
)]
pub(crate) enum PlannedBox {
    /// The only box of a small copy, as plain loops around runs, without a kernel.
    Plain(Plain),
    /// A box whose elements are whole bytes on both sides: one copy.
    Copy(Copy),
    /// A box whose elements begin inside bytes, or are unpacked or packed.
    Steps(StepBox),
}

/// A box of sub-byte elements: loops around a step, which copies bits, rows, or a part in staging buffers.
#[derive(Debug, Clone)]
pub(crate) struct StepBox {
    /// The loops around the step, and where the first iteration starts on either side, in elements.
    pub(crate) outer: CopyBox,
    /// The number of bits of an element on the source and on the destination.
    pub(crate) bits: (u32, u32),
    pub(crate) step: Step,
}

/// What an iteration in a [`StepBox`] copies. It may begin at any bit of the source and of the destination.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Copies a row of this many bits, which may begin at any bit of a byte.
    Bits(u64),
    /// Unpacks or packs rows of elements.
    Rows(WidthRows),
    /// Copies elements in another order, through staging buffers.
    Staged(Box<Staged>),
}

/// The three copies by which elements go through two staging buffers of [`BUFFER`] bytes.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// Unpacks the source into the first buffer. `None` if elements are bytes there, and `copy` reads it.
    pub(crate) first: Option<Rows>,
    pub(crate) copy: Copy,
    /// Packs the second buffer to the destination. `None` if elements are bytes there, and `copy` writes it.
    pub(crate) last: Option<Rows>,
}

#[derive(Debug, Clone)]
pub(crate) enum Rows {
    /// All rows begin and end at whole bytes, so one copy of bytes copies all of them.
    Whole(Copy),
    Anywhere(WidthRows),
}

/// Rows that are packed on one side and have a byte for each element on the other side. On the packed side,
/// the rows follow each other without a gap and may begin at any bit of a byte.
#[derive(Debug, Clone)]
pub(crate) struct WidthRows {
    pub(crate) loops: Loops,
    pub(crate) row: u64,
    pub(crate) change: Change,
    /// The copies that unpack or pack the whole bytes of a row, each with the number of its whole bytes.
    /// There may be two, because a row that begins inside a byte has one whole byte less than other rows.
    pub(crate) wholes: Vec<(u64, Copy)>,
}

impl StepBox {
    /// Whether bytes of the destination are changed in part, so that they must be read.
    pub(crate) fn changes_bytes(&self) -> bool {
        match &self.step {
            Step::Bits(_) => true,
            Step::Rows(rows) => !rows.change.unpacks(),
            Step::Staged(staged) => matches!(staged.last, Some(Rows::Anywhere(_))),
        }
    }
}

// --- Plain loops: copies that are so small that a kernel takes longer -------------------------------------

/// A whole copy as plain loops around runs of bytes. It is built and checked once, when the copy is planned.
pub(crate) type Plain = PlainNest<SmallVec<[Stride; 4]>>;

/// Whether it takes less time to copy the runs of a nest one by one than to choose a kernel first. `most` is
/// the number of runs up to which that holds.
pub(crate) fn is_plain<L: FixedList<Stride>>(nest: &PlainNest<L>, most: usize) -> bool {
    nest.runs() <= most && nest.bytes() <= MOST_PLAIN_BYTES
}

/// The largest copy, in bytes, that runs as a plain loop nest. Larger copies may need prefetches or
/// non-temporal stores, which a plan decides on. Not tuned.
pub(super) const MOST_PLAIN_BYTES: u64 = 1 << 18;

/// The most runs that a plain loop nest copies, if a kernel has not been chosen yet, or if the chosen kernel
/// copies runs shorter than a [`PIECE`]. By trial (Zen 3).
pub(crate) const MOST_PLAIN_RUNS: usize = 512;

/// Whether a plain loop nest is faster than a kernel that was chosen already: if it moves few parts of
/// [`PIECE`] bytes, or if the kernel copies runs, too, and the runs are shorter than [`PIECE`] (300 runs of 5
/// bytes take 0.15 of the time of a kernel on a Zen 3, and 300 runs of 20 bytes 0.7). A long run costs little
/// more than a call of `memcpy`.
pub(super) fn is_cheap(nest: &Plain, kernel_copies_runs: bool) -> bool {
    if kernel_copies_runs && nest.bytes_of_run() < PIECE {
        return is_plain(nest, MOST_PLAIN_RUNS);
    }
    let pieces = nest.bytes_of_run().div_ceil(PIECE).min(PIECES_OF_A_CALL);
    nest.runs().saturating_mul(pieces) <= MOST_PIECES && is_plain(nest, MOST_PIECES)
}

/// The length, in bytes, of the parts by which the cost of a plain loop nest is counted.
const PIECE: usize = 32;

/// The most parts of [`PIECE`] bytes that a run counts as. A longer run is one call of `memcpy`, which takes
/// as long as this many parts. By trial (Zen 3).
const PIECES_OF_A_CALL: usize = 8;

/// The most parts of [`PIECE`] bytes that a plain loop nest moves. By trial (Zen 3): 10 runs of 40 bytes take
/// 0.8 of the time of a kernel, 32 runs of 124 bytes 1.5 of it.
const MOST_PIECES: usize = 64;

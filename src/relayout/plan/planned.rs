//! What a plan is made of: a list of planned boxes. `exec` runs them as they are.

use smallvec::SmallVec;
use strided_copy::Copy;

use crate::map::{CopyBox, Loops};

use super::plain::Plain;
use super::widths::Change;

/// Planned boxes. Most programs have a single box, which needs no allocation.
pub(crate) type PlannedBoxes = SmallVec<[PlannedBox; 1]>;

/// One box, planned.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every box is a copy of whole bytes; a box of its own would cost an allocation"
)]
pub(crate) enum PlannedBox {
    /// The only box of a small copy, as plain loops.
    Plain(Plain),
    /// A box of whole bytes, which is one copy.
    Copy(Copy),
    /// Any other box: its elements begin inside bytes, or are unpacked or packed.
    Steps(StepBox),
}

/// A box that is not one copy of whole bytes.
#[derive(Debug, Clone)]
pub(crate) struct StepBox {
    /// The loops around the step, and the start of the first iteration, in elements.
    pub(crate) outer: CopyBox,
    /// The number of bits of an element on the source and on the destination.
    pub(crate) bits: (u32, u32),
    pub(crate) step: Step,
}

/// What an iteration copies. It begins at a bit of the source and at a bit of the destination.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Copies a row of this many bits, which may begin anywhere.
    Bits(u64),
    /// Unpacks or packs rows of elements.
    Rows(WidthRows),
    /// Copies elements in another order, through staging buffers.
    Staged(Box<Staged>),
}

/// Elements on their way through staging buffers of [`BUFFER`] bytes.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// Unpacks the source into the first buffer. `None` if `copy` reads the source.
    pub(crate) first: Option<Rows>,
    pub(crate) copy: Copy,
    /// Packs the destination from the second buffer. `None` if `copy` writes the destination.
    pub(crate) last: Option<Rows>,
}

#[derive(Debug, Clone)]
pub(crate) enum Rows {
    /// All rows begin and end at whole bytes.
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
    /// The copies of the whole bytes of a row, each with the number of these bytes. A row that begins inside
    /// a byte has one whole byte less than other rows.
    pub(crate) wholes: Vec<(u64, Copy)>,
}

impl StepBox {
    /// Whether bytes of the destination are changed in part, so that the destination must be read.
    pub(crate) fn changes_bytes(&self) -> bool {
        match &self.step {
            Step::Bits(_) => true,
            Step::Rows(rows) => !rows.change.unpacks(),
            Step::Staged(staged) => matches!(staged.last, Some(Rows::Anywhere(_))),
        }
    }
}

//! Boxes that take several steps: their elements begin inside bytes, or change their storage width.
//!
//! A [`StepBox`] is a loop over elements, with some [`Step`]s in each iteration. [`bits`](super::bits) plans
//! them. Whole bytes are copied by a `strided_copy::Copy`, resolved with the rest of the plan.

use strided_copy::Copy;

use crate::error::Error;
use crate::map::{CopyBox, Loops};

use super::machine::Site;
use super::resolve::Shape;
use super::select::{self, NestLoops};
use super::widths::Change;

/// A box that takes several steps in each iteration of its loops.
#[derive(Debug, Clone)]
pub(crate) struct StepBox {
    /// The loops around the steps, and the start of the first iteration, in elements.
    pub(crate) outer: CopyBox,
    /// The number of bits of an element on the source and on the destination.
    pub(crate) bits: (u32, u32),
    /// The steps of an iteration, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of an iteration. A step begins at a bit of the source and at a bit of the destination.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "steps are few, and most of them are copies of whole bytes")]
pub(crate) enum Step {
    /// Copies a row of this many bits, which may begin anywhere.
    Bits(u64),
    /// Unpacks or packs rows of elements.
    Rows(WidthRows),
    /// Copies elements in another order, through staging buffers.
    Staged(Box<Staged>),
}

/// Elements on their way through staging buffers of [`BUFFER`](super::cost::BUFFER) bytes.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// Unpacks the source into the first buffer. `None` if `copy` reads the source.
    pub(crate) first: Option<Rows>,
    pub(crate) copy: Copy,
    /// Packs the destination from the second buffer. `None` if `copy` writes the destination.
    pub(crate) last: Option<Rows>,
}

/// Rows that are unpacked or packed.
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
    /// The loops over the rows, in elements.
    pub(crate) loops: Loops,
    /// The number of elements of a row.
    pub(crate) row: u64,
    pub(crate) change: Change,
    /// The copies of the whole bytes of a row, each with the number of these bytes. A row that begins inside
    /// a byte has one whole byte less than other rows.
    pub(crate) wholes: Vec<(u64, Copy)>,
}

impl StepBox {
    /// Whether bytes of the destination are changed in part, so that the destination must be read.
    pub(crate) fn changes_bytes(&self) -> bool {
        let changes = |step: &Step| match step {
            Step::Bits(_) => true,
            Step::Rows(rows) => !rows.change.unpacks(),
            Step::Staged(staged) => matches!(staged.last, Some(Rows::Anywhere(_))),
        };
        self.steps.iter().any(changes)
    }
}

impl WidthRows {
    /// Makes rows of `row` elements, one row in each iteration of some loops.
    ///
    /// # Errors
    ///
    /// `overflow` if an offset does not fit.
    pub(crate) fn new(loops: Loops, row: u64, change: Change, site: Site<'_>) -> Result<WidthRows, Error> {
        let whole = if change.has_kernels() { row.checked_div(change.group).unwrap_or(0) } else { 0 };
        let mut wholes = Vec::new();
        for bytes in [whole, whole.saturating_sub(1)] {
            if bytes > 0 && wholes.iter().all(|(other, _)| *other != bytes) {
                let packed = crate::checked::narrow(bytes, crate::checked::BYTES)?;
                let shape = Shape::Width(change.row(packed));
                wholes.push((bytes, select::resolved(shape, &mut NestLoops::new(), (0, 0), site)?));
            }
        }
        Ok(WidthRows { loops, row, change, wholes })
    }
}

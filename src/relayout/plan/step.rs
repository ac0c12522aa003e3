//! Boxes that take several steps: their elements begin inside bytes, or change their storage width, or the
//! boxes share rows.
//!
//! A [`StepBox`] is a loop over elements, with some [`Step`]s in each iteration. A step copies whole bytes,
//! rows of bits or rows of elements, or goes *through a buffer*: the steps `into` fill the buffer from the
//! source, and the steps `out` copy from the buffer to the destination. A step in `out` may go through
//! another buffer.
//!
//! ```text
//! s4 plane, transposed:   through A  into: rows of bits from the source
//!                                    out:  through B  into: interleave pairs of rows, A to B     (bytes)
//!                                                     out:  through C  into: transpose B to C    (bytes)
//!                                                                      out:  rows of bits to the destination
//! ```
//!
//! Every step that copies whole bytes is a `strided_copy::Copy`, resolved with the rest of the plan.

use strided_copy::Copy;
use strided_copy::kernel::{BitRows, Stride};

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
    /// Copies whole bytes. Both sides begin at whole bytes.
    Copy(Copy),
    /// Copies rows of bits that begin anywhere.
    Bits(RowsOfBits),
    /// Copies an element of this many bits, which may begin at any bit of a byte.
    Element(u32),
    /// Unpacks or packs rows of elements that begin anywhere on their packed side.
    Width(WidthRows),
    /// Copies through a buffer of [`BUFFER`](super::cost::BUFFER) bytes.
    Through(Box<Through>),
}

/// A detour of a copy through a buffer.
#[derive(Debug, Clone)]
pub(crate) struct Through {
    /// The steps that fill the buffer from the source.
    pub(crate) into: Vec<Step>,
    /// The steps that copy from the buffer to the destination.
    pub(crate) out: Vec<Step>,
}

/// Rows of bits that begin anywhere.
#[derive(Debug, Clone)]
pub(crate) struct RowsOfBits {
    pub(crate) rows: BitRows,
    /// The copy of whole bytes, for iterations in which all rows begin and end at whole bytes.
    pub(crate) whole: Option<Copy>,
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
    /// Makes a box that runs copies of whole bytes in every iteration of some loops over bytes.
    pub(crate) fn of_copies(outer: Loops, copies: Vec<Copy>) -> StepBox {
        let steps = copies.into_iter().map(Step::Copy).collect();
        StepBox { outer: CopyBox { source: 0, destination: 0, loops: outer }, bits: (8, 8), steps }
    }

    /// How many buffers are in use at the same time.
    pub(crate) fn depth(&self) -> usize {
        depth(&self.steps)
    }

    /// Whether bytes of the destination are changed in part, so that the destination must be read.
    pub(crate) fn changes_bytes(&self) -> bool {
        changes_bytes(&self.steps)
    }
}

fn depth(steps: &[Step]) -> usize {
    let through = |step: &Step| match step {
        Step::Through(through) => depth(&through.into).max(depth(&through.out)).saturating_add(1),
        _ => 0,
    };
    steps.iter().map(through).max().unwrap_or(0)
}

fn changes_bytes(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Copy(_) => false,
        Step::Bits(_) | Step::Element(_) => true,
        Step::Width(rows) => !rows.change.unpacks(),
        Step::Through(through) => changes_bytes(&through.out),
    })
}

impl Step {
    pub(crate) fn through(into: Vec<Step>, out: Vec<Step>) -> Step {
        Step::Through(Box::new(Through { into, out }))
    }
}

impl RowsOfBits {
    /// Makes rows of bits. Rows that follow each other without a gap on both sides become one long row.
    ///
    /// # Errors
    ///
    /// `overflow` if an offset does not fit.
    pub(crate) fn new(rows: BitRows, site: Site<'_>) -> Result<RowsOfBits, Error> {
        let mut rows = rows;
        if rows.source == rows.bits && rows.destination == rows.bits {
            rows = BitRows { bits: rows.bits.saturating_mul(rows.count), count: 1, ..rows };
        }
        if rows.count == 1 {
            rows = BitRows { source: 0, destination: 0, ..rows };
        }
        let BitRows { bits, count, source, destination } = rows;
        let whole_bytes = [bits, source, destination].iter().all(|length| length.is_multiple_of(8)) && bits > 0;
        let whole = whole_bytes.then(|| {
            let bytes = |bits: u64| usize::try_from(bits.div_euclid(8)).ok();
            let stride = |bits: u64| isize::try_from(bits.div_euclid(8)).ok();
            let count = Stride {
                extent: usize::try_from(count).ok()?,
                source: stride(source)?,
                destination: stride(destination)?,
            };
            Some(Shape::Runs { run: bytes(bits)?, count })
        });
        let whole =
            whole.flatten().map(|shape| select::resolved(shape, &mut NestLoops::new(), (0, 0), site)).transpose()?;
        Ok(RowsOfBits { rows, whole })
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

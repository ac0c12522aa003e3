//! Which kernel a nest gets.

use super::block::of_unit;
use super::copy::{CopyRuns, CopyTable};
use super::interleave::{Interleave, Weave};
use super::reverse::Reverse;
use super::runs::TransposeRuns;
use super::shuffles::{of_bits, of_width, of_words};
use super::transpose::{TransposeFewLanes, TransposeUnits, is_few_lanes};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::nest::{BitInterleave, Direction, MicroKernel, PackedWords, RowPitch, WidthChange, WidthRow};

/// A kernel in all iterations of a walk.
pub(crate) struct RunNest<'a> {
    pub(crate) kernel: &'a MicroKernel,
    pub(crate) walk: &'a Walk<'a>,
}

impl RunNest<'_> {
    /// Runs it with vectors of type `V`: each kernel is a function with the features of `V`, this is none.
    ///
    /// # Safety
    ///
    /// The CPU has the features of `V`. The kernel is [well formed](MicroKernel::is_well_formed), and the
    /// [schedule is for it](crate::Schedule::is_for), a register of `V::BYTES` and `walk.streaming`. In every
    /// iteration, its span is readable on the source, as is what is between the spans of all iterations, and
    /// writable on the destination; they do not overlap.
    #[inline(always)]
    pub(crate) unsafe fn run<V: Vector>(self) {
        const { assert!(V::BYTES == 32 || V::BYTES == 64) };
        let RunNest { kernel, walk } = self;
        // SAFETY: each kernel is given the extents and strides that it is for, and touches what these span:
        // that this is inside both sides in every iteration, that no axis is empty, and that the schedule is
        // for it are conditions of this function. The arms have the units and row counts that kernels list.
        unsafe {
            match kernel {
                &MicroKernel::Copy { run, count } => apart::<V, _>(CopyRuns { walk, run, count }),
                &MicroKernel::CopyTable { run, ref offsets, count } => {
                    apart::<V, _>(CopyTable { walk, run, offsets, count });
                }
                &MicroKernel::InterleaveBits(BitInterleave { bits, rows, row, pitch, direction }) => {
                    let weave = of_bits::<V>(bits, rows, direction == Direction::Interleave);
                    interleave::<V>(walk, weave, row, pitch, false);
                }
                &MicroKernel::ChangeWidth(WidthRow { bits, change, packed }) => {
                    let weave = of_width::<V>(bits, change != WidthChange::Pack);
                    interleave::<V>(walk, weave, packed, 0, change == WidthChange::Unpack { signed: true });
                }
                &MicroKernel::ChangeWords(PackedWords { bits, change, words, pitch }) => {
                    let weave = of_words::<V>(bits, change != WidthChange::Pack);
                    interleave::<V>(walk, weave, words, pitch, change == WidthChange::Unpack { signed: true });
                }
                &MicroKernel::Reverse { unit, extent, count } => {
                    apart::<V, _>(Reverse { walk, unit, extent, count });
                }
                MicroKernel::Transpose(plane) => match of_unit::<V>(plane.unit) {
                    Some(_) if plane.unit == 16 && is_few_lanes(walk, plane) => {
                        apart::<V, _>(TransposeFewLanes { walk, plane });
                    }
                    Some((transpose, units)) => TransposeUnits { walk, plane, transpose, units }.run::<V>(),
                    None => apart::<V, _>(TransposeRuns { walk, plane }),
                },
            }
        }
    }
}

/// Does it in a function that is in line nowhere: the stack of the largest kernel would be that of every
/// copy, and is some pages.
///
/// # Safety
///
/// Those of the operation.
#[inline(never)]
unsafe fn apart<V: Vector, O: Operation>(operation: O) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(operation) }
}

/// Rows of bytes of elements that are shuffled.
///
/// # Safety
///
/// In every iteration, the rows of the weave, `row` bytes each and `pitch` bytes apart, are readable on the
/// source and writable on the destination.
unsafe fn interleave<V: Vector>(walk: &Walk<'_>, weave: Option<Weave>, row: usize, pitch: usize, signed: bool) {
    let Some(weave) = weave else { unreachable!("there is no such kernel") };
    let pitch = RowPitch::forwards(pitch);
    // SAFETY: the caller's promise.
    unsafe { apart::<V, _>(Interleave { walk, weave, row, unit: 1, pitch, signed }) }
}

//! Which kernel a nest gets.

use super::copy::{CopyRuns, CopyTable};
use super::interleave::{Bits, InterleaveRows};
use super::reverse::Reverse;
use super::runs::TransposeRuns;
use super::transpose::{TransposeFewLanes, TransposeUnits, is_few_lanes};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use super::width::{ChangeWidth, ChangeWords};
use crate::nest::{BitInterleave, Direction, MicroKernel, RowPitch};

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
    /// The CPU has the features of `V`. The kernel is [well formed](MicroKernel::is_well_formed). In every iteration, its span is readable
    /// on the source and writable on the destination; they do not overlap. What lies between the spans of the source is readable too.
    #[inline(always)]
    pub(crate) unsafe fn run<V: Vector>(self) {
        const { assert!(V::BYTES == 32 || V::BYTES == 64) };
        let RunNest { kernel, walk } = self;
        // SAFETY: each kernel is given the extents and strides that it is for, and touches what these span; that this lies
        // inside both sides in every iteration, and that no axis is empty, are conditions of this function. The units and row counts
        // of the arms are the conditions that the kernels list.
        unsafe {
            match kernel {
                &MicroKernel::Copy { run, count } => apart::<V, _>(CopyRuns { walk, run, count }),
                &MicroKernel::CopyTable { run, ref offsets, count } => {
                    apart::<V, _>(CopyTable { walk, run, offsets, count });
                }
                MicroKernel::InterleaveBits(rows) => match rows.bits {
                    4 => apart::<V, _>(InterleaveBits::<4> { walk, rows }),
                    2 => apart::<V, _>(InterleaveBits::<2> { walk, rows }),
                    _ => apart::<V, _>(InterleaveBits::<1> { walk, rows }),
                },
                MicroKernel::ChangeWidth(row) => match row.bits {
                    4 => apart::<V, _>(ChangeWidth::<4, 2> { walk, row }),
                    2 => apart::<V, _>(ChangeWidth::<2, 4> { walk, row }),
                    _ => apart::<V, _>(ChangeWidth::<1, 8> { walk, row }),
                },
                MicroKernel::ChangeWords(words) => match words.bits {
                    4 => apart::<V, _>(ChangeWords::<4, 8> { walk, words }),
                    2 => apart::<V, _>(ChangeWords::<2, 16> { walk, words }),
                    _ => apart::<V, _>(ChangeWords::<1, 32> { walk, words }),
                },
                &MicroKernel::Reverse { unit, extent, count } => {
                    apart::<V, _>(Reverse { walk, unit, extent, count });
                }
                MicroKernel::Transpose(plane) => match plane.unit {
                    1 => apart::<V, _>(TransposeUnits::<1, 16> { walk, plane }),
                    2 => apart::<V, _>(TransposeUnits::<2, 8> { walk, plane }),
                    4 => apart::<V, _>(TransposeUnits::<4, 4> { walk, plane }),
                    8 => apart::<V, _>(TransposeUnits::<8, 2> { walk, plane }),
                    16 if is_few_lanes(walk, plane) => apart::<V, _>(TransposeFewLanes { walk, plane }),
                    16 => apart::<V, _>(TransposeUnits::<16, 1> { walk, plane }),
                    _ => apart::<V, _>(TransposeRuns { walk, plane }),
                },
            }
        }
    }
}

/// Does it in a function that is in line nowhere: the stack of the largest kernel would be that of every copy, and is some pages.
///
/// # Safety
///
/// Those of the operation.
#[inline(never)]
unsafe fn apart<V: Vector, O: Operation>(operation: O) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(operation) }
}

/// Interleaves rows of elements of `BITS` bits, or deinterleaves them.
struct InterleaveBits<'a, const BITS: usize> {
    walk: &'a Walk<'a>,
    rows: &'a BitInterleave,
}

impl<const BITS: usize> Operation for InterleaveBits<'_, BITS> {
    /// # Safety
    ///
    /// In every iteration, `rows.rows` rows of `rows.row` bytes, `rows.pitch` apart, are readable on the source and as many bytes in
    /// one row writable on the destination; or the other way round, as `rows.direction` says.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(BITS == 1 || BITS == 2 || BITS == 4) };
        let InterleaveBits { walk, rows: &BitInterleave { bits, rows, row, pitch, direction } } = self;
        debug_assert!(bits == BITS);
        let (interleave, pitch) = (direction == Direction::Interleave, RowPitch::forwards(pitch));
        // SAFETY: each arm has the number of rows and the direction in its name, and is given their length and pitch; a unit is a byte.
        unsafe {
            match (rows, interleave) {
                (2, true) => Bits::<BITS>::interleave::<V, 1, 2>(walk, row, pitch),
                (4, true) => Bits::<BITS>::interleave::<V, 1, 4>(walk, row, pitch),
                (8, true) => Bits::<BITS>::interleave::<V, 1, 8>(walk, row, pitch),
                (16, true) => Bits::<BITS>::interleave::<V, 1, 16>(walk, row, pitch),
                (32, true) => Bits::<BITS>::interleave::<V, 1, 32>(walk, row, pitch),
                (2, false) => Bits::<BITS>::deinterleave::<V, 1, 2>(walk, row, pitch),
                (4, false) => Bits::<BITS>::deinterleave::<V, 1, 4>(walk, row, pitch),
                (8, false) => Bits::<BITS>::deinterleave::<V, 1, 8>(walk, row, pitch),
                (16, false) => Bits::<BITS>::deinterleave::<V, 1, 16>(walk, row, pitch),
                (32, false) => Bits::<BITS>::deinterleave::<V, 1, 32>(walk, row, pitch),
                _ => unreachable!("{rows} rows of bits are no kernel"),
            }
        }
    }
}

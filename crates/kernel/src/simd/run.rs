//! The dispatch: each kind of kernel to its code.

use super::block::of_unit;
use super::byte_shuffle::shuffle_bytes;
use super::copy::{CopyRuns, CopyTable};
use super::gather_blocks::gather_blocks;
use super::interleave::{InterleaveRows, Shuffling};
use super::plane::{StagedPlanes, one_panel, panels};
use super::reverse::ReverseRuns;
use super::reverse_vector::ReverseRegisters;
use super::runs::TransposeRuns;
use super::shuffles::{of_bits, of_bytes, of_width, of_words};
use super::transpose::{TransposeLanes, transpose_units};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::byte_table::ByteTable;
use crate::kernel::{
    BitInterleave, Direction, Kernel, PackedWords, Plane, Reverse, Rows, Transpose, WidthChange, WidthRow,
};

/// A kernel in all iterations of a walk.
pub(crate) struct RunKernel<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) walk: &'a Walk<'a>,
}

impl RunKernel<'_> {
    /// Runs the kernel with vectors of type `V`. Each kind of kernel is a function with the features of `V`;
    /// this function has none.
    ///
    /// # Safety
    ///
    /// * The CPU has the features of `V`.
    /// * The kernel [fits](Kernel::fit) the walk and registers of `V::BYTES` bytes.
    /// * In every iteration, what the kernel spans is readable on the source and writable on the destination,
    ///   and the two do not overlap. All bytes between the first and the last that are read are readable.
    #[inline(always)]
    pub(crate) unsafe fn run<V: Vector>(self) {
        const { assert!(V::BYTES == 32 || V::BYTES == 64) };
        let RunKernel { kernel, walk } = self;
        // SAFETY: each arm hands the extents and strides of the kernel to the code that is for them, which
        // touches what the kernel spans: that this is inside both sides in every iteration, and that there is
        // code for the kernel as it is, are the conditions of this function.
        unsafe {
            match kernel {
                &Kernel::Runs { run, count, by } => apart::<V, _>(CopyRuns { walk, run, count, by }),
                &Kernel::Table { run, ref offsets, count } => apart::<V, _>(CopyTable { walk, run, offsets, count }),
                Kernel::Transpose { plane, by } => transpose::<V>(walk, plane, *by),
                Kernel::PermuteBlocks(permutation) => gather_blocks::<V>(walk, permutation),
                &Kernel::Reverse { unit, extent, count, by } => match by {
                    Reverse::Registers => apart::<V, _>(ReverseRegisters { walk, unit, extent, count }),
                    Reverse::Shuffle => {
                        shuffle_bytes::<V>(walk, ByteTable::reversing(unit, extent, count, V::BYTES));
                    }
                    Reverse::Runs => apart::<V, _>(ReverseRuns { walk, unit, run: unit * extent, count }),
                },
                &Kernel::InterleaveBits { rows: BitInterleave { bits, rows, row, pitch, direction }, by } => {
                    #[cfg(feature = "software")]
                    crate::observed::ran("interleave bits in registers");
                    let shuffling = some(of_bits::<V>(bits, rows, direction == Direction::Interleave));
                    let pitch = pitch.cast_signed();
                    apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed: false, by });
                }
                &Kernel::ChangeWidth(WidthRow { bits, change, packed }) => {
                    #[cfg(feature = "software")]
                    crate::observed::ran("change of width in registers");
                    let shuffling = some(of_width::<V>(bits, change != WidthChange::Pack));
                    let signed = change == WidthChange::Unpack { signed: true };
                    let (row, by) = (packed, Rows::Direct);
                    apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: 1, pitch: 0, signed, by });
                }
                &Kernel::ChangeWords { words: PackedWords { bits, change, words, pitch }, by } => {
                    #[cfg(feature = "software")]
                    crate::observed::ran("change of words in registers");
                    let shuffling = some(of_words::<V>(bits, change != WidthChange::Pack));
                    let signed = change == WidthChange::Unpack { signed: true };
                    let (row, pitch) = (words, pitch.cast_signed());
                    apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed, by });
                }
            }
        }
    }
}

/// Transposes the planes of a walk.
///
/// # Safety
///
/// As for [`RunKernel::run`], of a kernel that transposes.
#[inline(always)]
unsafe fn transpose<V: Vector>(walk: &Walk<'_>, plane: &Plane, by: Transpose) {
    let Plane { unit, columns, rows, .. } = plane;
    // SAFETY: as for `RunKernel::run`. `Kernel::fit` lists what each way asks of the plane: constant pitches,
    // a dense side and as many rows as there is a shuffle for, a table of bytes, units of a register.
    unsafe {
        match by {
            Transpose::Units => transpose_units(walk, plane),
            Transpose::Lanes => apart::<V, _>(TransposeLanes { walk, plane }),
            Transpose::Interleave(by) => {
                #[cfg(feature = "software")]
                crate::observed::ran("interleave in registers");
                let pitch = plane.interleaves().unwrap_or_else(|| unreachable!("a dense destination"));
                let (row, shuffling) = (plane.source_row(), some(of_bytes::<V>(*unit, rows.extent, true)));
                apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: *unit, pitch, signed: false, by });
            }
            Transpose::Deinterleave(by) => {
                #[cfg(feature = "software")]
                crate::observed::ran("deinterleave in registers");
                let pitch = plane.deinterleaves().unwrap_or_else(|| unreachable!("a dense source"));
                let (row, shuffling) = (plane.destination_row(), some(of_bytes::<V>(*unit, columns.extent, false)));
                apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: *unit, pitch, signed: false, by });
            }
            Transpose::Shuffle => shuffle_bytes::<V>(walk, ByteTable::of(plane, V::BYTES)),
            Transpose::Panel { scattered } => one_panel(walk, plane, of_unit::<V>(*unit), scattered),
            Transpose::Panels(way) => panels::<V>(StagedPlanes::of::<V>(walk, plane, &way)),
            Transpose::Runs(runs) => apart::<V, _>(TransposeRuns { walk, plane, runs }),
        }
    }
}

/// Runs an operation in a function that is in line nowhere: otherwise the stack of the largest kernel, some
/// pages, would be that of every copy.
///
/// # Safety
///
/// The CPU has the features of `V`, and the conditions of the operation hold.
#[inline(never)]
pub(super) unsafe fn apart<V: Vector, O: Operation>(operation: O) {
    // SAFETY: the caller's promise.
    unsafe { V::vectorize(operation) }
}

/// The shuffle of a kernel that fits: there is one.
fn some(shuffling: Option<Shuffling>) -> Shuffling {
    shuffling.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a shuffle"))
}

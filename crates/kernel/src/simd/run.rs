//! The dispatch from each kind of kernel to its code.

use super::block::{NEITHER, of_unit};
use super::copy::{CopyRuns, CopyTable};
use super::gather_blocks::gather_blocks;
use super::interleave::{InterleaveRows, Shuffling};
use super::plane::{StagedPlanes, one_panel, panels};
use super::runs::TransposeRuns;
use super::shuffles::{of_bits, of_bytes, of_width};
use super::transpose::{TransposeLanes, transpose_units};
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::kernel::{BitInterleave, Kernel, Plane, Rows, Transpose, WidthChange, WidthRow};
use crate::level::SMALL_PROGRAM;

pub(crate) struct RunKernel<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) walk: &'a Walk<'a>,
}

impl RunKernel<'_> {
    /// Runs the kernel with vectors of type `V`. Each kind of kernel is a function that is compiled with the
    /// features of `V`. This function is compiled without them.
    ///
    /// # Safety
    ///
    /// * The CPU has the features of `V`.
    /// * The kernel [fits](Kernel::fit) the walk and registers of `V::BYTES` bytes.
    /// * In every iteration, the bytes that the kernel spans are readable on the source and writable on the
    ///   destination. Source bytes and destination bytes do not overlap.
    /// * All bytes between the first and the last byte that any iteration reads are readable.
    #[inline(always)]
    pub(crate) unsafe fn run<V: Vector>(self) {
        const { assert!(V::BYTES == 32 || V::BYTES == 64) };
        let RunKernel { kernel, walk } = self;
        // SAFETY: each arm passes the extents and strides of the kernel to the code for them, which accesses
        // only bytes that the kernel spans. By the contract, these bytes are readable and writable, and there
        // is code for the kernel.
        unsafe {
            match kernel {
                &Kernel::Runs { run, count, by } => apart::<V, _>(CopyRuns { walk, run, count, by }),
                &Kernel::Table { run, ref offsets, count } => apart::<V, _>(CopyTable { walk, run, offsets, count }),
                Kernel::Transpose { plane, by } => transpose::<V>(walk, plane, *by),
                Kernel::PermuteBlocks(permutation) => gather_blocks::<V>(walk, permutation),
                &Kernel::InterleaveBits { rows: BitInterleave { bits, row, pitch, direction }, by }
                    if !SMALL_PROGRAM =>
                {
                    let shuffling = some(of_bits::<V>(bits, direction));
                    let pitch = pitch.cast_signed();
                    apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed: false, by });
                }
                &Kernel::ChangeWidth(WidthRow { bits, change, packed }) if !SMALL_PROGRAM => {
                    let shuffling = some(of_width::<V>(bits, change != WidthChange::Pack));
                    let signed = change == WidthChange::Unpack { signed: true };
                    let (row, by) = (packed, Rows::Direct);
                    apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: 1, pitch: 0, signed, by });
                }
                _ => unreachable!("a rare kernel runs in safe Rust"),
            }
        }
    }
}

/// # Safety
///
/// The conditions of [`RunKernel::run`], for a kernel that transposes `plane`.
#[inline(always)]
unsafe fn transpose<V: Vector>(walk: &Walk<'_>, plane: &Plane, by: Transpose) {
    let Plane { unit, columns, rows, .. } = plane;
    // SAFETY: the contract of this function. `Kernel::fit` checked the requirements of each arm on the plane:
    // constant pitches, a dense side, a shuffle for the number of rows, or units that registers
    // hold.
    unsafe {
        match by {
            Transpose::Units => transpose_units(walk, plane),
            Transpose::Lanes => apart::<V, _>(TransposeLanes { walk, plane }),
            Transpose::Interleave(by) => {
                let pitch = plane.interleaves().unwrap_or_else(|| unreachable!("a dense destination"));
                let (row, shuffling) = (plane.source_row(), some(of_bytes::<V>(*unit, rows.extent, true)));
                apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: *unit, pitch, signed: false, by });
            }
            Transpose::Deinterleave(by) => {
                let pitch = plane.deinterleaves().unwrap_or_else(|| unreachable!("a dense source"));
                let (row, shuffling) = (plane.destination_row(), some(of_bytes::<V>(*unit, columns.extent, false)));
                apart::<V, _>(InterleaveRows { walk, shuffling, row, unit: *unit, pitch, signed: false, by });
            }
            Transpose::Panel { scattered } => one_panel(walk, plane, of_unit::<V, NEITHER>(*unit), scattered),
            Transpose::Panels(cut) => panels::<V>(StagedPlanes::of::<V>(walk, plane, &cut)),
            Transpose::Runs(runs) => apart::<V, _>(TransposeRuns { walk, plane, runs }),
        }
    }
}

/// Runs an operation in a function that is never inlined. If it were inlined, every copy would have the stack
/// frame of the largest kernel, which is several pages.
///
/// # Safety
///
/// * The CPU has the features of `V`.
/// * The conditions of the operation hold.
#[inline(never)]
pub(super) unsafe fn apart<V: Vector, O: Operation>(operation: O) {
    // SAFETY: the contract of this function.
    unsafe { V::vectorize(operation) }
}

/// Returns the shuffle of a kernel. Every kernel that fits has a shuffle.
fn some(shuffling: Option<Shuffling>) -> Shuffling {
    shuffling.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a shuffle"))
}

//! The dispatch from each kind of kernel to its code.

use super::block::of_unit;
use super::copy::{CopyRuns, CopyTable};
use super::gather_blocks::gather_blocks;
use super::interleave::InterleaveRows;
use super::plane::{one_panel, panels};
use super::runs::TransposeRuns;
use super::shuffles::{Shuffling, of_bits, of_bytes, of_width};
use super::transpose::{TransposeLanes, transpose_units};
use super::vector::Vector;
use super::walk::Walk;
use crate::kernel::{BitInterleave, Kernel, Rows, Transpose, WidthChange, WidthRow};
use crate::level::SMALL_PROGRAM;

/// The code of all kernels at one level: [`run`] over its vectors.
pub(crate) type Run = unsafe fn(&Kernel, &Walk<'_>);

/// Runs a kernel with vectors of type `V`. Each kind of kernel is a function that is compiled with the
/// features of `V`. This function is compiled without them.
///
/// # Safety
///
/// * The CPU has the features of `V`.
/// * The kernel [fits](Kernel::fit) the walk and registers of `V::BYTES` bytes.
/// * In every iteration, the bytes that the kernel spans are readable on the source and writable on the
///   destination. Source bytes and destination bytes do not overlap, and no other thread accesses the latter.
/// * All bytes between the first and the last byte that any iteration reads are readable.
pub(crate) unsafe fn run<V: Vector>(kernel: &Kernel, walk: &Walk<'_>) {
    const { assert!(V::BYTES == 32 || V::BYTES == 64) };
    // SAFETY: each arm passes the extents and strides of the kernel to the code for them, which accesses only
    // bytes that the kernel spans. By the contract, these bytes are readable and writable. `Kernel::fit`
    // checked the requirements of each arm: constant pitches, a dense side, a shuffle for the number of rows,
    // or units that registers hold.
    unsafe {
        match kernel {
            &Kernel::Runs { run, count, by } => V::vectorize(CopyRuns { walk, run, count, by }),
            &Kernel::Table { run, ref offsets, count } => V::vectorize(CopyTable { walk, run, offsets, count }),
            Kernel::Transpose { plane, by: Transpose::Units } => transpose_units(walk, plane),
            Kernel::Transpose { plane, by: Transpose::Lanes } => V::vectorize(TransposeLanes { walk, plane }),
            &Kernel::Transpose { ref plane, by: Transpose::Interleave(by) } => {
                let (unit, row) = (plane.unit, plane.source_row());
                let pitch = plane.interleaves().unwrap_or_else(|| unreachable!("a dense destination"));
                let shuffling = some(of_bytes::<V>(unit, plane.rows.extent, true));
                V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by });
            }
            &Kernel::Transpose { ref plane, by: Transpose::Deinterleave(by) } => {
                let (unit, row) = (plane.unit, plane.destination_row());
                let pitch = plane.deinterleaves().unwrap_or_else(|| unreachable!("a dense source"));
                let shuffling = some(of_bytes::<V>(unit, plane.columns.extent, false));
                V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by });
            }
            &Kernel::Transpose { ref plane, by: Transpose::Panel { scattered } } => {
                one_panel(walk, plane, of_unit::<V>(plane.unit), scattered);
            }
            Kernel::Transpose { plane, by: Transpose::Panels(cut) } => panels::<V>(walk, plane, cut),
            &Kernel::Transpose { ref plane, by: Transpose::Runs(runs) } => {
                V::vectorize(TransposeRuns { walk, plane, runs });
            }
            Kernel::PermuteBlocks(permutation) => gather_blocks::<V>(walk, permutation),
            &Kernel::InterleaveBits { rows: BitInterleave { bits, row, pitch, direction }, by } if !SMALL_PROGRAM => {
                let (shuffling, pitch) = (some(of_bits::<V>(bits, direction)), pitch.cast_signed());
                V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed: false, by });
            }
            &Kernel::ChangeWidth(WidthRow { bits, change, packed: row }) if !SMALL_PROGRAM => {
                let shuffling = some(of_width::<V>(bits, change != WidthChange::Pack));
                let (signed, by) = (change == WidthChange::Unpack { signed: true }, Rows::Direct);
                V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch: 0, signed, by });
            }
            Kernel::InterleaveBits { .. } | Kernel::ChangeWidth(_) => unreachable!("a rare kernel runs in safe Rust"),
        }
    }
}

fn some(shuffling: Option<&Shuffling>) -> &Shuffling {
    shuffling.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a shuffle"))
}

//! The dispatch from each kind of kernel to its code.

use super::block::of_unit;
use super::channels::pick_channels;
use super::copy::{CopyRuns, CopyTable};
use super::gather_blocks::gather_blocks;
use super::interleave::InterleaveRows;
use super::plane::{one_panel, panels};
use super::runs::TransposeRuns;
use super::shuffles::{Shuffling, of_bits, of_bytes, of_width};
use super::transpose::{TransposeSquares, transpose_units};
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
///   destination. Source bytes and destination bytes do not overlap, and no other thread accesses the
///   destination.
/// * All bytes between the first and the last byte that any iteration reads are readable. If `walk.readable`
///   is set, all bytes between the first and the last byte that any iteration writes are readable too.
pub(crate) unsafe fn run<V: Vector>(kernel: &Kernel, walk: &Walk<'_>) {
    const { assert!(V::BYTES == 32 || V::BYTES == 64) };
    // Each arm needs two conditions of the contract: the CPU has the features of `V`, and the bytes that the
    // kernel spans are readable and writable in every iteration. Each arm names its other conditions, which
    // the matching arm of `Kernel::fit` has checked.
    match kernel {
        // SAFETY: the contract of `run`. `Runs` has code for this length (`Kernel::has_code`), which is above
        // 0. All bytes between the first and the last byte that is read are readable.
        &Kernel::Runs { run, count, by } => unsafe { V::vectorize(CopyRuns { walk, run, count, by }) },
        // SAFETY: the contract of `run`. The span of a table ends with the run at its largest offsets.
        &Kernel::Table { run, ref offsets, count } => unsafe { V::vectorize(CopyTable { walk, run, offsets, count }) },
        // SAFETY: the contract of `run`. The unit has 1, 2, 4 or 8 bytes.
        Kernel::Transpose { plane, by: Transpose::Units } => unsafe { transpose_units(walk, plane) },
        // SAFETY: the contract of `run`. The unit has 4, 8 or 16 bytes, and both pitches are constant.
        Kernel::Transpose { plane, by: Transpose::Squares } => unsafe {
            match plane.unit {
                4 => V::vectorize(TransposeSquares::<4, 4> { walk, plane }),
                8 => V::vectorize(TransposeSquares::<8, 2> { walk, plane }),
                _ => V::vectorize(TransposeSquares::<16, 1> { walk, plane }),
            }
        },
        &Kernel::Transpose { ref plane, by: Transpose::Interleave(by) } => {
            let (unit, row) = (plane.unit, plane.source_row());
            let pitch = plane.interleaves().unwrap_or_else(|| unreachable!("a dense destination"));
            let shuffling = some(of_bytes::<V>(unit, plane.rows.extent, true));
            // SAFETY: the contract of `run`. The source rows are those of the plane, at its pitch, and the
            // destination is one dense row of as many units. The shuffle was made for `V`, this unit and this
            // number of rows.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by }) }
        }
        &Kernel::Transpose { ref plane, by: Transpose::Deinterleave(by) } => {
            let (unit, row) = (plane.unit, plane.destination_row());
            let pitch = plane.deinterleaves().unwrap_or_else(|| unreachable!("a dense source"));
            let shuffling = some(of_bytes::<V>(unit, plane.columns.extent, false));
            // SAFETY: the contract of `run`. The destination rows are the columns of the plane, at their
            // pitch, and the source is one dense row of as many units. The shuffle was made for `V`, this
            // unit and this number of rows. `Rows::has_code` accepted `by` for this row and pitch.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by }) }
        }
        &Kernel::Transpose { ref plane, by: Transpose::Panel { scattered } } => {
            // SAFETY: the contract of `run`. Registers hold the unit, and the plane has at most `MOST_ROWS`
            // rows and columns.
            unsafe { one_panel(walk, plane, of_unit::<V>(plane.unit), scattered) }
        }
        // SAFETY: the contract of `run`. `Panels::fit` accepted the panels for this plane and these stores.
        Kernel::Transpose { plane, by: Transpose::Panels(cut) } => unsafe { panels::<V>(walk, plane, cut) },
        &Kernel::Transpose { ref plane, by: Transpose::Runs(runs) } => {
            // SAFETY: the contract of `run`. `PlaneRuns::has_code` accepted the runs for plane and loops.
            unsafe { V::vectorize(TransposeRuns { walk, plane, runs }) }
        }
        // SAFETY: the contract of `run`. A permutation has the right tables: they are made together.
        Kernel::PermuteBlocks(permutation) => unsafe { gather_blocks::<V>(walk, permutation) },
        // SAFETY: the contract of `run`. Channels have the right tables: they are made together.
        Kernel::Channels(channels) => unsafe { pick_channels::<V>(walk, channels) },
        &Kernel::InterleaveBits { rows: BitInterleave { bits, row, pitch, direction }, by } if !SMALL_PROGRAM => {
            let (shuffling, pitch) = (some(of_bits::<V>(bits, direction)), pitch.cast_signed());
            // SAFETY: the contract of `run`. There are `32 / bits` rows of `row` bytes at this pitch on one
            // side, and one dense row of words on the other. The shuffle was made for `V` and these bits.
            // `Rows::has_code` accepted `by`.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed: false, by }) }
        }
        &Kernel::ChangeWidth(WidthRow { bits, change, packed: row }) if !SMALL_PROGRAM => {
            let shuffling = some(of_width::<V>(bits, change != WidthChange::Pack));
            let (signed, by) = (change == WidthChange::Unpack { signed: true }, Rows::Direct);
            // SAFETY: the contract of `run`. One row of `row` packed bytes is on one side, and a row of `8 /
            // bits` times as many on the other. The shuffle was made for `V` and these bits.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch: 0, signed, by }) }
        }
        Kernel::InterleaveBits { .. } | Kernel::ChangeWidth(_) => unreachable!("a rare kernel runs in safe Rust"),
    }
}

fn some(shuffling: Option<&Shuffling>) -> &Shuffling {
    shuffling.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a shuffle"))
}

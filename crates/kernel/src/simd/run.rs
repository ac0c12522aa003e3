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

/// A function that runs any kernel at one level: [`run`] for the vectors of the level.
pub(crate) type Run = unsafe fn(&Kernel, &Walk<'_>);

/// Runs a kernel with vectors of type `V`. This function is compiled without the features of `V`, and calls
/// functions that are compiled with them: one for each kind of kernel.
///
/// # Safety
///
/// * The CPU has the features of `V`.
/// * The kernel [fits](Kernel::fit) the loops of the walk, and registers of `V::BYTES` bytes.
/// * In every iteration, the bytes that the kernel spans are readable on the source and writable on the
///   destination. Source bytes and destination bytes do not overlap, and no other thread accesses the
///   destination.
/// * All bytes between the first and the last byte that any iteration reads are readable. If `walk.readable`
///   is set, all bytes between the first and the last byte that any iteration writes are readable too.
pub(crate) unsafe fn run<V: Vector>(kernel: &Kernel, walk: &Walk<'_>) {
    const { assert!(V::BYTES == 32 || V::BYTES == 64) };
    // Each arm relies on the contract of `run` for the CPU (its features) and the memory (readable and
    // writable bytes in every iteration). What an arm names besides, the matching arm of `Kernel::fit` has
    // checked.
    match kernel {
        // SAFETY: CPU and memory are in the contract of `run`, and so are the bytes between the runs that are
        // read. `Runs` has code for this length (`Kernel::has_code`), which is above 0.
        &Kernel::Runs { run, count, by } => unsafe { V::vectorize(CopyRuns { walk, run, count, by }) },
        // SAFETY: CPU and memory are in the contract of `run`, up to the run at the table's largest offsets.
        &Kernel::Table { run, ref offsets, count } => unsafe { V::vectorize(CopyTable { walk, run, offsets, count }) },
        // SAFETY: CPU and memory are in the contract of `run`. The unit has 1, 2, 4 or 8 bytes.
        Kernel::Transpose { plane, by: Transpose::Units } => unsafe { transpose_units(walk, plane) },
        // SAFETY: CPU and memory are in the contract of `run`. The unit has 4, 8 or 16 bytes, and both
        // pitches are constant.
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
            // SAFETY: CPU and memory are in the contract of `run`. The source rows are those of the plane, at
            // its pitch, and the destination is one dense row of as many units. The shuffle was made for `V`,
            // this unit and this number of rows.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by }) }
        }
        &Kernel::Transpose { ref plane, by: Transpose::Deinterleave(by) } => {
            let (unit, row) = (plane.unit, plane.destination_row());
            let pitch = plane.deinterleaves().unwrap_or_else(|| unreachable!("a dense source"));
            let shuffling = some(of_bytes::<V>(unit, plane.columns.extent, false));
            // SAFETY: CPU and memory are in the contract of `run`. The destination rows are the columns of
            // the plane, at their pitch, and the source is one dense row of as many units. The shuffle was
            // made for `V`, this unit and this number of rows. `Rows::has_code` accepted `by` for this row
            // and pitch.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit, pitch, signed: false, by }) }
        }
        &Kernel::Transpose { ref plane, by: Transpose::Panel { scattered } } => {
            // SAFETY: CPU and memory are in the contract of `run`. Registers hold the unit, and the plane has
            // at most `MOST_ROWS` rows and columns.
            unsafe { one_panel(walk, plane, of_unit::<V>(plane.unit), scattered) }
        }
        // SAFETY: CPU and memory are in the contract of `run`. `Panels::fit` accepted the panels for plane
        // and stores.
        Kernel::Transpose { plane, by: Transpose::Panels(cut) } => unsafe { panels::<V>(walk, plane, cut) },
        &Kernel::Transpose { ref plane, by: Transpose::Runs(runs) } => {
            // SAFETY: CPU and memory are in the contract of `run`. `PlaneRuns::has_code` accepted the runs
            // for plane and loops.
            unsafe { V::vectorize(TransposeRuns { walk, plane, runs }) }
        }
        // SAFETY: CPU and memory are in the contract of `run`. The tables are made with the permutation.
        Kernel::PermuteBlocks(permutation) => unsafe { gather_blocks::<V>(walk, permutation) },
        // SAFETY: CPU and memory, bytes between channels included, are in the contract of `run`.
        Kernel::Channels(channels) => unsafe { pick_channels::<V>(walk, channels) },
        &Kernel::InterleaveBits { rows: BitInterleave { bits, row, pitch, direction }, by } if !SMALL_PROGRAM => {
            let (shuffling, pitch) = (some(of_bits::<V>(bits, direction)), pitch.cast_signed());
            // SAFETY: CPU and memory are in the contract of `run`. There are `32 / bits` rows of `row` bytes
            // at this pitch on one side, and one dense row of words on the other. The shuffle was made for
            // `V` and these bits. `Rows::has_code` accepted `by`.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch, signed: false, by }) }
        }
        &Kernel::ChangeWidth(WidthRow { bits, change, packed: row }) if !SMALL_PROGRAM => {
            let shuffling = some(of_width::<V>(bits, change != WidthChange::Pack));
            let (signed, by) = (change == WidthChange::Unpack { signed: true }, Rows::Direct);
            // SAFETY: CPU and memory are in the contract of `run`. One side has a row of `row` packed bytes,
            // and the other side a row of `8 / bits` times as many. The shuffle was made for `V` and these
            // bits.
            unsafe { V::vectorize(InterleaveRows { walk, shuffling, row, unit: 1, pitch: 0, signed, by }) }
        }
        Kernel::InterleaveBits { .. } | Kernel::ChangeWidth(_) => unreachable!("a rare kernel runs in safe Rust"),
    }
}

fn some(shuffling: Option<&Shuffling>) -> &Shuffling {
    shuffling.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a shuffle"))
}

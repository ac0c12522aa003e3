//! The kernels over registers, written once for every width: which one a nest gets.
//!
//! # Safety
//!
//! Every function needs the CPU features of `V`, and that what the kernel describes lies inside the source and the destination
//! of the task, for all of its calls. `Job::run` has compared their reach with the slices.

use super::super::schedule::{Kernel, Plane};
use super::blocks::blocks_at;
use super::chunks::{chunks, near, one_by_one};
use super::rows::{places, rows};
use super::task::Task;
use super::weave::{unweave, unweave_three, weave, weave_three};
use super::x86_64::Widths;

/// Runs a kernel.
#[inline(always)]
pub(super) unsafe fn run<V: Widths>(kernel: &Kernel, task: &Task<'_>) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match kernel {
            Kernel::Rows { chunk, count } => rows::<V>(task, *chunk, *count),
            Kernel::Places { chunk, places: offsets, count } => places::<V>(task, *chunk, offsets, *count),
            Kernel::Turns(turns) => match turns.bits {
                4 => V::turns::<4>(task, turns),
                2 => V::turns::<2>(task, turns),
                _ => V::turns::<1>(task, turns),
            },
            Kernel::Transpose(plane) => match plane.chunk {
                1 => V::plane1(task, plane),
                2 => V::plane2(task, plane),
                4 => V::plane4(task, plane),
                8 => V::plane8(task, plane),
                16 => match near(task, plane) {
                    Some(strides) => one_by_one(task, plane, strides),
                    None => V::plane16(task, plane),
                },
                _ => chunks::<V>(task, plane),
            },
        }
    }
}

/// Transposes planes of units: `N` of them fill a register of `LANES` lanes, `K` a lane.
#[inline(always)]
pub(super) unsafe fn plane<V: Widths, const UNIT: usize, const N: usize, const K: usize, const LANES: usize>(
    task: &Task<'_>,
    plane: &Plane,
) {
    let Plane { across, along, .. } = plane;
    // As many rows as a register has units make blocks as well, which can avoid rows that meet in the cache.
    let (eight, sixteen) = (N > 8 || (N == 8 && task.stream), N > 16 || (N == 16 && task.stream));
    // SAFETY: the caller's promise, passed on; the conditions are the contracts of the dense kernels.
    unsafe {
        if plane.twist.is_some() {
            return blocks_at::<V, UNIT, N, K, LANES>(task, plane);
        }
        if across.stride() == Some(along.extent * UNIT)
            && let Some(pitch) = along.stride()
        {
            let columns = across.extent;
            match along.extent {
                2 if N > 2 => return weave::<V, 8, UNIT, N, 2>(task, columns, pitch),
                3 if N > 3 => return weave_three::<V, UNIT, N>(task, columns, pitch),
                4 if N > 4 => return weave::<V, 8, UNIT, N, 4>(task, columns, pitch),
                8 if eight => return weave::<V, 8, UNIT, N, 8>(task, columns, pitch),
                16 if sixteen => return weave::<V, 8, UNIT, N, 16>(task, columns, pitch),
                _ => {}
            }
        }
        if along.stride() == Some(across.extent * UNIT)
            && let Some(pitch) = across.stride()
        {
            let columns = along.extent;
            match across.extent {
                2 if N > 2 => return unweave::<V, 8, UNIT, N, 2>(task, columns, pitch),
                3 if N > 3 => return unweave_three::<V, UNIT, N>(task, columns, pitch),
                4 if N > 4 => return unweave::<V, 8, UNIT, N, 4>(task, columns, pitch),
                8 if eight => return unweave::<V, 8, UNIT, N, 8>(task, columns, pitch),
                16 if sixteen => return unweave::<V, 8, UNIT, N, 16>(task, columns, pitch),
                _ => {}
            }
        }
        if across.extent.min(along.extent) * 4 <= N && UNIT < 4 {
            // Too thin for square blocks.
            return thin::<UNIT>(task, plane);
        }
        blocks_at::<V, UNIT, N, K, LANES>(task, plane);
    }
}

/// Planes with few rows or columns, unit by unit.
#[inline(always)]
unsafe fn thin<const UNIT: usize>(task: &Task<'_>, plane: &Plane) {
    let Plane { across, along, .. } = plane;
    for visit in task.visits(UNIT * across.extent * along.extent) {
        for first in (0..across.extent).step_by(64) {
            for b in 0..along.extent {
                let row = along.at(b);
                for a in first..(first + 64).min(across.extent) {
                    // SAFETY: the caller's promise: every unit of the plane lies inside both sides.
                    unsafe {
                        let (from, to) = (visit.from.add(a * UNIT + row), visit.to.add(across.at(a) + b * UNIT));
                        std::ptr::copy_nonoverlapping(from, to, UNIT);
                    }
                }
            }
        }
    }
}

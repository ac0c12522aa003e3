//! Planes of chunks that are no register unit: rows of several elements, odd numbers of bytes.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and calls that stay inside both sides.

use super::super::schedule::Plane;
use super::rows::{row, short};
use super::task::{AHEAD, Task, Visit};
use super::vector::Vector;

/// About so many bytes of a destination row are written before the next row is.
const PIECE: usize = 1024;

/// Transposes planes of chunks.
#[inline(always)]
pub(super) unsafe fn chunks<V: Vector>(task: &Task<'_>, plane: &Plane) {
    let Plane { chunk, across, along, .. } = plane;
    let bytes = chunk * across.extent * along.extent;
    // SAFETY: the caller's promise, passed on; the destination is dense where that is asked for.
    unsafe {
        if (9..32).contains(chunk) && across.stride() == Some(along.extent * chunk) {
            for visit in task.visits(bytes) {
                overlapping(visit.from, visit.to, plane);
            }
            return;
        }
        for visit in task.visits(bytes) {
            pieces::<V>(&visit, task, plane);
        }
    }
}

/// Transposes one plane, in pieces of the destination's rows.
#[inline(always)]
unsafe fn pieces<V: Vector>(visit: &Visit, task: &Task<'_>, plane: &Plane) {
    let Plane { chunk, across, along, .. } = plane;
    let (chunk, whole) = (*chunk, chunk.is_multiple_of(V::BYTES));
    let Visit { from, to, ahead, .. } = *visit;
    // Two halves of a line are put together before it is stored.
    let halves = chunk * 2 == V::BYTES && across.are_multiples_of(V::BYTES);
    let aligned = task.stream && to.align_offset(V::BYTES) == 0 && across.are_multiples_of(V::BYTES);
    let piece = (PIECE / chunk).max(2).next_multiple_of(2);
    let near = (AHEAD / (chunk * across.extent)).max(1).next_multiple_of(piece).min(along.extent);
    for first in (0..along.extent).step_by(piece) {
        let last = (first + piece).min(along.extent);
        if task.fetch {
            for b in first + near..last + near {
                let row = match b.checked_sub(along.extent) {
                    None => from.wrapping_add(along.at(b)),
                    Some(b) => match ahead {
                        Some(ahead) if b < along.extent => ahead.wrapping_add(along.at(b)),
                        _ => break,
                    },
                };
                for at in (0..across.extent * chunk).step_by(64) {
                    // SAFETY: the features are the caller's promise.
                    unsafe { V::prefetch(row.wrapping_add(at)) };
                }
            }
        }
        for a in 0..across.extent {
            // SAFETY: the caller's promise: every chunk of the plane lies inside both sides; lines that are streamed are
            // aligned, as every destination row is and `first` is even.
            unsafe {
                let (from, to) = (from.add(a * chunk), to.add(across.at(a)));
                let mut b = first;
                while aligned && halves && b + 2 <= last {
                    V::load_halves(from.add(along.at(b)), from.add(along.at(b + 1))).stream(to.add(b * chunk));
                    b += 2;
                }
                for b in b..last {
                    let (from, to) = (from.add(along.at(b)), to.add(b * chunk));
                    if whole {
                        for at in (0..chunk).step_by(V::BYTES) {
                            let line = V::load(from.add(at));
                            if aligned { line.stream(to.add(at)) } else { line.store(to.add(at)) }
                        }
                    } else if chunk <= 64 {
                        short(from, to, chunk);
                    } else {
                        row::<V>(from, to, chunk, false, false);
                    }
                }
            }
        }
    }
}

/// A plane of chunks of 9 to 31 bytes whose destination is dense: each chunk is copied with a few bytes more than it has,
/// which the next chunk overwrites.
#[inline(always)]
unsafe fn overlapping(from: *const u8, to: *mut u8, plane: &Plane) {
    let Plane { chunk, across, along, .. } = plane;
    let last = across.extent - 1;
    // SAFETY: 16 or 32 bytes are less than two chunks, and every column but the last has another one behind it on both
    // sides; the last is copied exactly.
    unsafe {
        for a in 0..last {
            for b in 0..along.extent {
                let (from, to) = (from.add(a * chunk + along.at(b)), to.add((a * along.extent + b) * chunk));
                if *chunk <= 16 {
                    to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                } else {
                    to.cast::<[u8; 32]>().write(from.cast::<[u8; 32]>().read());
                }
            }
        }
        for b in 0..along.extent {
            let (from, to) = (from.add(last * chunk + along.at(b)), to.add((last * along.extent + b) * chunk));
            std::ptr::copy_nonoverlapping(from, to, *chunk);
        }
    }
}

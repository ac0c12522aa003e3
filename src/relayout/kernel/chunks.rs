//! Planes of chunks that are no register unit: rows of several elements, odd numbers of bytes.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and calls that stay inside both sides.

use super::super::schedule::{Axis, Plane};
use super::odd_turns::OddTurns;
use super::places::Places;
use super::rows::row;
use super::task::{AHEAD, LONG_ROW, Task, Visit};
use super::vector::Vector;
use super::x86_64::Widths;

/// A plane of at most this many chunks of 16 bytes stays in the nearest cache while it is copied.
const NEAR: usize = 1 << 10;

/// The nearest cache can take in so many destination rows at once.
const FEW: usize = 16;

/// About so many bytes of a destination row are written before the next row is.
const PIECE: usize = 256;

/// Transposes planes of chunks.
#[inline(always)]
pub(super) unsafe fn chunks<V: Widths>(task: &Task<'_>, plane: &Plane) {
    let Plane { chunk, across, along, .. } = plane;
    // SAFETY: the caller's promise, passed on; the destination is dense where that is asked for.
    unsafe {
        if let Some(turns) = OddTurns::of(plane, V::BYTES) {
            return match turns.windows {
                2 => V::odd_turns::<2>(task, &turns),
                3 => V::odd_turns::<3>(task, &turns),
                _ => V::odd_turns::<4>(task, &turns),
            };
        }
        match (across.stride(), along.stride()) {
            (Some(pitch), Some(step)) if (9..32).contains(chunk) && pitch == along.extent * chunk => {
                for visit in task.visits(chunk * across.extent * along.extent) {
                    let sizes = (*chunk, across.extent, along.extent);
                    match chunk {
                        12 => overlapping::<16>(&visit, (12, across.extent, along.extent), step),
                        ..=16 => overlapping::<16>(&visit, sizes, step),
                        _ => overlapping::<32>(&visit, sizes, step),
                    }
                }
            }
            (Some(target), Some(origin)) if !task.stream && across.extent <= FEW => match chunk {
                32 => through::<32>(task, plane, (target, origin)),
                64 => through::<64>(task, plane, (target, origin)),
                128 => through::<128>(task, plane, (target, origin)),
                _ => planes::<V, usize>(task, plane, (target, origin)),
            },
            (Some(target), Some(origin)) => planes::<V, usize>(task, plane, (target, origin)),
            _ => planes::<V, &Axis>(task, plane, (across, along)),
        }
    }
}

/// The strides of a plane of 16-byte chunks that are moved one by one in less time than it takes to shuffle them into whole
/// registers: destination rows, source rows.
pub(super) fn near(task: &Task<'_>, plane: &Plane) -> Option<(usize, usize)> {
    let few = !task.stream && plane.twist.is_none() && plane.across.extent * plane.along.extent <= NEAR;
    plane.across.stride().zip(plane.along.stride()).filter(|_| few)
}

/// Transposes planes of chunks of 16 bytes, one by one.
#[inline(always)]
pub(super) unsafe fn one_by_one(task: &Task<'_>, plane: &Plane, (target, origin): (usize, usize)) {
    let (across, along) = (plane.across.extent, plane.along.extent);
    for visit in task.visits(16 * across * along) {
        for a in 0..across {
            for b in 0..along {
                // SAFETY: the caller's promise: every chunk of the plane lies inside both sides.
                unsafe {
                    let (from, to) = (visit.from.add(a * 16 + b * origin), visit.to.add(a * target + b * 16));
                    to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                }
            }
        }
    }
}

/// Transposes planes of few columns through the cache: the source front to back, one chunk to each destination row.
#[inline(always)]
unsafe fn through<const CHUNK: usize>(task: &Task<'_>, plane: &Plane, (target, origin): (usize, usize)) {
    let (across, along) = (plane.across.extent, plane.along.extent);
    for visit in task.visits(CHUNK * across * along) {
        for b in 0..along {
            for a in 0..across {
                // SAFETY: the caller's promise: every chunk of the plane lies inside both sides.
                unsafe {
                    let (from, to) = (visit.from.add(a * CHUNK + b * origin), visit.to.add(a * target + b * CHUNK));
                    to.cast::<[u8; CHUNK]>().write(from.cast::<[u8; CHUNK]>().read());
                }
            }
        }
    }
}

/// Transposes planes, in pieces of the destination's rows.
#[inline(always)]
unsafe fn planes<V: Vector, P: Places>(task: &Task<'_>, plane: &Plane, (target, origin): (P, P)) {
    let Plane { chunk, across, along, .. } = plane;
    let chunk = *chunk;
    let lines_fit = task.stream && across.are_multiples_of(64);
    let piece = (PIECE / chunk).max(2).next_multiple_of(2);
    let near = (AHEAD / (chunk * across.extent)).max(1).next_multiple_of(piece).min(along.extent);
    for visit in task.visits(chunk * across.extent * along.extent) {
        let Visit { from, to, ahead, .. } = visit;
        let aligned = lines_fit && to.align_offset(64) == 0;
        for first in (0..along.extent).step_by(piece) {
            let last = (first + piece).min(along.extent);
            for a in 0..across.extent {
                if task.fetch && across.extent * chunk < LONG_ROW {
                    // A share of the rows for every column, so that they do not come all at once.
                    let share = |a: usize| (last - first) * a / across.extent;
                    for b in first + near + share(a)..first + near + share(a + 1) {
                        let row = match b.checked_sub(along.extent) {
                            None => from.wrapping_add(origin.place(b)),
                            Some(b) => match ahead {
                                Some(ahead) if b < along.extent => ahead.wrapping_add(origin.place(b)),
                                _ => break,
                            },
                        };
                        for at in (0..across.extent * chunk).step_by(64) {
                            // SAFETY: the features are the caller's promise.
                            unsafe { V::prefetch(row.wrapping_add(at)) };
                        }
                    }
                }
                // SAFETY: the caller's promise: every chunk of the plane lies inside both sides; lines that are streamed are
                // aligned, as every destination row is and `first` is even.
                unsafe {
                    let (from, to) = (from.add(a * chunk), to.add(target.place(a)));
                    let mut b = first;
                    if aligned && chunk == 32 {
                        // Two halves of a line are put together before it is stored.
                        while b + 2 <= last {
                            line::<V>(from.add(origin.place(b)), from.add(origin.place(b + 1)), to.add(b * chunk));
                            b += 2;
                        }
                    }
                    for b in b..last {
                        let (from, to) = (from.add(origin.place(b)), to.add(b * chunk));
                        if aligned && chunk.is_multiple_of(64) {
                            for at in (0..chunk).step_by(64) {
                                line::<V>(from.add(at), from.add(at + 32), to.add(at));
                            }
                        } else {
                            row::<V>(from, to, chunk, false, None);
                        }
                    }
                }
            }
        }
    }
}

/// Streams a line that is read in two halves.
#[inline(always)]
unsafe fn line<V: Vector>(low: *const u8, high: *const u8, to: *mut u8) {
    // SAFETY: 32 bytes are readable at either place, and an aligned line is writable, as the caller promises.
    unsafe {
        if V::BYTES == 64 {
            V::load_halves(low, high).stream(to);
        } else {
            V::load(low).stream(to);
            V::load(high).stream(to.add(32));
        }
    }
}

/// A plane of chunks of 9 to 31 bytes whose destination is dense: each chunk is copied as `SIZE` bytes, a few more than it has,
/// which the next chunk overwrites.
#[inline(always)]
unsafe fn overlapping<const SIZE: usize>(visit: &Visit, (chunk, across, along): (usize, usize, usize), step: usize) {
    let Visit { from, to, .. } = *visit;
    let last = across - 1;
    // SAFETY: `SIZE` bytes are less than two chunks, and every column but the last has another one behind it on both
    // sides; the last is copied exactly.
    unsafe {
        for a in 0..last {
            for b in 0..along {
                let (from, to) = (from.add(a * chunk + b * step), to.add((a * along + b) * chunk));
                to.cast::<[u8; SIZE]>().write(from.cast::<[u8; SIZE]>().read());
            }
        }
        for b in 0..along {
            let (from, to) = (from.add(last * chunk + b * step), to.add((last * along + b) * chunk));
            std::ptr::copy_nonoverlapping(from, to, chunk);
        }
    }
}

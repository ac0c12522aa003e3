//! Chunks that are copied as they are, one after the other.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and calls that stay inside both sides.

use super::super::schedule::Stride;
use super::task::{AHEAD, LONG_ROW, Task};
use super::vector::Vector;

/// From this many bytes on the library's copy is as good as any.
const LIBRARY: usize = 1024;

/// Copies `count.extent` chunks of `chunk` bytes a call.
#[inline(always)]
pub(super) unsafe fn rows<V: Vector>(task: &Task<'_>, chunk: usize, count: Stride) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if count.source == 0 && count.destination == chunk && chunk.is_power_of_two() && chunk <= V::BYTES {
            for visit in task.visits(chunk) {
                fill::<V>(visit.from, visit.to, chunk, count.extent, task.stream);
            }
            return;
        }
        match chunk {
            1 => return small::<1>(task, count),
            2 => return small::<2>(task, count),
            4 => return small::<4>(task, count),
            8 => return small::<8>(task, count),
            12 => return small::<12>(task, count),
            16 => return small::<16>(task, count),
            _ => {}
        }
        // Chunks side by side in the destination are one long row of it, whose lines can be stored whole.
        let joined = task.stream && count.destination == chunk && chunk >= 64 && count.extent > 1;
        let near = (AHEAD / chunk).clamp(1, count.extent.max(1));
        for visit in task.visits(chunk.saturating_mul(count.extent)) {
            let ask = |step: usize| {
                let next = match (step + near).checked_sub(count.extent) {
                    None => Some(visit.from.wrapping_add((step + near) * count.source)),
                    Some(step) => visit.ahead.map(|ahead| ahead.wrapping_add(step * count.source)),
                };
                if task.fetch
                    && chunk < LONG_ROW
                    && let Some(next) = next
                {
                    for at in (0..chunk).step_by(64) {
                        V::prefetch(next.wrapping_add(at));
                    }
                }
            };
            if joined && !(chunk.is_multiple_of(64) && visit.to.align_offset(64) == 0) {
                join::<V>(visit.from, visit.to, chunk, count, ask);
                continue;
            }
            for step in 0..count.extent {
                ask(step);
                let (from, to) = (visit.from.add(step * count.source), visit.to.add(step * count.destination));
                row::<V>(from, to, chunk, task.stream, task.fetch);
            }
        }
    }
}

/// Chunks of so few bytes that a register is too much.
#[inline(always)]
unsafe fn small<const CHUNK: usize>(task: &Task<'_>, count: Stride) {
    for visit in task.visits(CHUNK * count.extent) {
        for step in 0..count.extent {
            // SAFETY: the caller's promise: every chunk lies inside both sides.
            unsafe {
                let (from, to) = (visit.from.add(step * count.source), visit.to.add(step * count.destination));
                to.cast::<[u8; CHUNK]>().write(from.cast::<[u8; CHUNK]>().read());
            }
        }
    }
}

/// Copies chunks to and from the places of a table, once for every step of `count`.
#[inline(always)]
pub(super) unsafe fn places<V: Vector>(task: &Task<'_>, chunk: usize, places: &[(usize, usize)], count: Stride) {
    for visit in task.visits(chunk * places.len() * count.extent) {
        for step in 0..count.extent {
            // SAFETY: the caller's promise: every chunk lies inside both sides.
            unsafe {
                let (from, to) = (visit.from.add(step * count.source), visit.to.add(step * count.destination));
                for &(source, destination) in places {
                    row::<V>(from.add(source), to.add(destination), chunk, task.stream, false);
                }
            }
        }
    }
}

/// Copies `bytes` bytes.
#[inline(always)]
pub(super) unsafe fn row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, stream: bool, fetch: bool) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; a stored line is aligned.
    unsafe {
        if bytes == V::BYTES && stream && to.align_offset(V::BYTES) == 0 {
            V::load(from).stream(to);
            return;
        }
        if bytes <= 64 {
            return short(from, to, bytes);
        }
        if !stream {
            if bytes >= LIBRARY {
                std::ptr::copy_nonoverlapping(from, to, bytes);
                return;
            }
            let mut at = 0;
            while at + V::BYTES <= bytes {
                V::load(from.add(at)).store(to.add(at));
                at += V::BYTES;
            }
            // The last register overlaps the one before.
            V::load(from.add(bytes - V::BYTES)).store(to.add(bytes - V::BYTES));
            return;
        }
        let mut at = to.align_offset(64).min(bytes);
        short(from, to, at);
        let long = fetch && bytes >= LONG_ROW;
        while at + 256 <= bytes {
            let mut lines = [V::zero(); 8];
            let lines = &mut lines[..256 / V::BYTES];
            for (i, line) in lines.iter_mut().enumerate() {
                *line = V::load(from.add(at + i * V::BYTES));
            }
            if long {
                for line in 0..4 {
                    V::prefetch(from.wrapping_add(at + AHEAD / 4 + line * 64));
                }
            }
            for (i, line) in lines.iter().enumerate() {
                line.stream(to.add(at + i * V::BYTES));
            }
            at += 256;
        }
        while at + V::BYTES <= bytes {
            V::load(from.add(at)).stream(to.add(at));
            at += V::BYTES;
        }
        short(from.add(at), to.add(at), bytes - at);
    }
}

/// Copies at most 64 bytes: two overlapping pieces of half the next power of two.
#[inline(always)]
pub(super) unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: both pieces lie inside the first `bytes` bytes on both sides.
    unsafe {
        match bytes {
            32..=64 => pieces::<32>(from, to, bytes),
            16..32 => pieces::<16>(from, to, bytes),
            8..16 => pieces::<8>(from, to, bytes),
            4..8 => pieces::<4>(from, to, bytes),
            2..4 => pieces::<2>(from, to, bytes),
            1 => to.write(from.read()),
            _ => {}
        }
    }
}

/// Copies the first and the last `SIZE` of `bytes` bytes, of which there are at least as many.
#[inline(always)]
unsafe fn pieces<const SIZE: usize>(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: both pieces lie inside the first `bytes` bytes on both sides.
    unsafe {
        let first = from.cast::<[u8; SIZE]>().read();
        let last = from.add(bytes - SIZE).cast::<[u8; SIZE]>().read();
        to.cast::<[u8; SIZE]>().write(first);
        to.add(bytes - SIZE).cast::<[u8; SIZE]>().write(last);
    }
}

/// Copies chunks of at least a line that lie side by side in the destination: every line of it is stored once, also those
/// that two chunks share.
#[inline(always)]
unsafe fn join<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: Stride, ask: impl Fn(usize)) {
    let total = chunk * count.extent;
    let head = to.align_offset(64).min(total);
    // SAFETY: all accesses lie inside the chunks; lines that are streamed begin at multiples of 64 bytes behind `head`,
    // which is at most the first chunk's length.
    unsafe {
        short(from, to, head);
        let mut at = head;
        for step in 0..count.extent {
            ask(step);
            let (start, end) = (step * chunk, (step + 1) * chunk);
            let from = from.add(step * count.source);
            while at + 64 <= end {
                let mut part = 0;
                while part < 64 {
                    V::load(from.add(at - start + part)).stream(to.add(at + part));
                    part += V::BYTES;
                }
                at += 64;
            }
            let rest = end - at;
            if rest == 0 {
                continue;
            }
            let tail = from.add(at - start);
            if step + 1 == count.extent {
                return short(tail, to.add(at), rest);
            }
            let mut line = [0_u8; 64];
            short(tail, line.as_mut_ptr(), rest);
            short(from.add(count.source), line.as_mut_ptr().add(rest), 64 - rest);
            let mut part = 0;
            while part < 64 {
                V::load(line.as_ptr().add(part)).stream(to.add(at + part));
                part += V::BYTES;
            }
            at += 64;
        }
    }
}

/// Writes one chunk, a power of two of at most a register, `count` times in a row.
#[inline(always)]
unsafe fn fill<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: usize, stream: bool) {
    // SAFETY: reads the chunk, writes the `chunk * count` bytes behind `to`; the pattern has 64 bytes, at least a register
    // more than `shift`, as `shift < chunk <= 32` or `shift` is 0.
    unsafe {
        let mut pattern = [0_u8; 128];
        let pattern_start = pattern.as_mut_ptr();
        std::ptr::copy_nonoverlapping(from, pattern_start, chunk);
        let mut filled = chunk;
        while filled < 128 {
            std::ptr::copy_nonoverlapping(pattern_start, pattern_start.add(filled), filled);
            filled *= 2;
        }
        let bytes = chunk * count;
        let mut at = if stream { to.align_offset(V::BYTES).min(bytes) } else { 0 };
        if at > 0 {
            V::load(pattern.as_ptr()).store_partial(to, at);
        }
        let shifted = V::load(pattern.as_ptr().add(at % chunk));
        while at + V::BYTES <= bytes {
            if stream {
                shifted.stream(to.add(at))
            } else {
                shifted.store(to.add(at))
            }
            at += V::BYTES;
        }
        shifted.store_partial(to.add(at), bytes - at);
    }
}

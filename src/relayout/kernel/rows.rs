//! Chunks that are copied as they are, one after the other.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and calls that stay inside both sides.

use super::super::schedule::{LINE, Stride};
use super::task::{AHEAD, LONG_ROW, Task, Visit};
use super::vector::Vector;

/// So few chunks a call are a line each, far from those of the next call.
const FEW: usize = 4;

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
            1 => return small::<V, 1>(task, count),
            2 => return small::<V, 2>(task, count),
            4 => return small::<V, 4>(task, count),
            8 => return small::<V, 8>(task, count),
            12 => return small::<V, 12>(task, count),
            16 => return small::<V, 16>(task, count),
            _ => {}
        }
        if !task.stream && !task.fetch {
            match chunk {
                17..=32 => return halved::<16>(task, chunk, count),
                33..=64 => return halved::<32>(task, chunk, count),
                65..=128 => return halved::<64>(task, chunk, count),
                129..=256 => return halved::<128>(task, chunk, count),
                _ => {}
            }
        }
        // Chunks side by side in the destination are one long row of it, whose lines can be stored whole.
        let joined = task.stream && count.destination == chunk && chunk >= LINE && count.extent > 1;
        let near = (AHEAD / chunk).clamp(1, count.extent.max(1));
        for visit in task.visits(chunk.saturating_mul(count.extent)) {
            let next = Next { visit: &visit, count, near, chunk };
            if joined && !(chunk.is_multiple_of(LINE) && visit.to.align_offset(LINE) == 0) {
                join::<V>(visit.from, visit.to, chunk, count, &next);
                continue;
            }
            for step in 0..count.extent {
                let (from, to) = (visit.from.add(step * count.source), visit.to.add(step * count.destination));
                row::<V>(from, to, chunk, task.stream, next.to(step));
            }
        }
    }
}

/// Chunks of `SIZE` to twice as many bytes that are near: two pieces each, which may overlap, and no question about any.
#[inline(always)]
unsafe fn halved<const SIZE: usize>(task: &Task<'_>, chunk: usize, count: Stride) {
    for visit in task.visits(chunk * count.extent) {
        for step in 0..count.extent {
            // SAFETY: the caller's promise: every chunk lies inside both sides.
            unsafe {
                let (from, to) = (visit.from.add(step * count.source), visit.to.add(step * count.destination));
                pieces::<SIZE>(from, to, chunk);
            }
        }
    }
}

/// What to ask for while chunks are copied.
struct Next<'a> {
    visit: &'a Visit,
    count: Stride,
    /// How many chunks ahead.
    near: usize,
    chunk: usize,
}

impl Next<'_> {
    /// Where the chunk lies that will be read some time after this one; in a long chunk, a place further on.
    #[inline(always)]
    fn to(&self, step: usize) -> Option<*const u8> {
        let from = self.visit.from;
        if self.chunk >= LONG_ROW {
            return self.visit.ahead_of_row(self.chunk).map(|ahead| ahead.wrapping_add(step * self.count.source));
        }
        match (step + self.near).checked_sub(self.count.extent) {
            None => self.visit.fetch.then(|| from.wrapping_add((step + self.near) * self.count.source)),
            Some(step) => self.visit.ahead.map(|ahead| ahead.wrapping_add(step * self.count.source)),
        }
    }
}

/// Chunks of so few bytes that a register is too much.
#[inline(always)]
unsafe fn small<V: Vector, const CHUNK: usize>(task: &Task<'_>, count: Stride) {
    for visit in task.visits(CHUNK * count.extent) {
        if let Some(ahead) = visit.ahead.filter(|_| count.extent <= FEW) {
            for step in 0..count.extent {
                // SAFETY: the features are the caller's promise.
                unsafe { V::prefetch(ahead.wrapping_add(step * count.source)) };
            }
        }
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
                    row::<V>(from.add(source), to.add(destination), chunk, task.stream, None);
                }
            }
        }
    }
}

/// Copies `bytes` bytes, and asks for as many at `next`.
#[inline(always)]
pub(super) unsafe fn row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, stream: bool, next: Option<*const u8>) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; a stored line is aligned.
    unsafe {
        if bytes <= LINE {
            if let Some(next) = next {
                V::prefetch(next);
            }
            if bytes == LINE && stream && to.align_offset(LINE) == 0 {
                return copy_lines::<V, 1>(from, to, true);
            }
            return short(from, to, bytes);
        }
        if !stream && bytes <= 4 * LINE {
            return short(from, to, bytes);
        }
        if !stream && bytes >= LIBRARY {
            std::ptr::copy_nonoverlapping(from, to, bytes);
            return;
        }
        let mut at = if stream { to.align_offset(LINE).min(bytes) } else { 0 };
        short(from, to, at);
        while at + 4 * LINE <= bytes {
            if let Some(next) = next {
                for line in 0..4 {
                    V::prefetch(next.wrapping_add(at + line * LINE));
                }
            }
            copy_lines::<V, 4>(from.add(at), to.add(at), stream);
            at += 4 * LINE;
        }
        while at + LINE <= bytes {
            if let Some(next) = next {
                V::prefetch(next.wrapping_add(at));
            }
            copy_lines::<V, 1>(from.add(at), to.add(at), stream);
            at += LINE;
        }
        if stream {
            short(from.add(at), to.add(at), bytes - at);
        } else if at < bytes {
            // The last line overlaps the one before.
            copy_lines::<V, 1>(from.add(bytes - LINE), to.add(bytes - LINE), false);
        }
    }
}

/// Copies up to four lines, round the cache if they are to be streamed; they must be aligned then. All are read before one is
/// written.
#[inline(always)]
unsafe fn copy_lines<V: Vector, const LINES: usize>(from: *const u8, to: *mut u8, stream: bool) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let mut parts = [[V::zero(); 2]; LINES];
        for (i, line) in parts.iter_mut().enumerate() {
            for (j, part) in line.iter_mut().enumerate().take(LINE / V::BYTES) {
                *part = V::load(from.add(i * LINE + j * V::BYTES));
            }
        }
        for (i, line) in parts.into_iter().enumerate() {
            for (j, part) in line.into_iter().enumerate().take(LINE / V::BYTES) {
                let to = to.add(i * LINE + j * V::BYTES);
                if stream { part.stream(to) } else { part.store(to) }
            }
        }
    }
}

/// Copies at most 256 bytes: two overlapping pieces of half the next power of two.
#[inline(always)]
pub(super) unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: both pieces lie inside the first `bytes` bytes on both sides.
    unsafe {
        match bytes {
            128..=256 => pieces::<128>(from, to, bytes),
            64..128 => pieces::<64>(from, to, bytes),
            32..64 => pieces::<32>(from, to, bytes),
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
unsafe fn join<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: Stride, next: &Next<'_>) {
    let total = chunk * count.extent;
    let head = to.align_offset(LINE).min(total);
    // SAFETY: all accesses lie inside the chunks; lines that are streamed begin at multiples of 64 bytes behind `head`,
    // which is at most the first chunk's length.
    unsafe {
        short(from, to, head);
        let mut at = head;
        for step in 0..count.extent {
            let (start, end) = (step * chunk, (step + 1) * chunk);
            let from = from.add(step * count.source);
            let next = next.to(step);
            while at + 4 * LINE <= end {
                if let Some(next) = next {
                    for line in 0..4 {
                        V::prefetch(next.wrapping_add(at - start + line * LINE));
                    }
                }
                copy_lines::<V, 4>(from.add(at - start), to.add(at), true);
                at += 4 * LINE;
            }
            while at + LINE <= end {
                copy_lines::<V, 1>(from.add(at - start), to.add(at), true);
                at += LINE;
            }
            let rest = end - at;
            if rest == 0 {
                continue;
            }
            let tail = from.add(at - start);
            if step + 1 == count.extent {
                return short(tail, to.add(at), rest);
            }
            let mut line = [0_u8; LINE];
            short(tail, line.as_mut_ptr(), rest);
            short(from.add(count.source), line.as_mut_ptr().add(rest), LINE - rest);
            copy_lines::<V, 1>(line.as_ptr(), to.add(at), true);
            at += LINE;
        }
    }
}

/// Writes one chunk, a power of two of at most a register, `count` times in a row.
#[inline(always)]
unsafe fn fill<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: usize, stream: bool) {
    let bytes = chunk * count;
    // SAFETY: reads the chunk, writes the `chunk * count` bytes behind `to`; the two registers reach far enough behind a
    // place inside a chunk, of which neither is shorter. Streamed registers lie whole registers behind the aligned `head`.
    unsafe {
        let pattern = V::repeat(from, chunk);
        let head = if stream { to.align_offset(V::BYTES).min(bytes) } else { 0 };
        let mut shifted = pattern;
        if head > 0 {
            pattern.store_partial(to, head);
            let mut twice = [0_u8; 128];
            pattern.store(twice.as_mut_ptr());
            pattern.store(twice.as_mut_ptr().add(V::BYTES));
            shifted = V::load(twice.as_ptr().add(head % chunk));
        }
        let put = |at: usize| if stream { shifted.stream(to.add(at)) } else { shifted.store(to.add(at)) };
        let mut at = head;
        while at + 4 * V::BYTES <= bytes {
            put(at);
            put(at + V::BYTES);
            put(at + 2 * V::BYTES);
            put(at + 3 * V::BYTES);
            at += 4 * V::BYTES;
        }
        while at + V::BYTES <= bytes {
            put(at);
            at += V::BYTES;
        }
        // Nothing at all would still fetch the line behind.
        if at < bytes {
            shifted.store_partial(to.add(at), bytes - at);
        }
    }
}

//! The kernels over registers, written once for every width.
//!
//! Rows and odd chunks are here; planes go on to `weave` and `blocks`.
//!
//! # Safety
//!
//! Every function needs the CPU features of `V`, and that what the kernel describes lies inside the source and the destination
//! the pointers begin. `Job::repeat` has compared the kernel's reach with the slices.

use super::super::schedule::{Kernel, Plane, Stride};
use super::blocks::blocks_at;
use super::vector::Vector;
use super::weave::{unweave, unweave_three, weave, weave_three};
use super::x86_64::Widths;

/// From this many rows on, the rows to come are asked for; before, what lies behind the row at hand.
const FAR_ROWS: usize = 16;

/// A plane of at most this many chunks of 16 bytes stays in the nearest cache while it is copied.
const NEAR_CHUNKS: usize = 1 << 10;

/// Runs a kernel.
#[inline(always)]
pub(super) unsafe fn run<V: Widths>(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool) {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match kernel {
            Kernel::Transpose(plane) if plane.chunk == 1 => V::plane1(from, to, plane, stream),
            Kernel::Transpose(plane) if plane.chunk == 2 => V::plane2(from, to, plane, stream),
            Kernel::Transpose(plane) if plane.chunk == 4 => V::plane4(from, to, plane, stream),
            Kernel::Transpose(plane) if plane.chunk == 8 => V::plane8(from, to, plane, stream),
            Kernel::Transpose(plane) if plane.chunk == 16 && (stream || near(plane).is_none()) => {
                V::plane16(from, to, plane, stream);
            }
            _ => V::chunks(kernel, source, destination, stream),
        }
    }
}

/// Runs a kernel that moves chunks as they are.
#[inline(always)]
pub(super) unsafe fn chunks<V: Widths>(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool) {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match kernel {
            &Kernel::Rows { chunk, count } => {
                if count.source == 0 && count.destination == chunk && chunk.is_power_of_two() && chunk <= V::BYTES {
                    fill::<V>(from, to, chunk, count.extent, stream);
                } else if chunk < 16 {
                    super::portable::run(kernel, source, destination);
                } else {
                    rows::<V>(from, to, chunk, count, stream);
                }
            }
            Kernel::Places { chunk, places, count } => {
                for step in 0..count.extent {
                    let (from, to) = (from.add(step * count.source), to.add(step * count.destination));
                    for &(source, destination) in places {
                        row::<V>(from.add(source), to.add(destination), *chunk, stream);
                    }
                }
            }
            // `Job::repeat` has taken it.
            Kernel::Nibbles { .. } => {}
            Kernel::Transpose(plane) => match near(plane).filter(|_| plane.chunk == 16) {
                Some(strides) => near_chunks(from, to, plane, strides),
                None => plane_of_chunks::<V>(from, to, plane, stream),
            },
        }
    }
}

/// Copies rows of 16 bytes or more.
#[inline(always)]
unsafe fn rows<V: Vector>(from: *const u8, to: *mut u8, chunk: usize, count: Stride, stream: bool) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if !stream && chunk <= 4 * V::BYTES {
            return match chunk.div_ceil(V::BYTES) {
                1 if !V::HAS_MASKS => halved_rows(from, to, chunk, count),
                1 => short_rows::<V, 1>(from, to, chunk, count),
                2 => short_rows::<V, 2>(from, to, chunk, count),
                3 => short_rows::<V, 3>(from, to, chunk, count),
                _ => short_rows::<V, 4>(from, to, chunk, count),
            };
        }
        // Where the hardware sees no stream: far rows in a long loop, or the next tile of the same rows.
        let ahead = if count.extent >= FAR_ROWS { 2 * count.source } else { 2 * chunk };
        for step in 0..count.extent {
            if stream && chunk <= 2048 {
                for at in (0..chunk).step_by(V::BYTES) {
                    V::prefetch(from.wrapping_add(step * count.source + ahead + at));
                }
            }
            row::<V>(from.add(step * count.source), to.add(step * count.destination), chunk, stream);
        }
    }
}

/// Copies rows of up to `N` registers, the last of which is filled in part, or else overlaps the one before. Nothing is asked
/// about a row that holds for all of them.
#[inline(always)]
unsafe fn short_rows<V: Vector, const N: usize>(from: *const u8, to: *mut u8, chunk: usize, count: Stride) {
    let last = if V::HAS_MASKS { (N - 1) * V::BYTES } else { chunk - V::BYTES };
    // SAFETY: all accesses lie inside the `chunk` bytes of a row on both sides.
    unsafe {
        for step in 0..count.extent {
            let (from, to) = (from.add(step * count.source), to.add(step * count.destination));
            let mut lines = [V::zero(); N];
            for (i, line) in lines.iter_mut().enumerate().take(N - 1) {
                *line = V::load(from.add(i * V::BYTES));
            }
            lines[N - 1] =
                if V::HAS_MASKS { V::load_partial(from.add(last), chunk - last) } else { V::load(from.add(last)) };
            for (i, line) in lines.iter().enumerate().take(N - 1) {
                line.store(to.add(i * V::BYTES));
            }
            if V::HAS_MASKS {
                lines[N - 1].store_partial(to.add(last), chunk - last);
            } else {
                lines[N - 1].store(to.add(last));
            }
        }
    }
}

/// Copies rows of 16 to 32 bytes as two halves that overlap.
#[inline(always)]
unsafe fn halved_rows(from: *const u8, to: *mut u8, chunk: usize, count: Stride) {
    // SAFETY: both halves lie inside the `chunk` bytes of a row on both sides.
    unsafe {
        for step in 0..count.extent {
            let (from, to) = (from.add(step * count.source), to.add(step * count.destination));
            let first = from.cast::<[u8; 16]>().read();
            let last = from.add(chunk - 16).cast::<[u8; 16]>().read();
            to.cast::<[u8; 16]>().write(first);
            to.add(chunk - 16).cast::<[u8; 16]>().write(last);
        }
    }
}

/// Copies `bytes` bytes.
#[inline(always)]
unsafe fn row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, stream: bool) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; a stored line is aligned.
    unsafe {
        if bytes == V::BYTES && stream && to.align_offset(V::BYTES) == 0 {
            V::load(from).stream(to);
            return;
        }
        if bytes <= V::BYTES {
            V::load_partial(from, bytes).store_partial(to, bytes);
            return;
        }
        if !stream {
            if bytes >= 1024 {
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
        let mut at = to.align_offset(V::BYTES).min(bytes);
        if at > 0 {
            V::load_partial(from, at).store_partial(to, at);
        }
        while at + 4 * V::BYTES <= bytes {
            let line = |i: usize| V::load(from.add(at + i * V::BYTES));
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            a.stream(to.add(at));
            b.stream(to.add(at + V::BYTES));
            c.stream(to.add(at + 2 * V::BYTES));
            d.stream(to.add(at + 3 * V::BYTES));
            at += 4 * V::BYTES;
        }
        while at + V::BYTES <= bytes {
            V::load(from.add(at)).stream(to.add(at));
            at += V::BYTES;
        }
        if at < bytes {
            V::load_partial(from.add(at), bytes - at).store_partial(to.add(at), bytes - at);
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

/// Transposes a plane of chunks that are no register unit, in pieces of about a kibibyte of the destination.
#[inline(always)]
unsafe fn plane_of_chunks<V: Vector>(from: *const u8, to: *mut u8, plane: &Plane, stream: bool) {
    let Plane { chunk, across, along, .. } = plane;
    let (chunk, whole) = (*chunk, chunk.is_multiple_of(V::BYTES));
    // Two halves of a line are put together before it is stored.
    let halves = chunk * 2 == V::BYTES && across.are_multiples_of(V::BYTES);
    let aligned = stream && to.align_offset(V::BYTES) == 0 && across.are_multiples_of(V::BYTES);
    if (9..32).contains(&chunk) && across.stride() == Some(along.extent * chunk) {
        // SAFETY: the caller's promise, passed on; the destination is dense.
        return unsafe { overlapping(from, to, plane) };
    }
    let piece = (1024 / chunk).max(2).next_multiple_of(2);
    for first in (0..along.extent).step_by(piece) {
        let last = (first + piece).min(along.extent);
        for a in 0..across.extent {
            // SAFETY: the caller's promise: every chunk of the plane lies inside both sides; lines that are streamed are
            // aligned, as every destination row is and `first` is even.
            unsafe {
                let (from, to) = (from.add(a * chunk), to.add(across.at(a)));
                let mut b = first;
                if stream {
                    for b in last..(last + piece).min(along.extent) {
                        V::prefetch(from.wrapping_add(along.at(b)));
                    }
                }
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
                    } else if chunk < V::BYTES {
                        V::load_partial(from, chunk).store_partial(to, chunk);
                    } else {
                        row::<V>(from, to, chunk, false);
                    }
                }
            }
        }
    }
}

/// The strides of a plane of 16-byte chunks that are moved one by one in less time than it takes to shuffle them into whole
/// registers: destination rows, source rows.
#[inline(always)]
fn near(plane: &Plane) -> Option<(usize, usize)> {
    let few = plane.twist.is_none() && plane.across.extent * plane.along.extent <= NEAR_CHUNKS;
    plane.across.stride().zip(plane.along.stride()).filter(|_| few)
}

/// A plane of chunks of 16 bytes, one by one.
#[inline(always)]
unsafe fn near_chunks(from: *const u8, to: *mut u8, plane: &Plane, (target, origin): (usize, usize)) {
    for a in 0..plane.across.extent {
        for b in 0..plane.along.extent {
            // SAFETY: the caller's promise: every chunk of the plane lies inside both sides.
            unsafe {
                let chunk = from.add(a * 16 + b * origin).cast::<[u8; 16]>().read();
                to.add(a * target + b * 16).cast::<[u8; 16]>().write(chunk);
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

/// Transposes a plane of units: `N` of them fill a register, a quarter of `N` is `Q`.
#[inline(always)]
pub(super) unsafe fn plane<V: Widths, const UNIT: usize, const N: usize, const Q: usize>(
    from: *const u8,
    to: *mut u8,
    plane: &Plane,
    stream: bool,
) {
    let Plane { across, along, .. } = plane;
    // SAFETY: the caller's promise, passed on; the conditions are the contracts of the dense kernels.
    unsafe {
        if plane.twist.is_some() {
            return blocks_at::<V, UNIT, N, Q>(from, to, plane, stream);
        }
        if across.stride() == Some(along.extent * UNIT)
            && let Some(pitch) = along.stride()
        {
            match along.extent {
                2 if N > 2 => return weave::<V, UNIT, N, 2>(from, to, across.extent, pitch, stream),
                3 if N > 3 && V::HAS_THREE => return weave_three::<V, UNIT, N>(from, to, across.extent, pitch, stream),
                4 if N > 4 => return weave::<V, UNIT, N, 4>(from, to, across.extent, pitch, stream),
                8 if N > 8 => return weave::<V, UNIT, N, 8>(from, to, across.extent, pitch, stream),
                16 if N > 16 => return weave::<V, UNIT, N, 16>(from, to, across.extent, pitch, stream),
                _ => {}
            }
        }
        if along.stride() == Some(across.extent * UNIT)
            && let Some(pitch) = across.stride()
        {
            match across.extent {
                2 if N > 2 => return unweave::<V, UNIT, N, 2>(from, to, along.extent, pitch, stream),
                3 if N > 3 && V::HAS_THREE => {
                    return unweave_three::<V, UNIT, N>(from, to, along.extent, pitch, stream);
                }
                4 if N > 4 => return unweave::<V, UNIT, N, 4>(from, to, along.extent, pitch, stream),
                8 if N > 8 => return unweave::<V, UNIT, N, 8>(from, to, along.extent, pitch, stream),
                16 if N > 16 => return unweave::<V, UNIT, N, 16>(from, to, along.extent, pitch, stream),
                _ => {}
            }
        }
        if across.extent.min(along.extent) * 4 <= N && UNIT < 4 {
            // Too thin for square blocks.
            return thin::<UNIT>(from, to, plane);
        }
        blocks_at::<V, UNIT, N, Q>(from, to, plane, stream);
    }
}

/// A plane with few rows or columns, unit by unit.
#[inline(always)]
unsafe fn thin<const UNIT: usize>(from: *const u8, to: *mut u8, plane: &Plane) {
    let Plane { across, along, .. } = plane;
    for first in (0..across.extent).step_by(64) {
        for b in 0..along.extent {
            let row = along.at(b);
            for a in first..(first + 64).min(across.extent) {
                // SAFETY: the caller's promise: every unit of the plane lies inside both sides.
                unsafe {
                    std::ptr::copy_nonoverlapping(from.add(a * UNIT + row), to.add(across.at(a) + b * UNIT), UNIT);
                }
            }
        }
    }
}

/// Two rows of half bytes as one row of bytes, as far as whole registers go; says how many bytes of a row that is.
#[inline(always)]
pub(super) unsafe fn merge<V: Vector>(first: &[u8], second: &[u8], line: &mut [u8]) -> usize {
    let bytes = first.len().min(second.len()).min(line.len() / 2);
    let whole = bytes - bytes % V::BYTES;
    for at in (0..whole).step_by(V::BYTES) {
        // SAFETY: `at + V::BYTES` is at most the length of both rows, and twice that at most the line's.
        unsafe {
            let (low, high) = V::load(first.as_ptr().add(at)).exchange_halves(V::load(second.as_ptr().add(at)));
            let (a, b) = low.interleave::<1>(high);
            a.store(line.as_mut_ptr().add(2 * at));
            b.store(line.as_mut_ptr().add(2 * at + V::BYTES));
        }
    }
    whole
}

/// Undoes [`merge`], as far as whole registers go; says how many bytes of a row that is.
#[inline(always)]
pub(super) unsafe fn split<V: Vector>(line: &[u8], low: &mut [u8], high: &mut [u8]) -> usize {
    let bytes = low.len().min(high.len()).min(line.len() / 2);
    let whole = bytes - bytes % V::BYTES;
    for at in (0..whole).step_by(V::BYTES) {
        // SAFETY: `at + V::BYTES` is at most the length of both rows, and twice that at most the line's.
        unsafe {
            let from = line.as_ptr().add(2 * at);
            let (a, b) = V::load(from).deinterleave::<1>(V::load(from.add(V::BYTES)));
            let (lows, highs) = a.exchange_halves(b);
            lows.store(low.as_mut_ptr().add(at));
            highs.store(high.as_mut_ptr().add(at));
        }
    }
    whole
}

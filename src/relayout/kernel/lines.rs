//! The kernels over registers, written once for every width.
//!
//! A transposition of `n` rows is `log2(n)` rounds of [`Vector::interleave`] in the pattern of a perfect shuffle:
//! registers i and i + n/2 become registers 2i and 2i + 1. With as many rows as a register has units, each register then holds
//! one column; with fewer, the registers in a row hold the rows interleaved. Going backwards takes them apart again.
//!
//! # Safety
//!
//! Every function needs the CPU features of `V`, and that what the kernel describes lies inside the source and the destination
//! the pointers begin. `Job::run` has compared the kernel's reach with the slices.

use super::super::schedule::{Kernel, Stride};
use super::vector::Vector;
use super::x86_64::Widths;

/// Runs a kernel.
#[inline(always)]
pub(super) unsafe fn run<V: Widths>(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool) {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match *kernel {
            Kernel::Rows { chunk, count } => {
                if count.source == 0 && count.destination == chunk && chunk.is_power_of_two() && chunk <= V::BYTES {
                    fill::<V>(from, to, chunk, count.extent, stream);
                } else if chunk < 16 {
                    super::portable::run(kernel, source, destination);
                } else {
                    for step in 0..count.extent {
                        row::<V>(from.add(step * count.source), to.add(step * count.destination), chunk, stream);
                    }
                }
            }
            Kernel::Transpose { chunk, across, along } => match chunk {
                1 | 2 | 4 | 8 | 16 => V::plane(chunk, from, to, across, along, stream),
                _ => chunks::<V>(chunk, from, to, across, along, stream),
            },
        }
    }
}

/// Copies `bytes` bytes.
#[inline(always)]
unsafe fn row<V: Vector>(from: *const u8, to: *mut u8, bytes: usize, stream: bool) {
    // SAFETY: all accesses lie inside the first `bytes` bytes on both sides; a stored line is aligned.
    unsafe {
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
        for place in (0..128).step_by(chunk) {
            std::ptr::copy_nonoverlapping(from, pattern.as_mut_ptr().add(place), chunk);
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
unsafe fn chunks<V: Vector>(chunk: usize, from: *const u8, to: *mut u8, across: Stride, along: Stride, stream: bool) {
    let piece = (1024 / chunk).max(1);
    for first in (0..along.extent).step_by(piece) {
        for a in 0..across.extent {
            for b in first..(first + piece).min(along.extent) {
                // SAFETY: the caller's promise: every chunk of the plane lies inside both sides.
                unsafe {
                    row::<V>(
                        from.add(a * across.source + b * along.source),
                        to.add(a * across.destination + b * along.destination),
                        chunk,
                        stream,
                    );
                }
            }
        }
    }
}

/// Transposes a plane of units: `N` of them fill a register.
#[inline(always)]
pub(super) unsafe fn plane<V: Vector, const UNIT: usize, const N: usize>(
    from: *const u8,
    to: *mut u8,
    across: Stride,
    along: Stride,
    stream: bool,
) {
    // SAFETY: the caller's promise, passed on; the conditions are the contracts of the dense kernels.
    unsafe {
        if across.destination == along.extent * UNIT {
            match along.extent {
                2 if N > 2 => return weave::<V, UNIT, N, 2>(from, to, across.extent, along.source, stream),
                4 if N > 4 => return weave::<V, UNIT, N, 4>(from, to, across.extent, along.source, stream),
                8 if N > 8 => return weave::<V, UNIT, N, 8>(from, to, across.extent, along.source, stream),
                16 if N > 16 => return weave::<V, UNIT, N, 16>(from, to, across.extent, along.source, stream),
                _ => {}
            }
        }
        if along.source == across.extent * UNIT {
            match across.extent {
                2 if N > 2 => return unweave::<V, UNIT, N, 2>(from, to, along.extent, across.destination, stream),
                4 if N > 4 => return unweave::<V, UNIT, N, 4>(from, to, along.extent, across.destination, stream),
                8 if N > 8 => return unweave::<V, UNIT, N, 8>(from, to, along.extent, across.destination, stream),
                16 if N > 16 => return unweave::<V, UNIT, N, 16>(from, to, along.extent, across.destination, stream),
                _ => {}
            }
        }
        blocks::<V, UNIT, N>(from, to, across, along, stream);
    }
}

/// How many source bytes of a row a strip of blocks reads before it goes on to the next rows.
const STRIP_BYTES: usize = 256;

/// Blocks of `N` by `N` units.
#[inline(always)]
unsafe fn blocks<V: Vector, const UNIT: usize, const N: usize>(
    from: *const u8,
    to: *mut u8,
    across: Stride,
    along: Stride,
    stream: bool,
) {
    // Whole lines can only be stored round the cache if every destination row has them at the same places.
    let aligned =
        stream && across.destination.is_multiple_of(V::BYTES) && to.align_offset(V::BYTES).is_multiple_of(UNIT);
    let head = if aligned { (to.align_offset(V::BYTES) / UNIT).min(along.extent) } else { 0 };
    let strip = (STRIP_BYTES / UNIT).max(N);
    for first in (0..across.extent).step_by(strip) {
        let last = (first + strip).min(across.extent);
        let mut b = 0;
        while b < along.extent {
            let rows = if b < head { head - b } else { N.min(along.extent - b) };
            for a in (first..last).step_by(N) {
                let columns = N.min(last - a);
                // SAFETY: the block lies inside the plane, which the caller promised for; it is aligned where lines are
                // whole, because then `b` is `head` plus a multiple of `N`.
                unsafe {
                    block::<V, UNIT, N>(
                        from.add(a * UNIT + b * along.source),
                        to.add(a * across.destination + b * UNIT),
                        (along.source, across.destination),
                        (rows, columns),
                        aligned && b >= head,
                    );
                }
            }
            b += rows;
        }
    }
}

/// `rows` rows of the source, `columns` units each, as `columns` rows of the destination.
#[inline(always)]
unsafe fn block<V: Vector, const UNIT: usize, const N: usize>(
    from: *const u8,
    to: *mut u8,
    (source, destination): (usize, usize),
    (rows, columns): (usize, usize),
    stream: bool,
) {
    // SAFETY: reads `columns * UNIT` bytes of `rows` rows and writes `rows * UNIT` bytes of `columns` rows, as promised.
    unsafe {
        let mut lines = [V::zero(); N];
        if rows == N && columns == N {
            for (i, line) in lines.iter_mut().enumerate() {
                *line = V::load(from.add(i * source));
            }
            let lines = shuffled::<V, UNIT, N>(lines);
            for (i, line) in lines.into_iter().enumerate() {
                if stream { line.stream(to.add(i * destination)) } else { line.store(to.add(i * destination)) }
            }
            return;
        }
        for (i, line) in lines.iter_mut().enumerate().take(rows) {
            *line = V::load_partial(from.add(i * source), columns * UNIT);
        }
        let lines = shuffled::<V, UNIT, N>(lines);
        for (i, line) in lines.into_iter().enumerate().take(columns) {
            if rows < N {
                line.store_partial(to.add(i * destination), rows * UNIT);
            } else if stream {
                line.stream(to.add(i * destination));
            } else {
                line.store(to.add(i * destination));
            }
        }
    }
}

/// The rows in `lines`, interleaved unit by unit.
#[inline(always)]
unsafe fn shuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].interleave::<UNIT>(old[i + ROWS / 2]) };
        }
    }
    lines
}

/// Undoes [`shuffled`].
#[inline(always)]
unsafe fn unshuffled<V: Vector, const UNIT: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = lines;
        for i in 0..ROWS / 2 {
            // SAFETY: no memory is touched; the features are the caller's promise.
            (lines[i], lines[i + ROWS / 2]) = unsafe { old[2 * i].deinterleave::<UNIT>(old[2 * i + 1]) };
        }
    }
    lines
}

/// `ROWS` rows of `columns` units become one row in which they take turns.
#[inline(always)]
unsafe fn weave<V: Vector, const UNIT: usize, const N: usize, const ROWS: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    source: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0;
    // SAFETY: reads `columns` units of `ROWS` rows and writes as many in a row, as promised.
    unsafe {
        for first in (0..columns).step_by(N) {
            let bytes = (columns - first).min(N) * UNIT;
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                let row = from.add(i * source + first * UNIT);
                *line = if bytes == V::BYTES { V::load(row) } else { V::load_partial(row, bytes) };
            }
            let to = to.add(first * UNIT * ROWS);
            let mut left = bytes * ROWS;
            for (i, line) in shuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                let to = to.add(i * V::BYTES);
                if left < V::BYTES {
                    line.store_partial(to, left);
                    break;
                }
                if aligned {
                    line.stream(to)
                } else {
                    line.store(to)
                }
                left -= V::BYTES;
            }
        }
    }
}

/// One row in which `ROWS` rows of `columns` units take turns becomes those rows.
#[inline(always)]
unsafe fn unweave<V: Vector, const UNIT: usize, const N: usize, const ROWS: usize>(
    from: *const u8,
    to: *mut u8,
    columns: usize,
    destination: usize,
    stream: bool,
) {
    let aligned = stream && to.align_offset(V::BYTES) == 0 && destination.is_multiple_of(V::BYTES);
    // SAFETY: reads `columns * ROWS` units in a row and writes `columns` units of `ROWS` rows, as promised.
    unsafe {
        for first in (0..columns).step_by(N) {
            let bytes = (columns - first).min(N) * UNIT;
            let mut left = bytes * ROWS;
            let mut lines = [V::zero(); ROWS];
            for (i, line) in lines.iter_mut().enumerate() {
                let from = from.add(first * UNIT * ROWS + i * V::BYTES);
                *line = if left >= V::BYTES { V::load(from) } else { V::load_partial(from, left) };
                left = left.saturating_sub(V::BYTES);
                if left == 0 {
                    break;
                }
            }
            for (i, line) in unshuffled::<V, UNIT, ROWS>(lines).into_iter().enumerate() {
                let to = to.add(i * destination + first * UNIT);
                if bytes < V::BYTES {
                    line.store_partial(to, bytes);
                } else if aligned {
                    line.stream(to);
                } else {
                    line.store(to);
                }
            }
        }
    }
}

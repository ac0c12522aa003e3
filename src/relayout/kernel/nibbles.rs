//! Half bytes: two rows at a time become bytes, and bytes have kernels.
//!
//! Two rows of half bytes, taken together, are one row of bytes with a column each: `(low half of row 0, low half of row 1)`,
//! then the high halves. That is a shuffle inside pairs of bytes, and what is left is a plane of bytes. It goes through a
//! small buffer that stays in the nearest cache.

use super::super::schedule::{Axis, Kernel, Offsets, Plane, Stride, Walk};
#[cfg(target_arch = "x86_64")]
use super::x86_64::{avx2, avx512};
use super::{Job, KernelLevel, Measured};

/// Columns in the buffer, and rows of pairs.
const COLUMNS: usize = 128;
const PAIRS: usize = 8;

/// Copies a plane of half bytes whose first ones lie at the start of the job's buffers.
pub(super) fn run(job: &mut Job<'_>, across: Stride, along: Stride) {
    let mut buffer = [0_u8; COLUMNS * PAIRS];
    if along.extent <= across.extent {
        for first in (0..along.extent).step_by(2 * PAIRS) {
            let pairs = (along.extent - first).min(2 * PAIRS) / 2;
            for column in (0..across.extent).step_by(COLUMNS) {
                let columns = (across.extent - column).min(COLUMNS);
                for (pair, line) in buffer.chunks_exact_mut(COLUMNS).enumerate().take(pairs) {
                    let row = |i: usize| {
                        let start = (first + 2 * pair + i) * along.source + column / 2;
                        job.source.get(start..start + columns / 2).unwrap_or_default()
                    };
                    merge(job.level, row(0), row(1), line);
                }
                let plane = bytes((columns, across.destination), (pairs, COLUMNS));
                let to = column * across.destination + first / 2;
                Job { source: &buffer, destination: job.destination, stream: job.stream, level: job.level }
                    .run(&plane, 0, to);
            }
        }
        return;
    }
    let mut rows = [0_u8; COLUMNS * PAIRS];
    for first in (0..across.extent).step_by(2 * PAIRS) {
        let pairs = (across.extent - first).min(2 * PAIRS) / 2;
        for column in (0..along.extent).step_by(COLUMNS) {
            let columns = (along.extent - column).min(COLUMNS);
            let plane = bytes((pairs, COLUMNS), (columns, along.source));
            let from = column * along.source + first / 2;
            Job { source: job.source, destination: &mut buffer, stream: false, level: job.level }.run(&plane, from, 0);
            let targets = rows.chunks_exact_mut(COLUMNS);
            for (line, target) in buffer.chunks_exact(COLUMNS).zip(targets).take(pairs) {
                let (low, high) = target.split_at_mut(COLUMNS / 2);
                split(job.level, line, low, high);
            }
            let count = Stride { extent: 2 * pairs, source: COLUMNS / 2, destination: across.destination };
            let copy = Measured::new(Kernel::Rows { chunk: columns / 2, count });
            let to = first * across.destination + column / 2;
            Job { source: &rows, destination: job.destination, stream: job.stream, level: job.level }.run(&copy, 0, to);
        }
    }
}

/// A plane of bytes: columns that go so far apart, rows that come so far apart.
fn bytes((columns, to): (usize, usize), (rows, from): (usize, usize)) -> Measured {
    let axis = |extent: usize, stride: usize| Axis { extent, offsets: Offsets::Stride(stride) };
    let (across, along) = (axis(columns, to), axis(rows, from));
    Measured::new(Kernel::Transpose(Plane { chunk: 1, across, along, walk: Walk::Source, twist: None }))
}

/// Two rows of half bytes as one row of bytes.
fn merge(level: KernelLevel, first: &[u8], second: &[u8], line: &mut [u8]) {
    let done = match level {
        // SAFETY: a job's level is one this CPU has.
        #[cfg(target_arch = "x86_64")]
        KernelLevel::Avx512 => unsafe { avx512::merge(first, second, line) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        KernelLevel::Avx2 => unsafe { avx2::merge(first, second, line) },
        _ => 0,
    };
    let (pairs, _) = line.as_chunks_mut::<2>();
    for ((pair, &a), &b) in pairs.iter_mut().zip(first).zip(second).skip(done) {
        *pair = [(a & 0x0f) | (b << 4), (a >> 4) | (b & 0xf0)];
    }
}

/// A row of bytes as two rows of half bytes: undoes [`merge`].
fn split(level: KernelLevel, line: &[u8], low: &mut [u8], high: &mut [u8]) {
    let done = match level {
        // SAFETY: a job's level is one this CPU has.
        #[cfg(target_arch = "x86_64")]
        KernelLevel::Avx512 => unsafe { avx512::split(line, low, high) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        KernelLevel::Avx2 => unsafe { avx2::split(line, low, high) },
        _ => 0,
    };
    let (pairs, _) = line.as_chunks::<2>();
    for ((low, high), &[a, b]) in low.iter_mut().zip(high).zip(pairs).skip(done) {
        (*low, *high) = ((a & 0x0f) | (b << 4), (a >> 4) | (b & 0xf0));
    }
}

//! Planes of elements smaller than a byte, which begin anywhere.
//!
//! As many rows as there are elements in a byte take turns and become one row of bytes with a column each (see bits.rs), and
//! what is left is a plane of bytes; or a plane of bytes comes first, and its rows are taken apart. That is done in blocks, from
//! one small buffer to the next: they stay in the nearest caches, and only the ways in and out need care with single bits.

use super::super::schedule::{Axis, Kernel, Offsets, Plane, Step, Stride, Turns};
use super::Job;
use super::bit_rows::BitRows;

/// The bytes of a buffer.
const BUFFER: usize = 1 << 14;

/// A block has at most so many bytes in a row or a column, whichever is shorter.
const SIDE: usize = 64;

/// A plane: element (a, b) goes from `a + b * along.source` to `a * across.destination + b`, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct BitPlane {
    /// Of an element: 1, 2 or 4.
    pub(in super::super) bits: usize,
    /// Packed on the source.
    pub(in super::super) across: Stride,
    /// Packed on the destination.
    pub(in super::super) along: Stride,
}

/// What a block goes through.
pub(in super::super) struct Buffers([[u8; BUFFER]; 3]);

impl Buffers {
    pub(in super::super) const fn new() -> Buffers {
        Buffers([[0; BUFFER]; 3])
    }
}

impl BitPlane {
    /// Copies the plane, whose first element lies at these bits.
    pub(in super::super) fn run(&self, job: &mut Job<'_>, buffers: &mut Buffers, start: (u64, u64)) {
        let BitPlane { bits, across, along } = *self;
        let longest = SIDE * 8 / bits;
        // A multiple of 8 elements in the long direction, so that no row of a buffer is longer for being whole bytes.
        let most = |short: usize| BUFFER / short.min(longest).div_ceil(8 / bits) / 8 * 8;
        let (columns, rows) =
            if across.extent >= along.extent { (most(along.extent), longest) } else { (longest, most(across.extent)) };
        for a in (0..across.extent).step_by(columns) {
            for b in (0..along.extent).step_by(rows) {
                let size = (columns.min(across.extent - a), rows.min(along.extent - b));
                let from = start.0 + in_bits(a, bits) + in_bits(b, bits) * wide(along.source);
                let to = start.1 + in_bits(a, bits) * wide(across.destination) + in_bits(b, bits);
                self.block(job, buffers, (from, to), size);
            }
        }
    }

    /// Copies a block of so many columns and rows.
    fn block(&self, job: &mut Job<'_>, buffers: &mut Buffers, start: (u64, u64), (columns, rows): (usize, usize)) {
        let BitPlane { bits, across, along } = *self;
        let Buffers([first, second, third]) = buffers;
        let Job { stream, fetch, level, .. } = *job;
        let pass = |from: &[u8], to: &mut [u8], kernel: &Kernel, loops: &[Step]| {
            Job { source: from, destination: to, stream: false, fetch: false, level }.run(kernel, loops, (0, 0));
        };
        let each = 8 / bits;
        // The bytes of a row in the first buffer, and in the third.
        let (source, destination) = (columns.div_ceil(each), rows.div_ceil(each));
        let mut into = BitRows {
            bits: in_bits(columns, bits),
            count: wide(rows),
            source: in_bits(along.source, bits),
            destination: in_bits(source, 8),
        };
        let mut out = BitRows {
            bits: in_bits(rows, bits),
            count: wide(columns),
            source: in_bits(destination, 8),
            destination: in_bits(across.destination, bits),
        };
        let turns = |rows: usize, row: usize, apart: bool| Kernel::Turns(Turns { bits, rows, row, pitch: row, apart });
        let woven = Turns::ROWS.contains(&rows) && across.destination == rows;
        let apart = !woven && Turns::ROWS.contains(&columns) && along.source == columns;
        // What lies without a gap is one long row.
        if woven {
            out = BitRows { bits: out.bits * out.count, count: 1, ..out };
        }
        if apart {
            into = BitRows { bits: into.bits * into.count, count: 1, ..into };
        }
        Job { source: job.source, destination: first, stream: false, fetch, level }.run_bits(&into, (start.0, 0));
        if woven {
            pass(first, third, &turns(rows, source, false), &[]);
        } else if apart {
            pass(first, third, &turns(columns, destination, true), &[]);
        } else if columns >= rows {
            pass(first, second, &turns(each, source, false), &[every(destination, each * source)]);
            pass(second, third, &bytes((columns, destination), (destination, each * source)), &[]);
        } else {
            pass(first, second, &bytes((source, each * destination), (rows, source)), &[]);
            pass(second, third, &turns(each, destination, true), &[every(source, each * destination)]);
        }
        Job { source: third, destination: job.destination, stream, fetch: false, level }.run_bits(&out, (0, start.1));
    }
}

fn wide(number: usize) -> u64 {
    // Nothing saturates: no machine counts further.
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn in_bits(number: usize, bits: usize) -> u64 {
    wide(number) * wide(bits)
}

/// A loop over groups of rows that lie one behind the other on both sides.
fn every(extent: usize, bytes: usize) -> Step {
    Step::Strided(Stride { extent, source: bytes, destination: bytes })
}

/// A plane of bytes: columns that go so far apart, rows that come so far apart.
fn bytes((columns, to): (usize, usize), (rows, from): (usize, usize)) -> Kernel {
    let axis = |extent: usize, stride: usize| Axis { extent, offsets: Offsets::Stride(stride) };
    let (across, along) = (axis(columns, to), axis(rows, from));
    Kernel::Transpose(Plane { chunk: 1, across, along, twist: None })
}

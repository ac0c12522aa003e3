//! Planes of sub-byte elements that begin anywhere.
//!
//! As many rows as a byte has elements are interleaved into one row of bytes with a column each
//! (`crates/kernel/src/simd/interleave.rs`). A plane of bytes is left to transpose; or a plane of bytes is
//! transposed first, and its rows are deinterleaved. That is done in blocks, from one small buffer to the
//! next: these stay in the L1 cache, and only the copies into the first and out of the last one touch single
//! bits.
#![allow(clippy::arithmetic_side_effects, reason = "extents and offsets of a plane that is inside two buffers")]

use super::super::plan::cost::{BIT_BLOCK, BIT_BUFFER};
use super::bit_rows;
use super::call::Call;
use strided_copy::Destination;
use strided_copy::nest::{Axis, BitInterleave, BitPlane, BitRows, Direction, MicroKernel, NestLoop, Plane, Stride};

/// What a block goes through.
pub(super) struct Buffers([[u8; BIT_BUFFER]; 3]);

impl Buffers {
    pub(super) const fn new() -> Buffers {
        Buffers([[0; BIT_BUFFER]; 3])
    }
}

/// Copies a plane whose first element is stored at these bits.
pub(super) fn run(plane: &BitPlane, call: &mut Call<'_>, buffers: &mut Buffers, start: (u64, u64)) {
    let BitPlane { bits, columns, rows } = *plane;
    let longest = BIT_BLOCK * 8 / bits;
    // A multiple of 8 elements in the long direction, so that no row of a buffer is longer for being whole
    // bytes.
    let most = |short: usize| BIT_BUFFER / short.min(longest).div_ceil(8 / bits) / 8 * 8;
    let (wide, deep) =
        if columns.extent >= rows.extent { (most(rows.extent), longest) } else { (longest, most(columns.extent)) };
    for column in (0..columns.extent).step_by(wide) {
        for row in (0..rows.extent).step_by(deep) {
            let size = (wide.min(columns.extent - column), deep.min(rows.extent - row));
            let from = start.0 + in_bits(column, bits) + in_bits(row, bits) * count(rows.source);
            let to = start.1 + in_bits(column, bits) * count(columns.destination) + in_bits(row, bits);
            block(plane, call, buffers, (from, to), size);
        }
    }
}

/// Copies a block of this many columns and rows.
fn block(
    plane: &BitPlane,
    call: &mut Call<'_>,
    buffers: &mut Buffers,
    start: (u64, u64),
    (columns, rows): (usize, usize),
) {
    let bits = plane.bits;
    let Buffers([first, second, third]) = buffers;
    let Call { streaming, prefetch, knobs, .. } = *call;
    let pass = |source: &[u8], destination: &mut [u8], kernel: &MicroKernel, loops: &[NestLoop]| {
        let destination = Destination::from(destination);
        Call { source, destination, streaming: None, prefetch: false, knobs, as_planned: false }.run_at(
            kernel,
            loops,
            (0, 0),
        );
    };
    let in_byte = 8 / bits;
    // The bytes of a row in the first buffer, and in the third.
    let (source, destination) = (columns.div_ceil(in_byte), rows.div_ceil(in_byte));
    let mut into = BitRows {
        bits: in_bits(columns, bits),
        count: count(rows),
        source: in_bits(plane.rows.source, bits),
        destination: in_bits(source, 8),
    };
    let mut out = BitRows {
        bits: in_bits(rows, bits),
        count: count(columns),
        source: in_bits(destination, 8),
        destination: in_bits(plane.columns.destination, bits),
    };
    let interleave = |direction: Direction, rows: usize, row: usize| {
        MicroKernel::InterleaveBits(BitInterleave { bits, rows, row, pitch: row, direction })
    };
    let few_rows = BitInterleave::ROWS.contains(&rows) && plane.columns.destination == rows;
    let few_columns = !few_rows && BitInterleave::ROWS.contains(&columns) && plane.rows.source == columns;
    // Rows without a gap are one long row.
    if few_rows {
        out = BitRows { bits: out.bits * out.count, count: 1, ..out };
    }
    if few_columns {
        into = BitRows { bits: into.bits * into.count, count: 1, ..into };
    }
    let mut enter = Call {
        source: call.source,
        destination: Destination::from(&mut first[..]),
        streaming: None,
        prefetch,
        knobs,
        as_planned: false,
    };
    bit_rows::run(&into, &mut enter, (start.0, 0));
    if few_rows {
        pass(first, third, &interleave(Direction::Interleave, rows, source), &[]);
    } else if few_columns {
        pass(first, third, &interleave(Direction::Deinterleave, columns, destination), &[]);
    } else if columns >= rows {
        let groups = [every(destination, in_byte * source)];
        pass(first, second, &interleave(Direction::Interleave, in_byte, source), &groups);
        pass(second, third, &transpose_bytes((columns, destination), (destination, in_byte * source)), &[]);
    } else {
        let groups = [every(source, in_byte * destination)];
        pass(first, second, &transpose_bytes((source, in_byte * destination), (rows, source)), &[]);
        pass(second, third, &interleave(Direction::Deinterleave, in_byte, destination), &groups);
    }
    let destination = call.destination.reborrow();
    let mut leave = Call { source: third, destination, streaming, prefetch: false, knobs, as_planned: false };
    bit_rows::run(&out, &mut leave, (0, start.1));
}

fn count(number: usize) -> u64 {
    // Nothing saturates: a `usize` has at most 64 bits.
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn in_bits(number: usize, bits: usize) -> u64 {
    count(number) * count(bits)
}

/// A loop over groups of rows that are one after the other on both sides.
fn every(extent: usize, bytes: usize) -> NestLoop {
    NestLoop::Strided(Stride { extent, source: bytes, destination: bytes })
}

/// A plane of bytes: this many columns with the pitch of the destination's rows, this many rows with the
/// pitch of the source's.
fn transpose_bytes((columns, to): (usize, usize), (rows, from): (usize, usize)) -> MicroKernel {
    let (columns, rows) = (Axis::new(columns, to), Axis::new(rows, from));
    MicroKernel::Transpose(Plane { unit: 1, columns, rows, micro_tile: None })
}

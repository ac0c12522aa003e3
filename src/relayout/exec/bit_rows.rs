//! Rows of bits that begin anywhere.

use super::call::Call;
use strided_copy::nest::{BitRows, MicroKernel, Stride};

/// Copies rows, the first one from and to these bits; bits around them stay as they are.
pub(super) fn run(rows: &BitRows, call: &mut Call<'_>, start: (u64, u64)) {
    let mut rows = *rows;
    if rows.source == rows.bits && rows.destination == rows.bits {
        // Nothing saturates: it is the length of a part of the buffers.
        rows = BitRows { bits: rows.bits.saturating_mul(rows.count), count: 1, ..rows };
    }
    if rows.count == 1 {
        rows = BitRows { source: 0, destination: 0, ..rows };
    }
    let BitRows { bits, count, source, destination } = rows;
    if [bits, source, destination, start.0, start.1].iter().all(|place| place.is_multiple_of(8)) {
        // Nothing saturates: these count bytes or rows of a buffer.
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let byte = |bit: u64| number(bit.div_euclid(8));
        let count = Stride { extent: number(count), source: byte(source), destination: byte(destination) };
        let kernel = MicroKernel::Copy { run: byte(bits), count };
        return call.run_at(&kernel, &[], (byte(start.0), byte(start.1)));
    }
    let source = call.source;
    strided_copy::bit_rows::copy(&rows, source, call.destination.bytes_to_change(), start);
}

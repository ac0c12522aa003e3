//! Copying elements that begin inside bytes.

use crate::element::{read_bits, write_bits};

use super::super::kernel::{Call, bit_rows};
use super::super::plan::bits::BitRows;
use super::super::plan::nest::{MicroKernel, Stride};
use super::super::plan::subbyte::{Inner, SubByteBox};
use super::bit_plane::{self, Buffers};
use super::elements::each_element;

/// Copies the box, and says how many bytes that were.
pub(super) fn run(copy: &SubByteBox, bits: u32, call: &mut Call<'_>) -> u64 {
    let SubByteBox { outer, elements, inner } = copy;
    let width = u64::from(bits);
    let each = |visit: &mut dyn FnMut(u64, u64)| {
        each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
            visit(from.saturating_mul(width), to.saturating_mul(width));
        });
    };
    match inner {
        Inner::Rows(rows) => each(&mut |from, to| copy_rows(rows, call, (from, to))),
        Inner::Plane(plane) => {
            let mut buffers = Buffers::new();
            each(&mut |from, to| bit_plane::run(plane, call, &mut buffers, (from, to)));
        }
        Inner::Element if 8_u32.is_multiple_of(bits) => {
            each(&mut |from, to| bit_rows::copy_element(call.source, from, call.destination, to, width));
        }
        Inner::Element => each(&mut |from, to| {
            // `None` only past the end of a buffer, and the buffers were measured.
            if let Some(value) = read_bits(call.source, from, bits) {
                let _ = write_bits(call.destination, to, bits, value);
            }
        }),
    }
    elements.saturating_mul(width).div_ceil(8)
}

/// Copies rows, the first one from and to these bits; bits around them stay as they are.
pub(super) fn copy_rows(rows: &BitRows, call: &mut Call<'_>, start: (u64, u64)) {
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
        return call.run(&kernel, &[], (byte(start.0), byte(start.1)));
    }
    bit_rows::copy(&rows, call.source, call.destination, start);
}

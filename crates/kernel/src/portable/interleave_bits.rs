//! Interleaving of sub-byte elements, one destination byte at a time.

use crate::destination::Destination;
use crate::kernel::{BitInterleave, Direction};

pub(super) fn interleave_bits(source: &[u8], destination: &mut Destination<'_>, interleave: &BitInterleave) {
    let BitInterleave { bits, row, pitch, direction } = *interleave;
    let rows = interleave.rows();
    let (in_byte, mask) = (8 / bits, u8::MAX >> (8 - bits));
    // Makes one destination byte. For element `i` of this byte, `element(i)` returns the index of its source
    // byte, and its place in that byte.
    let byte = |element: &dyn Fn(usize) -> (usize, usize)| {
        let parts = (0..in_byte).map(|part| (part, element(part)));
        parts.fold(0, |value, (part, (byte, from))| {
            let element = source[byte] >> (from * bits) & mask;
            value | element << (part * bits)
        })
    };
    match direction {
        Direction::Pack => {
            for to in 0..4 * row {
                let element = |part: usize| source[(to % 4 * in_byte + part) * pitch + to / 4] & mask;
                let packed = (0..in_byte).fold(0, |value, part| value | element(part) << (part * bits));
                destination.write(to, &[packed]);
            }
        }
        Direction::Interleave => {
            for to in 0..rows * row {
                let joined = byte(&|part| {
                    let (column, row) = ((to * in_byte + part) / rows, (to * in_byte + part) % rows);
                    (row * pitch + column / in_byte, column % in_byte)
                });
                destination.write(to, &[joined]);
            }
        }
        Direction::Deinterleave => {
            for number in 0..rows {
                for to in 0..row {
                    let separated = byte(&|part| {
                        let index = (to * in_byte + part) * rows + number;
                        (index / in_byte, index % in_byte)
                    });
                    destination.write(number * pitch + to, &[separated]);
                }
            }
        }
    }
}

//! Interleaving sub-byte elements, one byte of the destination after the other.

use super::Places;
use crate::destination::Destination;
use crate::kernel::{BitInterleave, Direction};

/// Interleaves rows, or deinterleaves them.
pub(super) fn interleave_bits(places: &Places<'_>, destination: &mut Destination<'_>, rows: &BitInterleave) {
    let BitInterleave { bits, rows, row, pitch, direction } = *rows;
    let in_byte = 8 / bits;
    // A byte of elements, each by its byte of the source and its place in that.
    let byte = |element: &dyn Fn(usize) -> (usize, usize)| {
        let parts = (0..in_byte).map(|part| (part, element(part)));
        parts.fold(0, |value, (part, (byte, from))| {
            let element = places.source[byte] >> (from * bits) & (u8::MAX >> (8 - bits));
            value | element << (part * bits)
        })
    };
    match direction {
        Direction::Interleave => {
            for to in 0..rows * row {
                let joined = byte(&|part| {
                    let (column, row) = ((to * in_byte + part) / rows, (to * in_byte + part) % rows);
                    (row * pitch + column / in_byte, column % in_byte)
                });
                destination.write(places.to + to, &[joined]);
            }
        }
        Direction::Deinterleave => {
            for number in 0..rows {
                for to in 0..row {
                    let separated = byte(&|part| {
                        let place = (to * in_byte + part) * rows + number;
                        (place / in_byte, place % in_byte)
                    });
                    destination.write(places.to + number * pitch + to, &[separated]);
                }
            }
        }
    }
}

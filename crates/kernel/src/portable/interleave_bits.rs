//! Interleaving sub-byte elements, one byte of the destination after the other.

use std::mem::MaybeUninit;

use crate::nest::{BitInterleave, Direction};

/// Interleaves rows, or deinterleaves them.
pub(super) fn interleave_bits(source: &[u8], destination: &mut [MaybeUninit<u8>], rows: &BitInterleave) {
    let BitInterleave { bits, rows, row, pitch, direction } = *rows;
    debug_assert!(BitInterleave::ROWS.contains(&rows) && [1, 2, 4].contains(&bits));
    let in_byte = 8 / bits;
    // A byte of elements, each by its byte of the source and its place in that.
    let byte = |element: &dyn Fn(usize) -> (usize, usize)| {
        let parts = (0..in_byte).map(|part| (part, element(part)));
        let value = parts.fold(0, |value, (part, (byte, from))| {
            let element = source[byte] >> (from * bits) & (u8::MAX >> (8 - bits));
            value | element << (part * bits)
        });
        MaybeUninit::new(value)
    };
    match direction {
        Direction::Interleave => {
            for (to, target) in destination[..rows * row].iter_mut().enumerate() {
                *target = byte(&|part| {
                    let (column, row) = ((to * in_byte + part) / rows, (to * in_byte + part) % rows);
                    (row * pitch + column / in_byte, column % in_byte)
                });
            }
        }
        Direction::Deinterleave => {
            for number in 0..rows {
                for (to, target) in destination[number * pitch..][..row].iter_mut().enumerate() {
                    *target = byte(&|part| {
                        let place = (to * in_byte + part) * rows + number;
                        (place / in_byte, place % in_byte)
                    });
                }
            }
        }
    }
}

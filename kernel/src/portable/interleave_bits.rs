//! Interleaving sub-byte elements, eight bytes of each row at a time (see
//! [`bit_order`](super::super::bit_order)).

use std::mem::MaybeUninit;

use super::super::bit_order::{ordered_place, row_bit};
use super::super::destination::written;
use crate::nest::{BitInterleave, Direction};

/// Interleaves rows, or deinterleaves them.
pub(super) fn interleave_bits(source: &[u8], destination: &mut [MaybeUninit<u8>], rows: &BitInterleave) {
    debug_assert!(BitInterleave::ROWS.contains(&rows.rows) && [1, 2, 4].contains(&rows.bits));
    match rows.rows {
        2 => rows_of::<2>(source, destination, rows),
        4 => rows_of::<4>(source, destination, rows),
        8 => rows_of::<8>(source, destination, rows),
        16 => rows_of::<16>(source, destination, rows),
        _ => rows_of::<32>(source, destination, rows),
    }
}

fn rows_of<const ROWS: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], rows: &BitInterleave) {
    let BitInterleave { bits, row, pitch, direction, .. } = *rows;
    let mut words = [0; ROWS];
    for first in (0..row).step_by(8) {
        let bytes = (row - first).min(8);
        let joined = first * ROWS..(first + bytes) * ROWS;
        match direction {
            Direction::Deinterleave => {
                let (from, _) = source[joined].as_chunks::<ROWS>();
                for (i, word) in words.iter_mut().enumerate() {
                    let mut line = [0; 8];
                    line.iter_mut().zip(from).for_each(|(byte, group)| *byte = group[ordered_place(bits, ROWS, i)]);
                    *word = u64::from_le_bytes(line);
                }
                for width in [4, 2, 1].into_iter().filter(|&width| width >= bits) {
                    exchange(&mut words, width, row_bit(width, bits, ROWS));
                }
                for (i, word) in words.into_iter().enumerate() {
                    destination[i * pitch + first..][..bytes].copy_from_slice(&written(&word.to_le_bytes())[..bytes]);
                }
            }
            Direction::Interleave => {
                for (i, word) in words.iter_mut().enumerate() {
                    let mut line = [0; 8];
                    line[..bytes].copy_from_slice(&source[i * pitch + first..][..bytes]);
                    *word = u64::from_le_bytes(line);
                }
                for width in [1, 2, 4].into_iter().filter(|&width| width >= bits) {
                    exchange(&mut words, width, row_bit(width, bits, ROWS));
                }
                let (to, _) = destination[joined].as_chunks_mut::<ROWS>();
                for (i, word) in words.into_iter().enumerate() {
                    let place = ordered_place(bits, ROWS, i);
                    to.iter_mut()
                        .zip(word.to_le_bytes())
                        .for_each(|(group, byte)| group[place] = MaybeUninit::new(byte));
                }
            }
        }
    }
}

/// With every byte in parts of `width` bits: exchanges the odd parts of each word whose number lacks the bit
/// `row_bit` with the even parts of the one whose number has it.
fn exchange(words: &mut [u64], width: usize, row_bit: usize) {
    let even = match width {
        1 => 0x5555_5555_5555_5555,
        2 => 0x3333_3333_3333_3333,
        _ => 0x0f0f_0f0f_0f0f_0f0f,
    };
    for i in (0..words.len()).filter(|i| i & row_bit == 0) {
        let changed = ((words[i] >> width) ^ words[i | row_bit]) & even;
        words[i] ^= changed << width;
        words[i | row_bit] ^= changed;
    }
}

//! Elements that are unpacked or packed: 1, 2 or 4 bits against a byte each, the first element in the lowest
//! bits.

use std::mem::MaybeUninit;

use super::super::destination::Destination;
use crate::nest::{PackedWords, WidthChange, WidthRow};

/// Unpacks a row, or packs it.
pub(super) fn change_width(source: &[u8], destination: &mut [MaybeUninit<u8>], row: &WidthRow) {
    match row.bits {
        4 => row_of::<4, 2>(source, destination, row),
        2 => row_of::<2, 4>(source, destination, row),
        _ => row_of::<1, 8>(source, destination, row),
    }
}

fn row_of<const BITS: usize, const PARTS: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], row: &WidthRow) {
    const { assert!(BITS * PARTS == 8) };
    match row.change {
        WidthChange::Unpack { signed } => {
            let (elements, _) = destination[..row.packed * PARTS].as_chunks_mut::<PARTS>();
            for (elements, byte) in elements.iter_mut().zip(&source[..row.packed]) {
                let mut rest = *byte;
                for element in elements {
                    *element = MaybeUninit::new(unpacked::<BITS>(rest, signed));
                    rest >>= BITS;
                }
            }
        }
        WidthChange::Pack => {
            let (elements, _) = source[..row.packed * PARTS].as_chunks::<PARTS>();
            for (elements, byte) in elements.iter().zip(&mut destination[..row.packed]) {
                let packed = elements.iter().rev().fold(0, |byte, element| (byte << BITS) | (element & mask(BITS)));
                *byte = MaybeUninit::new(packed);
            }
        }
    }
}

/// Unpacks words into rows, or packs rows into words.
pub(super) fn change_words(source: &[u8], destination: &mut [MaybeUninit<u8>], words: &PackedWords) {
    match words.bits {
        4 => words_of::<4>(source, destination, words),
        2 => words_of::<2>(source, destination, words),
        _ => words_of::<1>(source, destination, words),
    }
}

fn words_of<const BITS: usize>(source: &[u8], destination: &mut [MaybeUninit<u8>], words: &PackedWords) {
    const WORD: usize = PackedWords::WORD;
    let PackedWords { change, words, pitch, .. } = *words;
    match change {
        WidthChange::Unpack { signed } => {
            let (from, _) = source[..words * WORD].as_chunks::<WORD>();
            for (i, bits) in (0..32).step_by(BITS).enumerate() {
                for (element, word) in destination[i * pitch..][..words].iter_mut().zip(from) {
                    *element = MaybeUninit::new(unpacked::<BITS>(word[bits / 8] >> (bits % 8), signed));
                }
            }
        }
        WidthChange::Pack => {
            let (to, _) = destination[..words * WORD].as_chunks_mut::<WORD>();
            for (column, to) in to.iter_mut().enumerate() {
                let row = |bits: usize| source[bits / BITS * pitch + column] & mask(BITS);
                let byte = |i: usize| (0..8).step_by(BITS).fold(0, |byte, bits| byte | (row(8 * i + bits) << bits));
                *to = std::array::from_fn(|i| MaybeUninit::new(byte(i)));
            }
        }
    }
}

/// The low `BITS` bits of a byte, the bits above them copies of the sign or zero.
#[inline(always)]
fn unpacked<const BITS: usize>(byte: u8, signed: bool) -> u8 {
    let low = byte & mask(BITS);
    if signed { (low ^ (1 << (BITS - 1))).wrapping_sub(1 << (BITS - 1)) } else { low }
}

/// A mask of the low `bits` bits.
const fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

/// Unpacks one element that begins at a bit of the source, or packs it to one of the destination: where the
/// other side counts bytes. Bits around it stay as they are.
///
/// # Panics
///
/// If it is outside a buffer, or is packed into bytes that cannot be read.
pub fn change_element(source: &[u8], from: usize, destination: &mut Destination<'_>, to: usize, row: &WidthRow) {
    let bits = row.bits;
    // Where an element is that is packed: its byte, and the bits before it.
    let place = |element: usize| (element / (8 / bits), element % (8 / bits) * bits);
    match row.change {
        WidthChange::Unpack { signed } => {
            let (byte, before) = place(from);
            let low = source[byte] >> before;
            let element = match bits {
                4 => unpacked::<4>(low, signed),
                2 => unpacked::<2>(low, signed),
                _ => unpacked::<1>(low, signed),
            };
            destination.bytes()[to] = MaybeUninit::new(element);
        }
        WidthChange::Pack => {
            let (byte, before) = place(to);
            let value = (source[from] & mask(bits)) << before;
            let byte = &mut destination.bytes_to_change()[byte];
            *byte = (*byte & !(mask(bits) << before)) | value;
        }
    }
}

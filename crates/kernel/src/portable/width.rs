//! Unpacking and packing: elements of 1, 2 or 4 bits on one side, and of a byte each on the other side. The
//! first element of a byte is in its lowest bits.

use super::Iteration;
use crate::destination::Destination;
use crate::kernel::{PackedWords, WidthChange, WidthRow};

/// Unpacks a row, or packs it.
pub(super) fn change_width(iteration: &Iteration<'_>, destination: &mut Destination<'_>, row: &WidthRow) {
    match row.bits {
        4 => row_of::<4, 2>(iteration, destination, row),
        2 => row_of::<2, 4>(iteration, destination, row),
        _ => row_of::<1, 8>(iteration, destination, row),
    }
}

fn row_of<const BITS: usize, const PARTS: usize>(
    iteration: &Iteration<'_>,
    destination: &mut Destination<'_>,
    row: &WidthRow,
) {
    const { assert!(BITS * PARTS == 8) };
    match row.change {
        WidthChange::Unpack { signed } => {
            for (i, byte) in iteration.source[..row.packed].iter().enumerate() {
                let elements: [u8; PARTS] = std::array::from_fn(|part| unpacked::<BITS>(byte >> (part * BITS), signed));
                destination.write(iteration.to + i * PARTS, &elements);
            }
        }
        WidthChange::Pack => {
            let (elements, _) = iteration.source[..row.packed * PARTS].as_chunks::<PARTS>();
            for (i, elements) in elements.iter().enumerate() {
                let packed = elements.iter().rev().fold(0, |byte, element| (byte << BITS) | (element & mask(BITS)));
                destination.write(iteration.to + i, &[packed]);
            }
        }
    }
}

/// Unpacks words into rows, or packs rows into words.
pub(super) fn change_words(iteration: &Iteration<'_>, destination: &mut Destination<'_>, words: &PackedWords) {
    match words.bits {
        4 => words_of::<4>(iteration, destination, words),
        2 => words_of::<2>(iteration, destination, words),
        _ => words_of::<1>(iteration, destination, words),
    }
}

fn words_of<const BITS: usize>(iteration: &Iteration<'_>, destination: &mut Destination<'_>, words: &PackedWords) {
    const WORD: usize = PackedWords::WORD;
    let PackedWords { change, words, pitch, .. } = *words;
    match change {
        WidthChange::Unpack { signed } => {
            let (from, _) = iteration.source[..words * WORD].as_chunks::<WORD>();
            for (i, bits) in (0..32).step_by(BITS).enumerate() {
                for (index, word) in from.iter().enumerate() {
                    let element = unpacked::<BITS>(word[bits / 8] >> (bits % 8), signed);
                    destination.write(iteration.to + i * pitch + index, &[element]);
                }
            }
        }
        WidthChange::Pack => {
            for column in 0..words {
                let row = |bits: usize| iteration.source[bits / BITS * pitch + column] & mask(BITS);
                let byte = |i: usize| (0..8).step_by(BITS).fold(0, |byte, bits| byte | (row(8 * i + bits) << bits));
                destination.write(iteration.to + column * WORD, &std::array::from_fn::<u8, WORD, _>(byte));
            }
        }
    }
}

/// The low `BITS` bits of a byte. The bits above become copies of the sign, or zeros.
#[inline(always)]
fn unpacked<const BITS: usize>(byte: u8, signed: bool) -> u8 {
    let low = byte & mask(BITS);
    if signed { (low ^ (1 << (BITS - 1))).wrapping_sub(1 << (BITS - 1)) } else { low }
}

/// A mask of the low `bits` bits.
const fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

/// Unpacks one element, or packs it. `from` and `to` are indices of elements; on the packed side, an element
/// begins inside a byte. The other bits of a packed byte keep their values.
///
/// # Panics
///
/// If the element is not inside a buffer, or is packed into a destination that cannot be read.
pub fn change_element(source: &[u8], from: usize, destination: &mut Destination<'_>, to: usize, row: &WidthRow) {
    let bits = row.bits;
    // The byte that holds a packed element, and the number of bits in front of it.
    let index = |element: usize| (element / (8 / bits), element % (8 / bits) * bits);
    match row.change {
        WidthChange::Unpack { signed } => {
            let (byte, before) = index(from);
            let low = source[byte] >> before;
            let element = match bits {
                4 => unpacked::<4>(low, signed),
                2 => unpacked::<2>(low, signed),
                _ => unpacked::<1>(low, signed),
            };
            destination.write(to, &[element]);
        }
        WidthChange::Pack => {
            let (byte, before) = index(to);
            let value = (source[from] & mask(bits)) << before;
            let byte = &mut destination.bytes_to_change()[byte];
            *byte = (*byte & !(mask(bits) << before)) | value;
        }
    }
}

//! Elements that are unpacked or packed: 1, 2 or 4 bits against a byte each, the first element in the lowest
//! bits.

use super::Places;
use crate::destination::Destination;
use crate::kernel::{PackedWords, WidthChange, WidthRow};

/// Unpacks a row, or packs it.
pub(super) fn change_width(places: &Places<'_>, destination: &mut Destination<'_>, row: &WidthRow) {
    match row.bits {
        4 => row_of::<4, 2>(places, destination, row),
        2 => row_of::<2, 4>(places, destination, row),
        _ => row_of::<1, 8>(places, destination, row),
    }
}

fn row_of<const BITS: usize, const PARTS: usize>(
    places: &Places<'_>,
    destination: &mut Destination<'_>,
    row: &WidthRow,
) {
    const { assert!(BITS * PARTS == 8) };
    match row.change {
        WidthChange::Unpack { signed } => {
            for (i, byte) in places.source[..row.packed].iter().enumerate() {
                let elements: [u8; PARTS] = std::array::from_fn(|part| unpacked::<BITS>(byte >> (part * BITS), signed));
                destination.write(places.to + i * PARTS, &elements);
            }
        }
        WidthChange::Pack => {
            let (elements, _) = places.source[..row.packed * PARTS].as_chunks::<PARTS>();
            for (i, elements) in elements.iter().enumerate() {
                let packed = elements.iter().rev().fold(0, |byte, element| (byte << BITS) | (element & mask(BITS)));
                destination.write(places.to + i, &[packed]);
            }
        }
    }
}

/// Unpacks words into rows, or packs rows into words.
pub(super) fn change_words(places: &Places<'_>, destination: &mut Destination<'_>, words: &PackedWords) {
    match words.bits {
        4 => words_of::<4>(places, destination, words),
        2 => words_of::<2>(places, destination, words),
        _ => words_of::<1>(places, destination, words),
    }
}

fn words_of<const BITS: usize>(places: &Places<'_>, destination: &mut Destination<'_>, words: &PackedWords) {
    const WORD: usize = PackedWords::WORD;
    let PackedWords { change, words, pitch, .. } = *words;
    match change {
        WidthChange::Unpack { signed } => {
            let (from, _) = places.source[..words * WORD].as_chunks::<WORD>();
            for (i, bits) in (0..32).step_by(BITS).enumerate() {
                for (place, word) in from.iter().enumerate() {
                    let element = unpacked::<BITS>(word[bits / 8] >> (bits % 8), signed);
                    destination.write(places.to + i * pitch + place, &[element]);
                }
            }
        }
        WidthChange::Pack => {
            for column in 0..words {
                let row = |bits: usize| places.source[bits / BITS * pitch + column] & mask(BITS);
                let byte = |i: usize| (0..8).step_by(BITS).fold(0, |byte, bits| byte | (row(8 * i + bits) << bits));
                destination.write(places.to + column * WORD, &std::array::from_fn::<u8, WORD, _>(byte));
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
            destination.write(to, &[element]);
        }
        WidthChange::Pack => {
            let (byte, before) = place(to);
            let value = (source[from] & mask(bits)) << before;
            let byte = &mut destination.bytes_to_change()[byte];
            *byte = (*byte & !(mask(bits) << before)) | value;
        }
    }
}

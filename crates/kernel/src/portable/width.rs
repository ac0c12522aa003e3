//! Unpacking and packing: elements have 1, 2 or 4 bits on one side, and a byte each on the other side. The
//! first element of a byte is in its lowest bits.

use crate::destination::Destination;
use crate::kernel::{WidthChange, WidthRow};

pub(super) fn change_width(source: &[u8], destination: &mut Destination<'_>, row: &WidthRow) {
    match row.bits {
        4 => row_of::<4, 2>(source, destination, row),
        2 => row_of::<2, 4>(source, destination, row),
        _ => row_of::<1, 8>(source, destination, row),
    }
}

fn row_of<const BITS: usize, const PARTS: usize>(source: &[u8], destination: &mut Destination<'_>, row: &WidthRow) {
    const { assert!(BITS * PARTS == 8) };
    match row.change {
        WidthChange::Unpack { signed } => {
            for (i, byte) in source[..row.packed].iter().enumerate() {
                let elements: [u8; PARTS] = std::array::from_fn(|part| extended(byte >> (part * BITS), BITS, signed));
                destination.write(i * PARTS, &elements);
            }
        }
        WidthChange::Pack => {
            let (elements, _) = source[..row.packed * PARTS].as_chunks::<PARTS>();
            for (i, elements) in elements.iter().enumerate() {
                let packed = elements.iter().rev().fold(0, |byte, element| (byte << BITS) | (element & mask(BITS)));
                destination.write(i, &[packed]);
            }
        }
    }
}

/// The low `bits` bits of a byte. The bits above them become copies of the element's sign, or zeros.
#[inline(always)]
fn extended(byte: u8, bits: usize, signed: bool) -> u8 {
    let low = byte & mask(bits);
    if signed { (low ^ (1 << (bits - 1))).wrapping_sub(1 << (bits - 1)) } else { low }
}

const fn mask(bits: usize) -> u8 {
    u8::MAX >> (8 - bits)
}

/// Unpacks a few elements of a row, or packs them. Elements have 1 to 7 bits, and may begin inside a byte and
/// end in the next byte. `from` and `to` are indices of elements. The other bits of a packed byte keep their
/// values.
///
/// # Panics
///
/// If an element is not inside its buffer, or if elements are packed into a destination that is not readable.
pub fn change_elements(
    source: &[u8],
    from: usize,
    destination: &mut Destination<'_>,
    to: usize,
    row: &WidthRow,
    count: usize,
) {
    let bits = row.bits;
    // The byte in which a packed element begins, and the number of bits of this byte in front of the element.
    // Eight elements fill `bits` bytes.
    let index = |element: usize| {
        let bit = element % 8 * bits;
        (element / 8 * bits + bit / 8, bit % 8)
    };
    let pair = |bytes: &[u8], byte: usize, crosses: bool| {
        u16::from_le_bytes([bytes[byte], if crosses { bytes[byte + 1] } else { 0 }])
    };
    for i in 0..count {
        let (byte, before) = index(if row.change == WidthChange::Pack { to + i } else { from + i });
        let crosses = before + bits > 8;
        match row.change {
            WidthChange::Unpack { signed } => {
                let [low, _] = (pair(source, byte, crosses) >> before).to_le_bytes();
                destination.write(to + i, &[extended(low, bits, signed)]);
            }
            WidthChange::Pack => {
                let bytes = destination.bytes_to_change();
                let keep = !(u16::from(mask(bits)) << before);
                let value = u16::from(source[from + i] & mask(bits)) << before;
                let [low, high] = (pair(bytes, byte, crosses) & keep | value).to_le_bytes();
                bytes[byte] = low;
                if crosses {
                    bytes[byte + 1] = high;
                }
            }
        }
    }
}

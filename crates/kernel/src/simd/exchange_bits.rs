//! Prepares rows of sub-byte elements, so that a shuffle of whole bytes then interleaves the elements.
//!
//! Write the index of an element in binary: the number of its row, then the number of its byte in the row,
//! then the number of its *field*, its place in the byte. Interleaving makes the bits of the row number the
//! lowest bits. A shuffle of bytes cannot move a bit of the field number, but an exchange can: it swaps one
//! bit of the row number with one bit of the field number, for two rows at a time. After every bit of the
//! field number was swapped, only whole bytes have to move.
//!
//! ```text
//! two rows of 4-bit elements, two per byte, low half first
//! rows            a0 a1 | a2 a3          exchange the odd fields of the first
//!                 b0 b1 | b2 b3          row with the even fields of the second
//! exchanged       a0 b0 | a2 b2
//!                 a1 b1 | a3 b3          interleave whole bytes
//! interleaved     a0 b0 | a1 b1 | a2 b2 | a3 b3
//! ```

use super::vector::Vector;

/// Swaps every bit of the field number, the element's place in a byte, with a bit of the row number. After
/// that, a shuffle of whole bytes interleaves elements of `BITS` bits. Whole bytes (8 bits) do not move.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
pub(super) unsafe fn exchanged<V: Vector, const BITS: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    // SAFETY: no memory is accessed.
    unsafe {
        if BITS == 1 {
            exchange::<V, 1, BITS, ROWS>(&mut lines);
        }
        if BITS <= 2 {
            exchange::<V, 2, BITS, ROWS>(&mut lines);
        }
        if BITS <= 4 {
            exchange::<V, 4, BITS, ROWS>(&mut lines);
        }
    }
    let mut ordered = lines;
    for (i, &line) in lines.iter().enumerate() {
        ordered[ordered_index(BITS, ROWS, i)] = line;
    }
    ordered
}

/// Undoes [`exchanged`].
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
pub(super) unsafe fn restored<V: Vector, const BITS: usize, const ROWS: usize>(ordered: [V; ROWS]) -> [V; ROWS] {
    let mut lines = ordered;
    for (i, line) in lines.iter_mut().enumerate() {
        *line = ordered[ordered_index(BITS, ROWS, i)];
    }
    // SAFETY: no memory is accessed.
    unsafe {
        if BITS <= 4 {
            exchange::<V, 4, BITS, ROWS>(&mut lines);
        }
        if BITS <= 2 {
            exchange::<V, 2, BITS, ROWS>(&mut lines);
        }
        if BITS == 1 {
            exchange::<V, 1, BITS, ROWS>(&mut lines);
        }
    }
    lines
}

/// Swaps one bit of the row number with one bit of the field number, in all pairs of rows. If two fields of a
/// byte differ only in this bit of their numbers, they are `WIDTH` bits apart.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
unsafe fn exchange<V: Vector, const WIDTH: usize, const BITS: usize, const ROWS: usize>(lines: &mut [V; ROWS]) {
    let row_bit = row_bit(WIDTH, BITS, ROWS);
    // With `filter`, the loop would not be unrolled, and the registers would go to the stack.
    for i in 0..ROWS {
        if i & row_bit == 0 {
            // SAFETY: no memory is accessed.
            (lines[i], lines[i | row_bit]) = unsafe { lines[i].exchange_bits::<WIDTH>(lines[i | row_bit]) };
        }
    }
}

/// Which bit of the row number is swapped with the bit of the field number for which fields are `width` bits
/// apart. Bits of the row number are taken from the lowest on, and from the lowest on again if there are too
/// few. `bits` is the width of an element. `rows`, the number of rows, is a power of two.
#[inline(always)]
const fn row_bit(width: usize, bits: usize, rows: usize) -> usize {
    1 << ((width / bits).ilog2() % rows.ilog2())
}

/// The number that register `i` gets before whole bytes are interleaved. After all swaps, the lowest
/// `log2(8 / bits)` bits of `i` (modulo `log2(rows)`) are a field number, and become the highest bits.
#[inline(always)]
const fn ordered_index(bits: usize, rows: usize, i: usize) -> usize {
    let rotation = (8 / bits).ilog2() % rows.ilog2();
    (i >> rotation) | (i << (rows.ilog2() - rotation)) & (rows - 1)
}

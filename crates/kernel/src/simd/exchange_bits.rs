//! Sub-byte elements of a few rows, so that a shuffle of whole bytes interleaves them.
//!
//! Write the place of an element as bits: which row, which byte of it, which part of that byte. Interleaving
//! moves the bits of the row after all others. An exchange swaps one bit of the row with one of the part, for
//! two rows at a time; once every bit of the part has been swapped, a shuffle of whole bytes does the rest.

use super::vector::Vector;

/// The rows in `lines`, with every bit of the part of a byte swapped with one of the row: a shuffle of their
/// bytes then interleaves elements of `BITS` bits. Whole bytes (8 bits) stay.
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
pub(super) unsafe fn exchanged<V: Vector, const BITS: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    // SAFETY: no memory is touched.
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
    for (i, line) in lines.into_iter().enumerate() {
        ordered[ordered_place(BITS, ROWS, i)] = line;
    }
    ordered
}

/// Undoes [`exchanged`].
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
pub(super) unsafe fn restored<V: Vector, const BITS: usize, const ROWS: usize>(ordered: [V; ROWS]) -> [V; ROWS] {
    let mut lines = ordered;
    for (i, line) in lines.iter_mut().enumerate() {
        *line = ordered[ordered_place(BITS, ROWS, i)];
    }
    // SAFETY: no memory is touched.
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

/// Swaps the bit of the part of a byte that `WIDTH` bits make up with a bit of the row.
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
unsafe fn exchange<V: Vector, const WIDTH: usize, const BITS: usize, const ROWS: usize>(lines: &mut [V; ROWS]) {
    let row_bit = row_bit(WIDTH, BITS, ROWS);
    // No `filter`: with it, the loop is not unrolled and the registers go by way of the stack.
    for i in 0..ROWS {
        if i & row_bit == 0 {
            // SAFETY: no memory is touched.
            (lines[i], lines[i | row_bit]) = unsafe { lines[i].exchange_bits::<WIDTH>(lines[i | row_bit]) };
        }
    }
}

/// The bit of the row number that is swapped with the bit of the part that `width` bits make up: one after
/// the other, and from the first on again where there are fewer. `bits` is the width of an element, `rows`
/// the number of rows, a power of two.
#[inline(always)]
const fn row_bit(width: usize, bits: usize, rows: usize) -> usize {
    1 << ((width / bits).ilog2() % rows.ilog2())
}

/// The place of row `i` once all bits are swapped: those that were bits of the part come first.
#[inline(always)]
const fn ordered_place(bits: usize, rows: usize, i: usize) -> usize {
    let rotation = (8 / bits).ilog2() % rows.ilog2();
    (i >> rotation) | (i << (rows.ilog2() - rotation)) & (rows - 1)
}

//! Sub-byte elements of a few rows, so that a shuffle of whole bytes interleaves them (see
//! [`bit_order`](super::super::bit_order)).

use super::super::bit_order::{ordered_place, row_bit};
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

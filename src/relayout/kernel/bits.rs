//! Elements smaller than a byte, in registers.
//!
//! Write the place of an element in some rows as bits: which row, which byte of it, which part of that byte. To let the rows
//! take turns is to move the bits of the row behind all others. [`Vector::exchange`] swaps one bit of the row with one of
//! the part, for two registers at a time; once every bit of the part has been swapped, what is left to do is a shuffle of
//! whole bytes.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and rows that lie inside both sides.

use super::super::schedule::Turns;
use super::portable_bits::{ordered_place, row_bit};
use super::task::Task;
use super::vector::Vector;
use super::weave::{unweave, weave};

/// Lets rows of elements of `BITS` bits take turns, or takes them apart; a register has `N` bytes.
#[inline(always)]
pub(super) unsafe fn turns<V: Vector, const BITS: usize, const N: usize>(task: &Task<'_>, turns: &Turns) {
    let Turns { rows, row, pitch, apart, .. } = *turns;
    // SAFETY: the caller's promise, passed on: `rows` rows of `row` bytes on one side, as many bytes in one on the other.
    unsafe {
        match (rows, apart) {
            (2, false) => weave::<V, BITS, 1, N, 2>(task, row, pitch),
            (4, false) => weave::<V, BITS, 1, N, 4>(task, row, pitch),
            (8, false) => weave::<V, BITS, 1, N, 8>(task, row, pitch),
            (16, false) => weave::<V, BITS, 1, N, 16>(task, row, pitch),
            (32, false) => weave::<V, BITS, 1, N, 32>(task, row, pitch),
            (2, true) => unweave::<V, BITS, 1, N, 2>(task, row, pitch),
            (4, true) => unweave::<V, BITS, 1, N, 4>(task, row, pitch),
            (8, true) => unweave::<V, BITS, 1, N, 8>(task, row, pitch),
            (16, true) => unweave::<V, BITS, 1, N, 16>(task, row, pitch),
            (32, true) => unweave::<V, BITS, 1, N, 32>(task, row, pitch),
            // `Turns::new` makes no others.
            _ => {}
        }
    }
}

/// The rows in `lines` so that a shuffle of their bytes lets elements of `BITS` bits take turns. Whole bytes stay.
#[inline(always)]
pub(super) unsafe fn mixed<V: Vector, const BITS: usize, const ROWS: usize>(mut lines: [V; ROWS]) -> [V; ROWS] {
    // SAFETY: no memory is touched; the features are the caller's promise.
    unsafe {
        if BITS == 1 {
            exchanged::<V, 1, BITS, ROWS>(&mut lines);
        }
        if BITS <= 2 {
            exchanged::<V, 2, BITS, ROWS>(&mut lines);
        }
        if BITS <= 4 {
            exchanged::<V, 4, BITS, ROWS>(&mut lines);
        }
    }
    let mut ordered = lines;
    for (i, line) in lines.into_iter().enumerate() {
        ordered[ordered_place(BITS, ROWS, i)] = line;
    }
    ordered
}

/// Undoes [`mixed`].
#[inline(always)]
pub(super) unsafe fn unmixed<V: Vector, const BITS: usize, const ROWS: usize>(ordered: [V; ROWS]) -> [V; ROWS] {
    let mut lines = ordered;
    for (i, line) in lines.iter_mut().enumerate() {
        *line = ordered[ordered_place(BITS, ROWS, i)];
    }
    // SAFETY: no memory is touched; the features are the caller's promise.
    unsafe {
        if BITS <= 4 {
            exchanged::<V, 4, BITS, ROWS>(&mut lines);
        }
        if BITS <= 2 {
            exchanged::<V, 2, BITS, ROWS>(&mut lines);
        }
        if BITS == 1 {
            exchanged::<V, 1, BITS, ROWS>(&mut lines);
        }
    }
    lines
}

/// Swaps the bit of the part of a byte that `WIDTH` bits make up with a bit of the row.
#[inline(always)]
unsafe fn exchanged<V: Vector, const WIDTH: usize, const BITS: usize, const ROWS: usize>(lines: &mut [V; ROWS]) {
    let apart = row_bit(WIDTH, BITS, ROWS);
    for i in (0..ROWS).filter(|i| i & apart == 0) {
        // SAFETY: no memory is touched; the features are the caller's promise.
        (lines[i], lines[i | apart]) = unsafe { lines[i].exchange::<WIDTH>(lines[i | apart]) };
    }
}

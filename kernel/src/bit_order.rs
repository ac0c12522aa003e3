//! Where rows of sub-byte elements go when they are interleaved by exchanging bits.
//!
//! Write the place of an element as bits: which row, which byte of it, which part of that byte. Interleaving
//! moves the bits of the row after all others. An exchange swaps one bit of the row with one of the part, for
//! two rows at a time; once every bit of the part has been swapped, a shuffle of whole bytes does the rest.

/// The bit of the row number that is swapped with the bit of the part that `width` bits make up: one after
/// the other, and from the first on again where there are fewer. `bits` is the width of an element, `rows`
/// the number of rows, a power of two.
#[inline(always)]
pub(super) const fn row_bit(width: usize, bits: usize, rows: usize) -> usize {
    1 << ((width / bits).ilog2() % rows.ilog2())
}

/// The place of row `i` once all bits are swapped: those that were bits of the part come first.
#[inline(always)]
pub(super) const fn ordered_place(bits: usize, rows: usize, i: usize) -> usize {
    let rotation = (8 / bits).ilog2() % rows.ilog2();
    (i >> rotation) | (i << (rows.ilog2() - rotation)) & (rows - 1)
}

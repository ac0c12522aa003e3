//! The indices for permutations of registers.

use crate::simd::origin_in_three;

/// The shuffle indices that interleave registers `a` and `b` as `a b a b ...`: for 64 bytes of the
/// interleaved bytes, from byte `start` on. The indices count through both registers.
pub(super) const fn interleaved(unit: usize, start: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (index, inside) = ((start + i) / unit, (start + i) % unit);
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            bytes[i] = ((index % 2) * 64 + (index / 2) * unit + inside) as u8;
        }
        i += 1;
    }
    bytes
}

/// The shuffle indices that take all even units (`odd` is 0) or all odd units (`odd` is 1) out of two
/// registers. The indices count bytes through both registers.
pub(super) const fn deinterleaved(unit: usize, odd: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            bytes[i] = ((i / unit * 2 + odd) * unit + i % unit) as u8;
        }
        i += 1;
    }
    bytes
}

/// Turns indices of bytes into indices of numbers of 2, 4 or 8 bytes (`unit`). AVX-512 has a permutation for
/// each of these widths. The wider ones are at least as fast.
pub(super) const fn widened(bytes: [u8; 64], unit: usize) -> [u8; 64] {
    let mut wide = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            wide[i] = bytes[i] / unit as u8;
        }
        i += unit;
    }
    wide
}

pub(super) struct Choice<const UNIT: usize>;

impl<const UNIT: usize> Choice<UNIT> {
    /// How many bytes the permutation instruction moves together. A unit of 16 bytes is moved as two halves.
    const STEP: usize = if UNIT > 8 { 8 } else { UNIT };
    pub(super) const LOW: [u8; 64] = widened(interleaved(UNIT, 0), Self::STEP);
    pub(super) const HIGH: [u8; 64] = widened(interleaved(UNIT, 64), Self::STEP);
    pub(super) const EVEN: [u8; 64] = widened(deinterleaved(UNIT, 0), Self::STEP);
    pub(super) const ODD: [u8; 64] = widened(deinterleaved(UNIT, 1), Self::STEP);
}

/// The indices by which two permutations interleave or deinterleave the units of three registers. For each
/// byte of the three results, there is the index of the byte that a permutation takes.
pub(super) struct Three<const UNIT: usize>;

impl<const UNIT: usize> Three<UNIT> {
    pub(super) const INTERLEAVE_FIRST: [[u8; 64]; 3] = Self::table(true, false);
    pub(super) const INTERLEAVE_SECOND: [[u8; 64]; 3] = Self::table(true, true);
    pub(super) const DEINTERLEAVE_FIRST: [[u8; 64]; 3] = Self::table(false, false);
    pub(super) const DEINTERLEAVE_SECOND: [[u8; 64]; 3] = Self::table(false, true);

    pub(super) const fn table(interleave: bool, second: bool) -> [[u8; 64]; 3] {
        let mut table = [[0; 64]; 3];
        let mut i = 0;
        while i < 192 {
            let origin = origin_in_three(i, UNIT, 64, interleave);
            // The second permutation keeps the bytes that the first one has placed, and takes the other bytes
            // from the third register.
            let choice = match (second, origin >= 128) {
                (false, false) => origin,
                (false, true) => 0,
                (true, false) => i % 64,
                (true, true) => 64 + origin - 128,
            };
            #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
            {
                table[i / 64][i % 64] = choice as u8;
            }
            i += 1;
        }
        table
    }
}

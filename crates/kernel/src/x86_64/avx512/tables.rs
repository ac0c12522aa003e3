//! The indices for permutations of registers.

use crate::simd::origin_in_three;

/// Registers `a` and `b` are interleaved as `a b a b ...`. Returns the indices, into both registers together,
/// of the result's bytes from byte `start` on.
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

/// Returns the indices of the bytes of all even units (`odd` is 0) or of all odd units (`odd` is 1). The
/// indices count through two registers.
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

/// Turns indices of bytes into indices of 16-, 32- or 64-bit units. A permutation of wider units takes wider
/// indices, and is at least as fast.
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
    /// The unit of the permutation instruction. A unit of 16 bytes is a pair of 8-byte units.
    const STEP: usize = if UNIT > 8 { 8 } else { UNIT };
    pub(super) const LOW: [u8; 64] = widened(interleaved(UNIT, 0), Self::STEP);
    pub(super) const HIGH: [u8; 64] = widened(interleaved(UNIT, 64), Self::STEP);
    pub(super) const EVEN: [u8; 64] = widened(deinterleaved(UNIT, 0), Self::STEP);
    pub(super) const ODD: [u8; 64] = widened(deinterleaved(UNIT, 1), Self::STEP);
}

/// The tables that interleave or deinterleave the units of three registers, in two steps. For each byte of
/// the three results, they have the index of the byte that a step takes.
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
            // The second step keeps the bytes that the first step has placed, and takes the other bytes from
            // the third register.
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

//! The indices for table lookups in three registers.

use crate::simd::origin_in_three;

/// The tables that interleave or deinterleave the units of three registers. For each byte of the three
/// results, they have the index of its source byte among the bytes of all three registers.
pub(super) struct Three<const UNIT: usize>;

impl<const UNIT: usize> Three<UNIT> {
    pub(super) const INTERLEAVE: [[u8; 16]; 3] = Self::table(true);
    pub(super) const DEINTERLEAVE: [[u8; 16]; 3] = Self::table(false);

    const fn table(interleave: bool) -> [[u8; 16]; 3] {
        let mut table = [[0; 16]; 3];
        let mut i = 0;
        while i < 48 {
            let origin = origin_in_three(i, UNIT, 16, interleave);
            #[allow(clippy::as_conversions, reason = "below 48; `try_from` is not const")]
            {
                table[i / 16][i % 16] = origin as u8;
            }
            i += 1;
        }
        table
    }
}

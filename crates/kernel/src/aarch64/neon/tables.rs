//! The indices for table lookups in three registers.

use crate::simd::origin_in_three;

/// For each byte of three registers together, its index in three other registers together.
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

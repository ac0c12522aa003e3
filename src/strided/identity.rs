//! Comparison and hash of descriptors as keys of a table, in a few cycles.

use crate::checked::is_same;

use super::desc::BufferTensorDesc;

impl BufferTensorDesc {
    /// Whether all fields are identical. Descriptors with different fields may still be equal.
    #[inline]
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        let fields = |desc: &Self| {
            (desc.data_type, desc.flags(), desc.base_offset, desc.larger_total, desc.base_offset_alignment, desc.owns)
        };
        fields(self) == fields(other) && is_same(&self.sizes, &other.sizes) && is_same(&self.strides, &other.strides)
    }

    /// A hash of type, sizes, strides and base, in a few cycles. Different descriptors may have the same
    /// hash, so a table must compare its keys as well.
    #[inline]
    pub(crate) fn quick_hash(&self) -> u64 {
        // The products do not depend on each other, so the CPU computes them in parallel. Axes after the
        // eighth are not hashed; the comparison of the keys tells them apart.
        let numbers = self.sizes.iter().zip(&self.strides).zip(&HASH_FACTORS);
        let sum = numbers.fold(self.base_offset, |sum, ((&size, &stride), &(first, second))| {
            sum.wrapping_add(size.wrapping_mul(first)).wrapping_add(stride.wrapping_mul(second))
        });
        let sum = sum.wrapping_add(u64::from(self.data_type.bits())).wrapping_mul(HASH_FACTORS[0].1);
        sum ^ sum.wrapping_shr(29)
    }
}

/// The factors of the hash: odd numbers without a pattern, from the generator SplitMix64.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses an index out of bounds")]
const HASH_FACTORS: [(u64, u64); 8] = {
    let (mut factors, mut state, mut place) = ([(0, 0); 8], 0_u64, 0);
    while place < 16 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state.wrapping_shr(30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed.wrapping_shr(27)).wrapping_mul(0x94d0_49bb_1331_11eb) | 1;
        if place % 2 == 0 {
            factors[place / 2].0 = mixed;
        } else {
            factors[place / 2].1 = mixed;
        }
        place += 1;
    }
    factors
};

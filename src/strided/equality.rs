//! Equality and hashes of descriptors: strides that no element uses do not count.

use core::hash::{Hash, Hasher};

use crate::checked::is_same;
use crate::element::DataType;

use super::desc::{BufferTensorDesc, GapOwner, TensorFlags};

impl BufferTensorDesc {
    fn plain_fields(&self) -> (DataType, TensorFlags, u32, (u64, GapOwner), u64) {
        let begins = (self.base_offset, self.owns);
        (self.data_type, self.flags, self.base_offset_alignment, begins, self.larger_total)
    }
}

impl PartialEq for BufferTensorDesc {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.plain_fields() == other.plain_fields()
            && is_same(&self.sizes, &other.sizes)
            && (is_same(&self.strides, &other.strides) || self.used_strides().eq(other.used_strides()))
    }
}

impl Eq for BufferTensorDesc {}

/// Descriptors are the keys of an engine's plans, so their numbers are mixed here, in a few cycles, and the
/// hasher gets one number.
impl Hash for BufferTensorDesc {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        /// Two odd numbers without a pattern. The sizes are the coefficients of a polynomial of the first
        /// number, and the strides those of the second. The CPU computes both polynomials at the same time.
        const FACTORS: (u64, u64) = (0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb);
        let numbers = self.sizes.iter().zip(self.used_strides());
        let (sizes, strides) = numbers.fold(
            (self.base_offset ^ self.larger_total.rotate_left(40), u64::from(self.data_type.bits())),
            |sums, (size, stride)| {
                (
                    sums.0.wrapping_mul(FACTORS.0).wrapping_add(*size),
                    sums.1.wrapping_mul(FACTORS.1).wrapping_add(stride),
                )
            },
        );
        state.write_u64(sizes.wrapping_mul(FACTORS.1) ^ strides.wrapping_mul(FACTORS.0).rotate_left(32));
    }
}

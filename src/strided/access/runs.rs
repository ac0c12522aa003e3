//! The alignment of a tensor's first element, and the width of vector loads.

use crate::checked::wide_product;
use crate::strided::BufferTensorDesc;

impl BufferTensorDesc {
    /// The guaranteed alignment of the first element, in bytes. This is the promised alignment of the buffer,
    /// reduced by the base offset. 0 means that nothing is guaranteed.
    pub(crate) fn first_element_alignment(&self) -> u32 {
        let promise = self.base_offset_alignment();
        let bits = self.data_type().bits();
        let base_bits = wide_product(self.base_offset(), bits);
        let had = 1_u128.checked_shl(base_bits.trailing_zeros()).map_or(u128::MAX, |had| had.div_euclid(8));
        let least = u32::try_from(u128::from(promise).min(had)).unwrap_or(promise);
        if least < bits.div_ceil(8) { 0 } else { least }
    }
}

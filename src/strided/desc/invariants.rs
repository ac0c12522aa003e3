//! What holds of every descriptor, as code: debug builds ask it of each one that is made.
//!
//! The numbers are those of [`BufferTensorDesc`].
#![allow(clippy::arithmetic_side_effects, reason = "products of two 64-bit numbers in 128 bits")]

use crate::strided::size::size_in_bytes;

use super::BufferTensorDesc;

impl BufferTensorDesc {
    /// The same descriptor. In a debug build, one that breaks an invariant stops the program: every constructor and every view ends
    /// here.
    #[inline]
    #[track_caller]
    pub(super) fn checked(self) -> BufferTensorDesc {
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        self
    }

    /// The first invariant that does not hold, in words.
    fn broken_invariant(&self) -> Option<String> {
        let (sizes, strides, bits) = (self.sizes(), self.strides(), self.data_type.bits());
        if sizes.len() != strides.len() {
            return Some(format!("1: {} strides for {} sizes", strides.len(), sizes.len()));
        }
        let mut counted = sizes.iter().filter(|&&size| size > 0);
        let Some(product) = counted.try_fold(1_u64, |product, &size| product.checked_mul(size)) else {
            return Some("2: the product of the non-zero sizes passes 64 bits".into());
        };
        let elements = if sizes.contains(&0) { 0 } else { product };
        if elements != self.elements {
            return Some(format!("2: {} elements are {elements}", self.elements));
        }
        let moved = sizes.iter().zip(strides).map(|(&size, &stride)| u128::from(size.max(1) - 1) * u128::from(stride));
        let end = moved.fold(u128::from(self.base_offset) + 1, u128::saturating_add);
        let end = if elements == 0 { 0 } else { end };
        if end != self.min_elements.into() {
            return Some(format!("3: the last element ends at {end}, not at {}", self.min_elements));
        }
        let Ok(least) = size_in_bytes(self.min_elements, bits) else {
            return Some("3: the size in bytes passes 64 bits".into());
        };
        let total = self.total_tensor_size_in_bytes();
        if total < least || !total.is_multiple_of(4) || self.larger_total != 0 && total == least {
            return Some(format!("4: a total of {total} bytes, of which {least} are needed"));
        }
        let alignment = self.base_offset_alignment;
        let promised = alignment == 0 || alignment.is_power_of_two() && alignment >= bits.div_ceil(8);
        (!promised).then(|| format!("5: an alignment of {alignment} bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::DataType;

    /// What is said of 2 x 3 elements of 4 bytes, rows 5 apart, after a change.
    fn after(change: impl FnOnce(&mut BufferTensorDesc)) -> String {
        let mut desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1])).unwrap();
        change(&mut desc);
        desc.broken_invariant().unwrap_or_default()
    }

    #[test]
    #[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
    fn every_broken_invariant_is_found() {
        assert_eq!(after(|_| {}), "");
        assert!(after(|desc| desc.axes.both_mut().0.fill(u64::MAX)).starts_with("2: the product"));
        assert!(after(|desc| desc.axes.both_mut().0[0] = 3).starts_with("2: 6 elements are 9"));
        assert!(after(|desc| desc.elements = 0).starts_with("2: 0 elements"));
        assert!(after(|desc| desc.axes.both_mut().1[0] = 6).starts_with("3: the last element ends at 9, not at 8"));
        assert!(after(|desc| desc.axes.both_mut().1[0] = u64::MAX).starts_with("3:"));
        assert!(
            after(|desc| desc.base_offset = 1).starts_with("3:")
                && after(|desc| desc.min_elements = 9).starts_with("3:")
        );
        let far = |desc: &mut BufferTensorDesc| (desc.base_offset, desc.min_elements) = (1 << 62, (1 << 62) + 8);
        assert!(after(far).starts_with("3: the size in bytes"));
        assert!(
            after(|desc| desc.larger_total = 28).starts_with("4:")
                && after(|desc| desc.larger_total = 34).starts_with("4:")
        );
        assert!(after(|desc| desc.larger_total = 32).starts_with("4:"), "the least total is no larger one");
        assert!(after(|desc| desc.larger_total = 36).is_empty());
        assert!(after(|desc| desc.base_offset_alignment = 2).starts_with("5:"));
        assert!(after(|desc| desc.base_offset_alignment = 24).starts_with("5:"));
        assert!(after(|desc| desc.base_offset_alignment = 16).is_empty());
    }
}

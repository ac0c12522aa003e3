//! Checks the invariants of every descriptor, in debug builds.
//!
//! The numbers of the invariants are explained at [`BufferTensorDesc`].
#![allow(clippy::arithmetic_side_effects, reason = "products of two 64-bit numbers in 128 bits")]

use crate::checked::Proven;

use alloc::format;
use alloc::string::String;

use super::desc::{BufferTensorDesc, GapOwner};
use super::numbers::size_in_bytes;

impl BufferTensorDesc {
    /// Every constructor and every view calls this last: a broken invariant stops a debug build.
    #[inline]
    #[track_caller]
    pub(super) fn checked(self) -> BufferTensorDesc {
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        self
    }

    pub(super) fn broken_invariant(&self) -> Option<String> {
        let (sizes, strides, bits) = (self.sizes(), self.strides(), self.data_type.bits());
        if sizes.len() != strides.len() {
            return Some(format!("1: {} strides for {} sizes", strides.len(), sizes.len()));
        }
        let product = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
        let Some(elements) = (if sizes.contains(&0) { Some(0) } else { product }) else {
            return Some("2: the product of the sizes passes 64 bits".into());
        };
        if elements != self.elements {
            return Some(format!("2: {} elements are {elements}", self.elements));
        }
        let moved = sizes.iter().zip(strides).map(|(&size, &stride)| u128::from(size.max(1) - 1) * u128::from(stride));
        let end = if elements == 0 { 0 } else { moved.fold(u128::from(self.base_offset) + 1, u128::plus) };
        if end != self.span_elements.into() {
            return Some(format!("3: the last element ends at {end}, not at {}", self.span_elements));
        }
        if size_in_bytes(self.span_elements, bits) != Ok(self.min_size) {
            return Some(format!("3: the size in bytes passes 64 bits, or is not {}", self.min_size));
        }
        let least = self.min_size;
        let total = self.total_tensor_size_in_bytes();
        if total < least || !total.is_multiple_of(4) || self.larger_total != 0 && total == least {
            return Some(format!("4: a total of {total} bytes, of which {least} are needed"));
        }
        let alignment = self.base_offset_alignment;
        let promised = alignment == 0 || alignment.is_power_of_two() && alignment >= bits.div_ceil(8);
        if !promised {
            return Some(format!("5: an alignment of {alignment} bytes"));
        }
        (self.base_offset != 0 && self.owns == GapOwner::All).then(|| "a whole buffer begins at a base offset".into())
    }
}

//! How many elements a tensor has, how far they reach, and their bytes: what a descriptor is made of.

use crate::checked::{self, BYTES, ELEMENTS, OFFSET};
use crate::error::Error;

/// Sets the strides to those of a packed row-major tensor. Returns the number of elements.
pub(super) fn pack(sizes: &[u64], strides: &mut [u64]) -> Result<u64, Error> {
    let mut next = 1_u64;
    let (mut wrapped, mut empty) = (false, false);
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = next;
        empty |= size == 0;
        let (product, overflow) = next.overflowing_mul(size.max(1));
        wrapped |= overflow;
        next = if overflow { u64::MAX } else { product };
    }
    if wrapped && !empty {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    Ok(if empty { 0 } else { next })
}

/// Returns the number of elements, and the span: one past the largest offset, or 0 without elements. The loop
/// records an overflow and continues, because a loop without exits is faster. Descriptors are made in inner
/// loops, and this takes most of the time.
///
/// The product of the sizes must fit 64 bits even if a stride of 0 makes the span small, because element
/// counts are `u64`. In an empty tensor, the other sizes and the strides do not count, because no
/// element uses them.
#[inline]
pub(super) fn extent(sizes: &[u64], strides: &[u64]) -> Result<(u64, u64), Error> {
    let (mut elements, mut last) = (1_u64, 0_u64);
    let (mut count_overflows, mut offset_overflows, mut empty) = (false, false, false);
    for (&size, &stride) in sizes.iter().zip(strides) {
        empty |= size == 0;
        let (product, wrapped) = elements.overflowing_mul(size.max(1));
        elements = product;
        count_overflows |= wrapped;
        let (last_of_axis, wrapped) = stride.overflowing_mul(size.saturating_sub(1));
        let (sum, wrapped_sum) = last.overflowing_add(last_of_axis);
        last = sum;
        offset_overflows |= wrapped | wrapped_sum;
    }
    if empty {
        return Ok((0, 0));
    }
    if count_overflows {
        return Err(Error::overflow(ELEMENTS, 64));
    }
    if offset_overflows {
        return Err(Error::overflow(OFFSET, 64));
    }
    Ok((elements, checked::add(last, 1, ELEMENTS)?))
}

#[inline]
pub(super) fn size_in_bytes(elements: u64, bits: u32) -> Result<u64, Error> {
    let bytes = match elements.checked_mul(bits.into()) {
        Some(all) => all.div_ceil(8),
        None => checked::bytes_for(elements, bits)?,
    };
    checked::round_up(bytes, 4, BYTES)
}

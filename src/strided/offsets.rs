//! `Offsets`: iterates over the element offsets in logical order.

use crate::checked::{Proven, len_u64};
use core::iter::FusedIterator;

use smallvec::SmallVec;

use super::desc::BufferTensorDesc;

/// Iterates over the offsets of all elements, in elements from the start of the buffer. A step along the
/// innermost axis is one addition, without a division. Tensors of up to 8 axes need no allocation. `nth`
/// computes the offset directly, without visiting the skipped offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    /// The size, the stride and the current index of each axis, the innermost axis first.
    axes: SmallVec<[Counter; 8]>,
    next: u64,
    left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counter {
    size: u64,
    stride: u64,
    index: u64,
}

impl Offsets {
    /// The sizes and strides must be those of a descriptor, whose invariants keep every sum within 64 bits.
    pub(crate) fn new(axes: impl DoubleEndedIterator<Item = (u64, u64)> + Clone, base: u64) -> Offsets {
        let left = axes.clone().fold(1_u64, |product, (size, _)| product.times(size));
        let counters = axes.rev().filter(|&(size, _)| size != 1);
        let axes = counters.map(|(size, stride)| Counter { size, stride, index: 0 }).collect();
        Offsets { axes, next: base, left }
    }
}

impl Iterator for Offsets {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.next;
        // No step leaves the span, which fits 64 bits (invariant 3 of the descriptor), so the
        // arithmetic is exact.
        for axis in &mut self.axes {
            axis.index = axis.index.wrapping_add(1);
            if axis.index < axis.size {
                self.next = self.next.wrapping_add(axis.stride);
                break;
            }
            axis.index = 0;
            self.next = self.next.wrapping_sub(axis.stride.wrapping_mul(axis.size.wrapping_sub(1)));
        }
        Some(offset)
    }

    fn nth(&mut self, skipped: usize) -> Option<u64> {
        let mut carry = len_u64(skipped);
        let Some(left) = self.left.checked_sub(carry) else {
            self.left = 0;
            return None;
        };
        self.left = left;
        for axis in self.axes.iter_mut().take_while(|_| left > 0) {
            // The sum of two 64-bit numbers fits 128 bits. No size is 0, because elements are left.
            let index = u128::from(axis.index).wrapping_add(carry.into());
            let size = u128::from(axis.size);
            let new = index.checked_rem(size).and_then(|new| u64::try_from(new).ok()).unwrap_or(0);
            carry = index.checked_div(size).and_then(|carry| u64::try_from(carry).ok()).unwrap_or(0);
            self.next = self.next.wrapping_add(new.wrapping_sub(axis.index).wrapping_mul(axis.stride));
            axis.index = new;
        }
        self.next()
    }

    fn last(mut self) -> Option<u64> {
        let skipped = usize::try_from(self.left.checked_sub(1)?);
        // If there are more elements than a `usize` can count, `last` returns `None`. No machine can visit
        // that many elements.
        skipped.ok().and_then(|skipped| self.nth(skipped))
    }

    fn count(self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl FusedIterator for Offsets {}

impl BufferTensorDesc {
    /// Iterates over the offset of every element in logical (row-major) order.
    #[must_use]
    pub fn offsets(&self) -> Offsets {
        Offsets::new(self.axes(), self.base_offset())
    }
}

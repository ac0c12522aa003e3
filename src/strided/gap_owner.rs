//! `GapOwner`: who owns the bytes between and around the elements of a tensor.
//!
//! Sizes and strides do not tell a tensor with padded rows from a slice of a larger tensor: in the first the
//! bytes between the elements are padding, and in the second they are elements of other tensors. So a
//! descriptor remembers who owns its gaps, and a slice finds it out. Take two rows of a tensor whose rows are
//! padded, and two columns of it:
//!
//! ```text
//! the tensor: f16[4,3]:[5,1]        rows 1..3                  columns 1..3
//! e elements, . gaps                the gap between the        between its elements are
//!                                   rows is a gap of the       the elements of column 0
//! e e e . .                         tensor: owned
//! e e e . .                         [e e e . .                    e[e e . .
//! e e e . .                          e e e].                      e e e . .
//! e e e                                                           e e e . .
//!                                                                 e e e]
//! GapOwner::All                     GapOwner::Inside             GapOwner::Others
//! ```
//!
//! The rule is exact where the strides nest, as they do in every tensor that a slice of a packed or padded
//! tensor is made of: each stride is above the reach of all smaller strides together. Sort the axes by
//! stride, the largest first. The elements of a slice are then neighbours among those of the tensor exactly
//! if some axes keep one index, one axis keeps a range of neighbouring indices, and all smaller axes are
//! whole. Other slices of a tensor own their elements alone.

use smallvec::SmallVec;

use crate::checked::{Proven, wide_product};
use crate::short_sort::sort_by_key;

use super::desc::{BufferTensorDesc, GapOwner};
use super::slice::Taken;

impl BufferTensorDesc {
    /// Who owns the gaps of the tensor.
    #[must_use]
    pub fn gap_owner(&self) -> GapOwner {
        self.owns
    }

    /// Returns this tensor with this owner of its gaps, for engines that know better than the views that made
    /// the tensor. A tensor with a base offset never owns the whole buffer: it gets
    /// [`GapOwner::Inside`].
    #[must_use]
    pub fn with_gap_owner(self, owner: GapOwner) -> Self {
        let owns = if self.base_offset == 0 { owner } else { owner.min(GapOwner::Inside) };
        BufferTensorDesc { owns, ..self }
    }

    /// Whether this tensor is a part of a larger buffer: it does not [own](Self::gap_owner) the whole buffer.
    /// A slice that leaves out elements is a part, and every view of the slice is a part too. A tensor with a
    /// base offset is also a part, even if the offset was set to 0. The text of a part has a base offset,
    /// even if the offset is `+0`, and a part that is read from a text owns its elements alone.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.owns != GapOwner::All
    }

    /// Returns this tensor as a part that owns its elements alone. The inverse is
    /// [`with_gap_owner`](Self::with_gap_owner).
    #[must_use]
    pub fn as_part(&self) -> Self {
        self.clone().with_gap_owner(GapOwner::Others)
    }

    /// `taken` returns the indices that the slice keeps of an axis, or `None` for a whole axis.
    pub(super) fn owned_by_slice(&self, taken: &dyn Fn(usize) -> Option<Taken>) -> GapOwner {
        if self.owns != GapOwner::Others && self.holds_no_other(taken) { GapOwner::Inside } else { GapOwner::Others }
    }

    /// Whether the bytes from the first element of a slice to its last, rounded up to 4 bytes, hold no
    /// element of this tensor that is not in the slice. `false` if the slice is empty, or if the strides do
    /// not nest.
    fn holds_no_other(&self, taken: &dyn Fn(usize) -> Option<Taken>) -> bool {
        let of = |axis: usize, size: u64| taken(axis).unwrap_or(Taken { start: 0, step: 1, length: size });
        let misses = |(axis, (size, stride))| {
            let length = of(axis, size).length;
            // The indices of a repeated axis are the same elements.
            length == 0 || stride == 0 && length != size
        };
        if self.axes().enumerate().any(misses) {
            return false;
        }
        let axes = self.axes().enumerate().rev().filter(|&(_, (size, stride))| size > 1 && stride != 0);
        let axes = axes.map(|(axis, (size, stride))| (stride, size, of(axis, size)));
        if axes.clone().is_sorted_by_key(|(stride, ..)| stride) {
            return self.holds_neighbours(axes);
        }
        let mut sorted: SmallVec<[(u64, u64, Taken); 8]> = axes.collect();
        sort_by_key(&mut sorted, |&(stride, ..)| stride);
        self.holds_neighbours(sorted.into_iter())
    }

    /// Does the work of [`holds_no_other`](Self::holds_no_other) for the stride, the size and the indices of
    /// each axis longer than 1, the smallest stride first.
    #[inline]
    fn holds_neighbours(&self, axes: impl Iterator<Item = (u64, u64, Taken)>) -> bool {
        // The largest offset of the axes so far, the offsets of the first and the last element of the slice,
        // whether the axes so far are whole, and the distance from the last element to the next element of
        // the tensor. Invariant 3 of the descriptor bounds every sum.
        let (mut largest, mut first, mut last, mut whole, mut next) = (0_u64, 0_u64, 0_u64, true, None);
        for (stride, size, Taken { start, step, length }) in axes {
            let neighbours = length == 1 || whole && (step == 1 || length == size);
            if stride <= largest || !neighbours {
                return false;
            }
            let end = start.plus(length.minus(1).times(step));
            if next.is_none() && end < size.minus(1) {
                next = Some(stride.minus(last));
            }
            first = first.plus(start.times(stride));
            last = last.plus(end.times(stride));
            largest = largest.plus(size.minus(1).times(stride));
            whole &= length == size;
        }
        let at = |elements: u64| wide_product(self.base_offset.plus(elements), self.data_type.bits());
        let (begin, end) = (at(first), at(last.plus(1)));
        let rounded = end.next_multiple_of(32).max(begin.plus(end.minus(begin).next_multiple_of(32)));
        next.is_none_or(|next: u64| at(last.plus(next)) >= rounded)
    }
}

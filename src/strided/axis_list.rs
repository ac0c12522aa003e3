//! `AxisList`: the sizes and strides of a descriptor, without an allocation up to rank 8.

use crate::checked::Exact;
#[cfg(feature = "relayout")]
use crate::dims::is_same;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The most axes that a list stores in itself. Longer lists are allocated on the heap.
const INLINE: usize = 8;

/// A list of sizes and a list of strides of equal length. Up to rank 8, both lists are arrays in the value
/// itself, and only the first `rank` numbers count. Descriptors are made and copied in inner loops, and this
/// list is most of a descriptor.
#[derive(Debug, Clone)]
pub(super) enum AxisList {
    /// The arrays for ranks up to 8.
    Inline { rank: u8, sizes: [u64; INLINE], strides: [u64; INLINE] },
    /// The allocated lists for larger ranks.
    Boxed(Box<(Vec<u64>, Vec<u64>)>),
}

impl AxisList {
    pub(super) const EMPTY: AxisList = AxisList::Inline { rank: 0, sizes: [0; INLINE], strides: [0; INLINE] };

    /// Makes a list of these sizes and strides. The two slices must be equally long.
    #[inline]
    pub(super) fn new(sizes: &[u64], strides: &[u64]) -> AxisList {
        match (first_eight(sizes), first_eight(strides)) {
            (Some((rank, sizes)), Some((_, strides))) => AxisList::Inline { rank, sizes, strides },
            _ => AxisList::Boxed(Box::new((sizes.to_vec(), strides.to_vec()))),
        }
    }

    #[inline]
    pub(super) fn zeros(rank: usize) -> AxisList {
        match u8::try_from(rank) {
            Ok(inline) if rank <= INLINE => AxisList::Inline { rank: inline, sizes: [0; INLINE], strides: [0; INLINE] },
            _ => AxisList::Boxed(Box::new((vec![0; rank], vec![0; rank]))),
        }
    }

    #[inline]
    pub(super) fn with_zero_strides(sizes: &[u64]) -> AxisList {
        match first_eight(sizes) {
            Some((rank, sizes)) => AxisList::Inline { rank, sizes, strides: [0; INLINE] },
            None => AxisList::Boxed(Box::new((sizes.to_vec(), vec![0; sizes.len()]))),
        }
    }

    #[inline]
    pub(super) fn sizes(&self) -> &[u64] {
        match self {
            AxisList::Inline { rank, sizes, .. } => sizes.get(..usize::from(*rank)).unwrap_or(sizes),
            AxisList::Boxed(lists) => &lists.0,
        }
    }

    #[inline]
    pub(super) fn strides(&self) -> &[u64] {
        match self {
            AxisList::Inline { rank, strides, .. } => strides.get(..usize::from(*rank)).unwrap_or(strides),
            AxisList::Boxed(lists) => &lists.1,
        }
    }

    /// Whether all numbers are equal, including the strides of axes of size 1.
    #[cfg(feature = "relayout")]
    #[inline]
    pub(super) fn is_identical(&self, other: &AxisList) -> bool {
        is_same(self.sizes(), other.sizes()) && is_same(self.strides(), other.strides())
    }

    #[inline]
    pub(super) fn both_mut(&mut self) -> (&mut [u64], &mut [u64]) {
        match self {
            AxisList::Inline { rank, sizes, strides } => {
                let rank = usize::from(*rank).min(INLINE);
                (sizes.get_mut(..rank).unwrap_or_default(), strides.get_mut(..rank).unwrap_or_default())
            }
            AxisList::Boxed(lists) => (&mut lists.0, &mut lists.1),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, size: u64, stride: u64) {
        match self {
            AxisList::Inline { rank, sizes, strides } => {
                let place = usize::from(*rank);
                if let (Some(size_slot), Some(stride_slot)) = (sizes.get_mut(place), strides.get_mut(place)) {
                    (*size_slot, *stride_slot) = (size, stride);
                    *rank = rank.plus(1);
                } else {
                    let (mut sizes, mut strides) = (sizes.to_vec(), strides.to_vec());
                    sizes.push(size);
                    strides.push(stride);
                    *self = AxisList::Boxed(Box::new((sizes, strides)));
                }
            }
            AxisList::Boxed(lists) => {
                lists.0.push(size);
                lists.1.push(stride);
            }
        }
    }
}

impl FromIterator<(u64, u64)> for AxisList {
    #[inline]
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(axes: I) -> AxisList {
        let mut list = AxisList::EMPTY;
        axes.into_iter().for_each(|(size, stride)| list.push(size, stride));
        list
    }
}

/// Returns the number of entries, and the entries followed by zeros. Returns `None` for more
/// than eight entries.
#[inline]
fn first_eight(numbers: &[u64]) -> Option<(u8, [u64; INLINE])> {
    // Each length has its own sequence of moves, because a copy of unknown length compiles to a call.
    Some(match *numbers {
        [] => (0, [0; INLINE]),
        [a] => (1, [a, 0, 0, 0, 0, 0, 0, 0]),
        [a, b] => (2, [a, b, 0, 0, 0, 0, 0, 0]),
        [a, b, c] => (3, [a, b, c, 0, 0, 0, 0, 0]),
        [a, b, c, d] => (4, [a, b, c, d, 0, 0, 0, 0]),
        [a, b, c, d, e] => (5, [a, b, c, d, e, 0, 0, 0]),
        [a, b, c, d, e, f] => (6, [a, b, c, d, e, f, 0, 0]),
        [a, b, c, d, e, f, g] => (7, [a, b, c, d, e, f, g, 0]),
        [a, b, c, d, e, f, g, h] => (8, [a, b, c, d, e, f, g, h]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

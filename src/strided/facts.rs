//! `Facts`: six independent facts about the memory of a tensor.

use crate::checked::Proven;
use smallvec::SmallVec;

use crate::short_sort::sort_by_key;

use super::desc::BufferTensorDesc;
use super::overlap::{OVERLAP_WORK_LIMIT, Overlap, find_overlap};

/// Facts that follow from the sizes and strides of a layout. The facts are independent: a layout can be
/// padded and broadcast at once, and a layout that is neither can still overlap.
///
/// Strides of axes of size 1, the base offset, and a total size that was set by hand do not matter.
///
/// | layout | packed | broadcast | padded | overlapping | in order | inner-packed |
/// |---|---|---|---|---|---|---|
/// | `[2,3]:[3,1]` row-major | yes | - | - | - | yes | yes |
/// | `[2,3]:[1,2]` column-major | yes | - | - | - | - | - |
/// | `[2,3]:[5,1]` pitch of 5 | - | - | yes | - | yes | yes |
/// | `[2,3]:[0,1]` repeated row | - | yes | - | yes | - | yes |
/// | `[2,2]:[0,3]` repeated and spread | - | yes | yes | yes | - | - |
/// | `[2,2]:[1,1]` overlapping windows | - | - | - | yes | yes | yes |
/// | `[2,2]:[3,3]` | - | - | yes | yes | yes | - |
/// | `[1,3]:[99,1]` odd stride on size 1 | yes | - | - | - | yes | yes |
/// | `[]:[]` one element | yes | - | - | - | yes | yes |
/// | `[0,3]:[7,7]` no elements | yes | - | - | - | yes | yes |
///
/// ```
/// use tensor_layout::{strided::{Facts, Overlap}, BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
/// let facts: Facts = desc.facts();
/// assert!(facts.padded && !facts.packed && !facts.broadcast);
/// assert_eq!(facts.overlapping, Some(false));
/// assert!(!desc.is_packed());
/// assert_eq!(desc.overlap(), Overlap::No);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Facts {
    /// Whether the elements fill their span exactly. Then every offset from the first to the last is used by
    /// exactly one index, in any order. `is_contiguous` of other crates is `packed && in_order`. (DirectML's
    /// page says: physical size equals logical size, and no overlap.)
    pub packed: bool,
    /// Whether some axis longer than 1 has stride 0.
    pub broadcast: bool,
    /// Whether some offset between the first and the last is used by no index.
    pub padded: bool,
    /// Whether two different indices share an offset. `None` if this could not be decided for a padded layout
    /// within [`OVERLAP_WORK_LIMIT`] steps.
    pub overlapping: Option<bool>,
    /// Whether a walk over the indices in row-major order never steps back in memory, with or
    /// without padding.
    pub in_order: bool,
    /// Whether neighbours on the last axis longer than 1 are neighbours in memory.
    pub inner_packed: bool,
}

impl BufferTensorDesc {
    /// Returns all six facts.
    #[inline]
    #[must_use]
    pub fn facts(&self) -> Facts {
        let walked = Walked::of(self);
        let overlapping = match walked.steps_over {
            true => Some(false),
            // Every offset of the span is used. If each offset were used only once, the strides would nest,
            // and `steps_over` would be true. So two indices share an offset.
            false if !walked.padded => Some(true),
            false => match self.searched_overlap() {
                Overlap::No => Some(false),
                Overlap::Yes { .. } => Some(true),
                Overlap::Undecided => None,
            },
        };
        Facts {
            packed: !walked.padded && overlapping == Some(false),
            broadcast: walked.broadcast,
            padded: walked.padded,
            overlapping,
            in_order: walked.in_order,
            inner_packed: walked.inner_packed,
        }
    }

    /// Whether every offset of the span is used by exactly one index, in any order: a column-major tensor is
    /// packed too. `is_contiguous` of other crates is `packed && in_order` of the [`facts`](Self::facts).
    #[must_use]
    pub fn is_packed(&self) -> bool {
        (self.element_count() == 0 || self.element_count() == self.span_elements().minus(self.base_offset()))
            && !Walked::of(self).padded
    }

    /// Searches for two different indices that share an offset. The result is exact, up to the work limit.
    #[must_use]
    pub fn overlap(&self) -> Overlap {
        if Walked::of(self).steps_over { Overlap::No } else { self.searched_overlap() }
    }

    #[cold]
    fn searched_overlap(&self) -> Overlap {
        let mut result = find_overlap(self.sizes(), self.strides(), OVERLAP_WORK_LIMIT);
        if let Overlap::Yes { offset, .. } = &mut result {
            *offset = offset.plus(self.base_offset());
        }
        result
    }
}

/// What one walk over the axes longer than 1 finds, from the last axis to the first.
struct Walked {
    /// Whether some offset between the first and the last is used by no index. Take the axes by ascending
    /// stride, and let the axes so far use every offset from 0 to `largest`. If the next stride is above
    /// `largest + 1`, the offset `largest + 1` is skipped, and no later axis can use this offset either. A
    /// smaller stride leaves no gap.
    padded: bool,
    /// Whether every stride is larger than the largest offset of all axes with smaller strides. Then no two
    /// indices share an offset.
    steps_over: bool,
    broadcast: bool,
    in_order: bool,
    inner_packed: bool,
}

impl Walked {
    #[inline]
    fn of(desc: &BufferTensorDesc) -> Walked {
        let mut found =
            Walked { padded: false, steps_over: true, broadcast: false, in_order: true, inner_packed: true };
        if desc.element_count() == 0 {
            return found;
        }
        let (mut largest, mut before, mut ascending) = (0_u64, 0_u64, true);
        let mut innermost = true;
        for (&size, &stride) in desc.sizes().iter().zip(desc.strides()).rev() {
            if size == 1 {
                continue;
            }
            found.inner_packed &= !innermost || stride == 1;
            innermost = false;
            ascending &= stride >= before;
            before = stride;
            found.broadcast |= stride == 0;
            found.in_order &= stride >= largest;
            found.steps_over &= stride > largest;
            found.padded |= stride > largest.wrapping_add(1);
            // Invariant 3 of the descriptor bounds the sum over all axes, so the sum cannot overflow.
            largest = largest.wrapping_add(stride.wrapping_mul(size.wrapping_sub(1)));
        }
        if !ascending {
            (found.padded, found.steps_over) = sorted_walk(desc);
        }
        found
    }
}

#[cold]
fn sorted_walk(desc: &BufferTensorDesc) -> (bool, bool) {
    let mut axes: SmallVec<[(u64, u64); 8]> = desc.axes().filter(|&(size, _)| size > 1).collect();
    sort_by_key(&mut axes, |&(_, stride)| stride);
    let (mut padded, mut steps_over, mut largest) = (false, true, 0_u64);
    for (size, stride) in axes {
        padded |= stride > largest.plus(1);
        steps_over &= stride > largest;
        // Invariant 3 of the descriptor bounds the sum over all axes, so the sum cannot overflow.
        largest = largest.plus(stride.times(size.minus(1)));
    }
    (padded, steps_over)
}

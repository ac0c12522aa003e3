//! Packed? broadcast? padded? overlapping? in order? inner-packed? Six independent facts, one truth table.

use crate::checked::Exact;
use smallvec::SmallVec;

use crate::short_sort::sort_by_key;

use super::desc::BufferTensorDesc;
use super::overlap::{OVERLAP_WORK_LIMIT, Overlap, find_overlap};

/// What sizes and strides say about a layout. The facts are independent: a layout can be padded and
/// broadcast at once, and one that is neither can still overlap.
///
/// The strides of size-1 axes are ignored, and so are the base offset and a total size set by hand.
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
    /// The elements fill their span exactly: every offset from the first to the last is used by
    /// exactly one index, in any order: `is_contiguous` of other crates is `packed && in_order`.
    /// (DirectML's page: physical size equals logical size, and no overlap.)
    pub packed: bool,
    /// Some axis longer than 1 has stride 0.
    pub broadcast: bool,
    /// Some offset between the first and the last is used by no index.
    pub padded: bool,
    /// Two different indices share an offset. `None` where a padded layout was not decided within
    /// [`OVERLAP_WORK_LIMIT`] steps.
    pub overlapping: Option<bool>,
    /// Walking the indices in row-major order never steps back in memory, with or without padding.
    pub in_order: bool,
    /// Neighbours on the last axis longer than 1 are neighbours in memory.
    pub inner_packed: bool,
}

impl BufferTensorDesc {
    /// All six facts.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let padded = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?.facts();
    /// assert!(padded.padded && padded.in_order && !padded.packed);
    /// assert_eq!(padded.overlapping, Some(false));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn facts(&self) -> Facts {
        let walked = Walked::of(self);
        let overlapping = match walked.steps_over {
            true => Some(false),
            // There is no gap, but there are more indices than offsets, or equally many and one offset is
            // used twice.
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

    /// Is every offset of the span used by exactly one index? Unlike the `is_contiguous` of other crates,
    /// this does not require row-major order: a column-major tensor is packed too. For both, ask
    /// the [`facts`](Self::facts) `packed` and `in_order`.
    ///
    /// If no offset is skipped there are `span` of them, and each is used once exactly when there
    /// are as many indices.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = |strides: &[u64]| BufferTensorDesc::new(DataType::F32, &[2, 3], Some(strides));
    /// assert!(desc(&[1, 2])?.is_packed() && !desc(&[5, 1])?.is_packed());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn is_packed(&self) -> bool {
        (self.element_count() == 0 || self.element_count() == self.span_elements().minus(self.base_offset()))
            && !Walked::of(self).padded
    }

    /// Do two different indices share an offset? With both indices if so.
    ///
    /// Exact, up to the work limit: see [`Overlap`].
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

/// What one walk over the axes longer than 1 tells, from the last to the first.
struct Walked {
    /// Some offset between the first and the last is used by no index. Take the axes by ascending stride, and
    /// let those seen so far use every offset from 0 to `largest`: a next stride above `largest + 1` skips
    /// that offset, which no later axis can use either, and any smaller stride leaves no gap.
    padded: bool,
    /// Every stride is larger than the largest offset of all axes with smaller strides: no two indices share
    /// an offset.
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
            // Does not wrap: invariant 3 bounds the sum over all axes.
            largest = largest.wrapping_add(stride.wrapping_mul(size.wrapping_sub(1)));
        }
        if !ascending {
            (found.padded, found.steps_over) = sorted_walk(desc);
        }
        found
    }
}

/// `padded` and `steps_over` where the strides do not ascend from the last axis on.
#[cold]
fn sorted_walk(desc: &BufferTensorDesc) -> (bool, bool) {
    let mut axes: SmallVec<[(u64, u64); 8]> = desc.axes().filter(|&(size, _)| size > 1).collect();
    sort_by_key(&mut axes, |&(_, stride)| stride);
    let (mut padded, mut steps_over, mut largest) = (false, true, 0_u64);
    for (size, stride) in axes {
        padded |= stride > largest.plus(1);
        steps_over &= stride > largest;
        // Cannot saturate: invariant 3 bounds the sum over all axes.
        largest = largest.plus(stride.times(size.minus(1)));
    }
    (padded, steps_over)
}

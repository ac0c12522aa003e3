//! `MemoryOrder`: every element offset, ascending.

use crate::checked::Exact;
use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use core::iter::{FusedIterator, Peekable};

use smallvec::SmallVec;

use crate::short_sort::sort_by_key;
use crate::strided::BufferTensorDesc;
use crate::strided::facts::is_in_order;

use super::offsets::Offsets;

/// The offsets of all elements in ascending order, an offset that several indices share as often as
/// there are indices.
///
/// Most layouts only need their axes sorted by stride. Where axes interleave (`[4,4]:[3,4]`), the runs of the
/// inner axes are merged, and as many of them are held as overlap in memory at a time; runs that begin at one
/// offset are held as one.
///
/// ```
/// use tensor_layout::{plan::MemoryOrder, BufferTensorDesc, DataType};
///
/// let transposed = BufferTensorDesc::packed(DataType::F32, &[2, 3])?.transpose(0, 1)?;
/// let offsets: MemoryOrder = transposed.offsets_in_memory_order();
/// assert!(offsets.is_sorted());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryOrder {
    offsets: Counted,
    /// The offset that is being repeated, and how often it still comes.
    current: u64,
    left: u64,
}

/// Ascending offsets, and how many indices are stored at each. An offset may come several times.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "the large variant is the usual one, and a box for it would allocate")]
enum Counted {
    Straight(Offsets),
    Merged(Box<Merged>),
}

#[derive(Debug, Clone)]
struct Merged {
    /// Where the runs start, ascending.
    starts: Peekable<Counted>,
    /// One run, from 0.
    run: Offsets,
    /// The runs under way.
    active: BinaryHeap<Reverse<Run>>,
}

/// Runs that start at one offset.
#[derive(Debug, Clone)]
struct Run {
    /// Their next offset, where they started, and what is left.
    next: u64,
    start: u64,
    rest: Offsets,
    /// How many they are.
    count: u64,
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.next == other.next
    }
}

impl Eq for Run {}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Run {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.next.cmp(&other.next)
    }
}

impl Merged {
    /// Puts runs back with their next offset, unless they are done.
    fn push(&mut self, start: u64, count: u64, mut rest: Offsets) {
        if let Some(offset) = rest.next() {
            // Cannot saturate: the sum is the offset of an index.
            self.active.push(Reverse(Run { next: start.plus(offset), start, rest, count }));
        }
    }

    /// Begins the runs that start at or before the next offset.
    fn begin_runs(&mut self) {
        loop {
            let first = self.active.peek().map(|Reverse(run)| run.next);
            let Some(&(start, _)) = self.starts.peek() else { return };
            if first.is_some_and(|first| start > first) {
                return;
            }
            let mut runs = 0_u64;
            while let Some((_, count)) = self.starts.next_if(|&(other, _)| other == start) {
                // Cannot saturate: together they hold no more than all elements.
                runs = runs.plus(count);
            }
            self.push(start, runs, self.run.clone());
        }
    }
}

impl Iterator for Counted {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let merged = match self {
            Counted::Straight(offsets) => return offsets.next().map(|offset| (offset, 1)),
            Counted::Merged(merged) => merged,
        };
        merged.begin_runs();
        let offset = merged.active.peek().map(|Reverse(run)| run.next)?;
        let (mut indices, mut here) = (0_u64, SmallVec::<[Run; 4]>::new());
        while merged.active.peek().is_some_and(|Reverse(run)| run.next == offset) {
            let Reverse(run) = merged.active.pop()?;
            indices = indices.plus(run.count);
            here.push(run);
        }
        // A run of stride 0 comes again, at the same offset.
        here.into_iter().for_each(|run| merged.push(run.start, run.count, run.rest));
        Some((offset, indices))
    }
}

/// Sizes and strides.
type Axes = SmallVec<[(u64, u64); 8]>;

impl Counted {
    /// For axes that were sorted by stride, the largest first.
    fn new(axes: &[(u64, u64)], base: u64) -> Counted {
        // The longest tail of axes that is in order makes the runs; the others place them.
        let in_order = |from: usize| is_in_order(axes.get(from..).unwrap_or_default().iter().copied());
        let mut from = axes.len().saturating_sub(1);
        while from > 0 && in_order(from.minus(1)) {
            from = from.minus(1);
        }
        let (outer, run) = axes.split_at_checked(from).unwrap_or((axes, &[]));
        if outer.is_empty() {
            return Counted::Straight(Offsets::new(run.iter().copied(), base));
        }
        let (starts, run) = (Counted::new(outer, base).peekable(), Offsets::new(run.iter().copied(), 0));
        Counted::Merged(Box::new(Merged { starts, run, active: BinaryHeap::new() }))
    }
}

impl Iterator for MemoryOrder {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            (self.current, self.left) = self.offsets.next()?;
        }
        self.left = self.left.minus(1);
        Some(self.current)
    }
}

impl FusedIterator for MemoryOrder {}

impl BufferTensorDesc {
    /// The offset of every element along memory, ascending.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[1, 2]))?;
    /// assert_eq!(desc.offsets_in_memory_order().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    /// let interleaved = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[3, 2]))?;
    /// assert_eq!(interleaved.offsets_in_memory_order().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 7]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn offsets_in_memory_order(&self) -> MemoryOrder {
        let sorted = self.in_memory_order();
        let axes: Axes = sorted.sizes().iter().copied().zip(sorted.strides().iter().copied()).collect();
        MemoryOrder { offsets: Counted::new(&axes, sorted.base_offset()), current: 0, left: 0 }
    }

    /// The same elements with the axes sorted: the largest stride first, equal ones as they were, and axes
    /// joined where that became possible. The loops that walk the tensor along memory.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::nhwc(DataType::F32, [2, 3, 4, 5])?.in_memory_order();
    /// assert_eq!((desc.sizes(), desc.strides()), (&[120][..], &[1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn in_memory_order(&self) -> Self {
        let mut axes: Axes = self.sizes().iter().copied().zip(self.strides().iter().copied()).collect();
        axes.retain(|&mut (size, _)| size != 1);
        sort_by_key(&mut axes, |&(_, stride)| Reverse(stride));
        self.with_axes(axes.into_iter().collect()).coalesce()
    }
}

//! `MemoryOrder`: every element offset, ascending.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::{FusedIterator, Peekable};

use smallvec::SmallVec;

use crate::error::Error;
use crate::strided::BufferTensorDesc;

use super::offsets::Offsets;

/// The offsets of all elements in ascending order, an offset that several indices share as often as
/// there are indices.
///
/// Most layouts only need their axes sorted by stride. Where axes interleave (`[4,4]:[3,4]`), the runs
/// of the inner axes are merged, and as many of them are held as overlap in memory at a time.
#[derive(Debug, Clone)]
pub struct MemoryOrder(Order);

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "the large variant is the usual one, and a box for it would allocate")]
enum Order {
    Straight(Offsets),
    Merged(Box<Merged>),
}

#[derive(Debug, Clone)]
struct Merged {
    /// Where the runs start, ascending.
    starts: Peekable<MemoryOrder>,
    /// One run, from 0.
    run: Offsets,
    /// The runs under way: their next offset, where they started, and what is left.
    active: BinaryHeap<Reverse<Run>>,
}

#[derive(Debug, Clone)]
struct Run {
    next: u64,
    start: u64,
    rest: Offsets,
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.next == other.next
    }
}

impl Eq for Run {}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Run {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.next.cmp(&other.next)
    }
}

impl Merged {
    /// Puts a run back with its next offset, unless it is done.
    fn push(&mut self, start: u64, mut rest: Offsets) {
        if let Some(offset) = rest.next() {
            // Cannot saturate: the sum is the offset of an index.
            self.active.push(Reverse(Run { next: start.saturating_add(offset), start, rest }));
        }
    }
}

impl Iterator for MemoryOrder {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let merged = match &mut self.0 {
            Order::Straight(offsets) => return offsets.next(),
            Order::Merged(merged) => merged,
        };
        loop {
            let first = merged.active.peek().map(|Reverse(run)| run.next);
            match merged.starts.peek() {
                Some(&start) if first.is_none_or(|first| start <= first) => {
                    merged.starts.next();
                    let run = merged.run.clone();
                    merged.push(start, run);
                }
                _ => break,
            }
        }
        let Reverse(run) = merged.active.pop()?;
        merged.push(run.start, run.rest);
        Some(run.next)
    }
}

impl FusedIterator for MemoryOrder {}

impl BufferTensorDesc {
    /// The offset of every element along memory, ascending.
    ///
    /// # Errors
    ///
    /// None for the tensors there are; the signature is that of the views it is made from.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[1, 2]))?;
    /// assert_eq!(desc.offsets_in_memory_order()?.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    /// let interleaved = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[3, 2]))?;
    /// assert_eq!(interleaved.offsets_in_memory_order()?.collect::<Vec<_>>(), [0, 2, 3, 4, 5, 7]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn offsets_in_memory_order(&self) -> Result<MemoryOrder, Error> {
        let sorted = self.in_memory_order()?;
        if sorted.is_in_order() {
            return Ok(MemoryOrder(Order::Straight(sorted.offsets())));
        }
        // The longest tail of axes that is in order makes the runs; the others place them.
        let all: SmallVec<[Option<usize>; 8]> = (0..sorted.rank()).map(Some).collect();
        let tail = |from: usize| sorted.gather_axes(all.get(from..).unwrap_or_default());
        let mut from = sorted.rank().saturating_sub(1);
        while from > 1 && tail(from.saturating_sub(1))?.is_in_order() {
            from = from.saturating_sub(1);
        }
        let starts = sorted.gather_axes(all.get(..from).unwrap_or_default())?.offsets_in_memory_order()?;
        let run = tail(from)?.with_base_offset(0)?.offsets();
        Ok(MemoryOrder(Order::Merged(Box::new(Merged { starts: starts.peekable(), run, active: BinaryHeap::new() }))))
    }

    /// The same elements with the axes sorted: the largest stride first, equal ones as they were, and axes
    /// joined where that became possible. The loops that walk the tensor along memory.
    ///
    /// # Errors
    ///
    /// None for the tensors there are; the signature is that of the views it is made from.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::nhwc(DataType::F32, [2, 3, 4, 5])?.in_memory_order()?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[120][..], &[1][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn in_memory_order(&self) -> Result<Self, Error> {
        let mut axes: SmallVec<[usize; 8]> =
            (0..self.rank()).filter(|&axis| self.sizes().get(axis) != Some(&1)).collect();
        axes.sort_by_key(|&axis| Reverse(self.strides().get(axis).copied()));
        let sorted: SmallVec<[Option<usize>; 8]> = axes.into_iter().map(Some).collect();
        self.gather_axes(&sorted)?.coalesce()
    }
}

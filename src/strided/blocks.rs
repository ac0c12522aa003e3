//! `Blocks`: a tensor as contiguous blocks of memory.

use crate::checked::Exact;
use core::iter::FusedIterator;
use core::ops::Range;

use super::desc::BufferTensorDesc;
use super::offsets::Offsets;

/// The contiguous blocks that the elements of a tensor fill, in row-major order. All offsets and lengths are
/// in elements. Each of the four variants needs another kind of copy.
///
/// ```
/// use tensor_layout::{strided::Blocks, BufferTensorDesc, DataType};
///
/// let whole = BufferTensorDesc::packed(DataType::F32, &[4, 6])?;
/// assert_eq!(whole.blocks(), Blocks::Single(0..24));
/// let columns = whole.slice_axis(1, 1..3)?;
/// assert_eq!(columns.blocks().into_iter().collect::<Vec<_>>(), [1..3, 7..9, 13..15, 19..21]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocks {
    /// The tensor has no elements.
    Empty,
    /// The tensor is one contiguous block, given as a range of offsets.
    Single(Range<u64>),
    /// Blocks of equal length, a constant stride apart.
    Uniform(UniformBlocks),
    /// Blocks of equal length whose starts are not one constant stride apart, so that a copy needs nested
    /// loops.
    Many(ManyBlocks),
}

/// `count` blocks of `length` elements. The first block begins at `start`, and the blocks are `stride`
/// elements apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniformBlocks {
    /// The offset where the first block begins, in elements.
    pub start: u64,
    /// The number of blocks.
    pub count: u64,
    /// The distance between the starts of neighbouring blocks, in elements.
    pub stride: u64,
    /// The length of each block, in elements.
    pub length: u64,
}

/// Blocks of `length` elements whose starts are not one constant stride apart. A copy needs nested loops.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManyBlocks {
    /// The length of each block, in elements.
    pub length: u64,
    /// The offsets where the blocks begin, in row-major order.
    pub starts: Offsets,
}

/// Iterates over the blocks of [`Blocks`] in row-major order.
#[derive(Debug, Clone)]
pub struct BlockIter(Starts);

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a box for the large variant would allocate")]
enum Starts {
    Uniform(UniformBlocks),
    Many(ManyBlocks),
}

impl Iterator for BlockIter {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        // No block ends past the span, which fits 64 bits, so the sums cannot overflow.
        match &mut self.0 {
            Starts::Uniform(blocks) => {
                blocks.count = blocks.count.checked_sub(1)?;
                let start = blocks.start;
                // The start after the last block may not fit 64 bits, but this start is never used.
                blocks.start = start.saturating_add(blocks.stride);
                Some(start..start.plus(blocks.length))
            }
            Starts::Many(blocks) => {
                let start = blocks.starts.next()?;
                Some(start..start.plus(blocks.length))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Starts::Uniform(blocks) => {
                let left = usize::try_from(blocks.count);
                (left.unwrap_or(usize::MAX), left.ok())
            }
            Starts::Many(blocks) => blocks.starts.size_hint(),
        }
    }
}

impl FusedIterator for BlockIter {}

impl IntoIterator for Blocks {
    type Item = Range<u64>;
    type IntoIter = BlockIter;

    fn into_iter(self) -> BlockIter {
        BlockIter(match self {
            Blocks::Empty => Starts::Uniform(UniformBlocks { start: 0, count: 0, stride: 0, length: 0 }),
            Blocks::Single(Range { start, end }) => {
                Starts::Uniform(UniformBlocks { start, count: 1, stride: 0, length: end.minus(start) })
            }
            Blocks::Uniform(blocks) => Starts::Uniform(blocks),
            Blocks::Many(blocks) => Starts::Many(blocks),
        })
    }
}

impl BufferTensorDesc {
    /// Returns the contiguous blocks that the elements fill in row-major order. Each block is as
    /// long as possible.
    #[must_use]
    pub fn blocks(&self) -> Blocks {
        if self.element_count() == 0 {
            return Blocks::Empty;
        }
        let loops = self.coalesce();
        let axes = loops.axes();
        let (length, outer) = match axes.clone().next_back() {
            Some((size, 1)) => (size, loops.rank().minus(1)),
            _ => (1, loops.rank()),
        };
        let start = self.base_offset();
        let outer = axes.take(outer);
        let mut one_by_one = outer.clone();
        match (one_by_one.next(), one_by_one.next()) {
            (None, _) => Blocks::Single(start..start.plus(length)),
            (Some((count, stride)), None) => Blocks::Uniform(UniformBlocks { start, count, stride, length }),
            _ => Blocks::Many(ManyBlocks { length, starts: Offsets::new(outer, start) }),
        }
    }
}

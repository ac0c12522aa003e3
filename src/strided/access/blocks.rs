//! `Blocks`: a tensor as stretches of memory without a gap.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::error::Error;
use crate::strided::BufferTensorDesc;

use super::offsets::Offsets;

/// The stretches of memory that a tensor's elements fill one after the other in row-major order,
/// in elements. What a copy does depends on which of the three it is.
///
/// It is an iterator over the stretches, too.
///
/// ```
/// use tensor_layout::{strided::Blocks, BufferTensorDesc, DataType};
///
/// let whole = BufferTensorDesc::packed(DataType::F32, &[4, 6])?;
/// assert_eq!(whole.blocks()?, Blocks::Single(Some(0..24)));
/// let columns = whole.slice_axis(1, 1..3)?;
/// assert_eq!(columns.blocks()?.collect::<Vec<_>>(), [1..3, 7..9, 13..15, 19..21]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Blocks {
    /// One stretch, or none if there are no elements (or no more).
    Single(Option<Range<u64>>),
    /// Stretches of one length at one distance.
    Uniform(UniformBlocks),
    /// Stretches of one length whose starts need more than one loop.
    Many {
        /// The length of each, in elements.
        length: u64,
        /// Where they start.
        starts: Offsets,
    },
}

/// `count` stretches of `length` elements, the first at `start`, each `stride` after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniformBlocks {
    /// Where the first one begins.
    pub start: u64,
    /// How many there are.
    pub count: u64,
    /// From one start to the next.
    pub stride: u64,
    /// The length of each.
    pub length: u64,
}

impl PartialEq for Blocks {
    /// Are they the same stretches in the same order?
    fn eq(&self, other: &Self) -> bool {
        self.clone().eq_by_items(other.clone())
    }
}

impl Blocks {
    fn eq_by_items(self, other: Blocks) -> bool {
        Iterator::eq(self, other)
    }
}

impl Iterator for Blocks {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        // No stretch ends past the span, which fits 64 bits: nothing saturates.
        match self {
            Blocks::Single(range) => range.take(),
            Blocks::Uniform(blocks) => {
                blocks.count = blocks.count.checked_sub(1)?;
                let start = blocks.start;
                blocks.start = start.saturating_add(blocks.stride);
                Some(start..start.saturating_add(blocks.length))
            }
            Blocks::Many { length, starts } => {
                let start = starts.next()?;
                Some(start..start.saturating_add(*length))
            }
        }
    }
}

impl FusedIterator for Blocks {}

impl BufferTensorDesc {
    /// The stretches of memory that the elements fill in row-major order, each as long as it can be
    /// (as long as [`inner_run`](Self::inner_run)).
    ///
    /// # Errors
    ///
    /// None for the tensors there are; the signature is that of the views it is made from.
    pub fn blocks(&self) -> Result<Blocks, Error> {
        if self.logical_elements() == 0 {
            return Ok(Blocks::Single(None));
        }
        let mut outer = self.coalesce()?;
        let mut length = 1;
        if let (Some(&size), Some(1)) = (outer.sizes().last(), outer.strides().last()) {
            length = size;
            outer = outer.select(outer.rank().saturating_sub(1), 0)?;
        }
        let start = outer.base_offset();
        Ok(match (outer.sizes(), outer.strides()) {
            ([], _) => Blocks::Single(Some(start..start.saturating_add(length))),
            (&[count], &[stride]) => Blocks::Uniform(UniformBlocks { start, count, stride, length }),
            _ => Blocks::Many { length, starts: outer.offsets() },
        })
    }
}

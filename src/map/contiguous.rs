//! Finds the parts of a tensor that are contiguous in memory.

use alloc::vec::Vec;
use core::ops::Range;

use crate::checked::{self, Dims, Exact, OFFSET};
use crate::error::Error;
use crate::strided::Slice;

use super::digits::{Digit, reach, whole_blocks};
use super::index_map::{Component, IndexMap};
use super::injective::digits_nest;

/// The most elements whose offsets are computed one by one, if the digits do not decide the question. For a
/// larger part, the result is [`Error::Undecided`].
const SEARCH_LIMIT: u64 = 1 << 20;

impl IndexMap {
    /// Returns the range of offsets, in elements, that the part of the tensor inside `ranges` takes, if the
    /// elements of the part fill the range. Otherwise returns `None`.
    ///
    /// Every element of a contiguous part has an offset of its own. If elements of the part share an offset
    /// (broadcast dimensions, overlapping strides), the result is `None`. The result is exact. If the strides
    /// nest, as in all tiled layouts, the smallest and the largest offset decide. Otherwise the function
    /// computes the offset of every element of the part.
    ///
    /// # Errors
    ///
    /// [`RankMismatch`](crate::ArgumentRule) if there is not one range for each dimension.
    /// [`IndexOutOfRange`](crate::ArgumentRule) for a range past the sizes. [`Error::OutOfLimits`] for an end
    /// before its start. [`Error::Undecided`] for a part of more than a million elements, if the layout is
    /// Fused or Irreducible or its strides do not nest.
    ///
    /// ```
    /// use tensor_layout::{map::ToIndexMap, ArrayShape};
    ///
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
    /// // A row band of 8 is one row of tiles; a single row is scattered over two tiles.
    /// assert_eq!(map.contiguous_part(&[8..16, 0..256])?, Some(2048..4096));
    /// assert_eq!(map.contiguous_part(&[8..9, 0..256])?, None);
    /// assert_eq!(map.contiguous_part(&[9..10, 0..128])?, Some(2176..2304));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn contiguous_part(&self, ranges: &[Range<u64>]) -> Result<Option<Range<u64>>, Error> {
        let taken = self.taken("ranges", ranges.iter().map(|range| Slice::from(range.clone())))?;
        let lengths: Dims = taken.iter().map(|taken| taken.length).collect();
        let elements = checked::product(&lengths, OFFSET)?;
        if elements == 0 {
            return Ok(Some(0..0));
        }
        let separable = self.levels.is_none() && self.components.iter().all(|component| component.dims().len() == 1);
        if separable {
            let (reach, varying) = self.extremes_by_digits(ranges)?;
            let repeats = varying.iter().filter_map(|component| component.chain.digits().last());
            if reach.end.minus(reach.start) != elements || repeats.into_iter().any(|digit| digit.stride == 0) {
                return Ok(None);
            }
            // If the digits nest, no two elements share an offset, so the elements take every
            // offset of the range.
            if digits_nest(varying) {
                return Ok(Some(reach));
            }
        }
        self.part_by_search(ranges, elements)
    }

    /// Returns the range of offsets of a part that is not empty. Also returns the components that take more
    /// than one value in this part.
    fn extremes_by_digits(&self, ranges: &[Range<u64>]) -> Result<(Range<u64>, Vec<&Component>), Error> {
        let (mut low, mut high) = (self.base(), self.base());
        let mut varying = Vec::new();
        for component in &self.components {
            let range = component.dims().first().and_then(|&dim| ranges.get(dim));
            let (start, end) = range.map_or((0, 1), |range| (range.start, range.end));
            let digits = component.chain.digits();
            let (least, most) = extremes(digits, &whole_blocks(digits), start, end);
            (low, high) = (checked::add(low, least, OFFSET)?, checked::add(high, most, OFFSET)?);
            if end.minus(start) > 1 {
                varying.push(component);
            }
        }
        Ok((low..checked::add(high, 1, OFFSET)?, varying))
    }

    /// Computes [`contiguous_part`](Self::contiguous_part) from the offset of every element.
    fn part_by_search(&self, ranges: &[Range<u64>], elements: u64) -> Result<Option<Range<u64>>, Error> {
        if elements > SEARCH_LIMIT {
            return Err(Error::Undecided { question: "whether a part is in one piece", work: SEARCH_LIMIT });
        }
        let (mut low, mut high) = (u64::MAX, 0);
        self.each_offset(ranges, |offset| (low, high) = (low.min(offset), high.max(offset)));
        let end = checked::add(high, 1, OFFSET)?;
        if end.minus(low) != elements {
            return Ok(None);
        }
        Ok(self.held(ranges, low, elements)?.iter().all(|&held| held).then_some(low..end))
    }
}

/// Returns the smallest and the largest value of a chain on `start..end`. The range must not be empty, and
/// `blocks` are the [`whole_blocks`] of the digits.
///
/// At most the first and the last block are partial. One of them takes a recursive call and the other a call
/// of `reach`, so k digits take k^2 steps.
pub(super) fn extremes(digits: &[Digit], blocks: &[u64], start: u64, end: u64) -> (u64, u64) {
    let (Some((digit, below)), Some((_, inner))) = (digits.split_first(), blocks.split_first()) else { return (0, 0) };
    let (divisor, stride) = (digit.divisor.get(), digit.stride);
    let last = end.minus(1);
    let split = |number: u64| (number.divided_by(divisor), number.modulo(divisor));
    let ((first_block, from), (last_block, to)) = (split(start), split(last));
    // By invariant 1 of the index map, both sums fit 64 bits.
    let at = |block: u64, (low, high): (u64, u64)| {
        let moved = block.times(stride);
        (moved.plus(low), moved.plus(high))
    };
    let past_to = to.plus(1);
    if first_block == last_block {
        return at(first_block, extremes(below, inner, from, past_to));
    }
    // In a whole block, the lower digits have the smallest value 0, in the first number of the block.
    let whole = (0, inner.first().copied().unwrap_or(0));
    let first = if from == 0 { whole } else { extremes(below, inner, from, divisor) };
    let mut found = at(first_block, first);
    let mut include = |(low, high): (u64, u64)| found = (found.0.min(low), found.1.max(high));
    include(at(last_block, (0, reach(below, inner, past_to))));
    let (next, previous) = (first_block.plus(1), last_block.minus(1));
    if next <= previous {
        include(at(next, whole));
        include(at(previous, whole));
    }
    found
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test that panics has failed")]
mod tests;

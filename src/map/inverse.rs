//! Finds the index that is stored at an offset.

use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{Dims, Proven, nth_or_panic};
use crate::error::{Code, Error};
use crate::short_sort::sort_by_key;

use super::index_map::{Component, IndexMap};
use super::levels::unfuse_into;

/// The most search steps of [`IndexMap::inverse`]. Past this limit, the function returns
/// `undecided`. Layouts whose strides nest need one or two steps for each digit. These are all tiled
/// layouts, and all strided layouts without overlap between axes.
const INVERSE_WORK_LIMIT: u64 = 100_000;

impl IndexMap {
    /// Returns the index that is stored at `offset`, or `None` for padding. If several indices are stored
    /// there (broadcast, overlap), the function returns one of them, with index 0 on broadcast axes.
    ///
    /// **Post-condition** (`offsets_inverse_and_size_are_the_literal_ones`): the offset of the index is
    /// `offset`; `None` means that no index has this offset.
    ///
    /// # Errors
    ///
    /// `offset_out_of_range` for an offset at or past the physical size.
    /// `undecided` if strides that do not nest need more than 100,000 steps.
    pub fn inverse(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        if offset >= self.physical_elements {
            return Err(Code::OffsetOutOfRange.for_value(offset, self.physical_elements));
        }
        if self.element_count() == 0 {
            return Ok(None);
        }
        let offset = self.swizzle.as_ref().map_or(offset, |swizzle| swizzle.undo(offset));
        let Some(rest) = offset.checked_sub(self.base) else { return Ok(None) };
        if let Some(levels) = &self.levels {
            return Ok(levels.inverse(rest).map(Dims::into_vec));
        }
        let mut search = Search::new(&self.components, rest);
        if !search.solve(0, rest)? {
            return Ok(None);
        }
        let mut index = vec![0; self.sizes.len()];
        for (component, &number) in self.components.iter().zip(&search.numbers) {
            let bounds: Dims = component.dims.iter().filter_map(|&dim| self.sizes.get(dim).copied()).collect();
            unfuse_into(&mut index, component.dims.iter().copied(), &bounds, number);
        }
        Ok(Some(index))
    }
}

struct Unknown {
    component: usize,
    divisor: u64,
    stride: u64,
    /// The largest value of the digit.
    most: u64,
    /// The largest offset that all digits with smaller strides reach together.
    below: u64,
}

/// A search that tries the values of all digits, the largest stride first, as long as the offset allows them.
struct Search<'a> {
    components: &'a [Component],
    unknowns: SmallVec<[Unknown; 12]>,
    /// The number of each component, from the digits that are chosen so far.
    numbers: Dims,
    target: u64,
    left: u64,
}

impl<'a> Search<'a> {
    fn new(components: &'a [Component], target: u64) -> Search<'a> {
        let mut unknowns: SmallVec<[Unknown; 12]> = SmallVec::new();
        for (place, component) in components.iter().enumerate() {
            let moving = component.counted_digits().filter(|(digit, _)| digit.stride > 0);
            unknowns.extend(moving.map(|(digit, count)| Unknown {
                component: place,
                divisor: digit.divisor.get(),
                stride: digit.stride,
                most: count.minus(1),
                below: 0,
            }));
        }
        sort_by_key(&mut unknowns, |unknown| core::cmp::Reverse(unknown.stride));
        let mut sum = 0_u64;
        for unknown in unknowns.iter_mut().rev() {
            unknown.below = sum;
            // The sum may be too large, because the digits of a ragged chain cannot all be at their largest
            // at once.
            sum = sum.saturating_add(unknown.stride.saturating_mul(unknown.most));
        }
        let numbers = Dims::from_elem(0, components.len());
        Search { components, unknowns, numbers, target, left: INVERSE_WORK_LIMIT }
    }

    fn solve(&mut self, depth: usize, rest: u64) -> Result<bool, Error> {
        let Some(&Unknown { component, divisor, stride, most, below }) = self.unknowns.get(depth) else {
            return Ok(rest == 0 && self.is_found());
        };
        let before = nth_or_panic(&self.numbers, component);
        let high = rest.divided_by(stride).min(most);
        let low = rest.saturating_sub(below).div_ceil(stride);
        let mut value = high;
        while value >= low {
            self.left = self
                .left
                .checked_sub(1)
                .ok_or_else(|| Error::undecided("which index is stored at an offset", INVERSE_WORK_LIMIT))?;
            // By invariant 1 of the index map, the products fit 64 bits: the value is at most `most`, so the
            // number is below its extent. Only in a partial top block the number may be larger, and
            // `is_found` refuses it.
            let (part, moved) = (value.times(divisor), value.times(stride));
            self.set(component, before.plus(part));
            if self.solve(depth.plus(1), rest.minus(moved))? {
                return Ok(true);
            }
            self.set(component, before);
            let Some(next) = value.checked_sub(1) else { break };
            value = next;
        }
        Ok(false)
    }

    fn set(&mut self, component: usize, number: u64) {
        if let Some(slot) = self.numbers.get_mut(component) {
            *slot = number;
        }
    }

    /// Whether the chosen digits form a number below the extent of each component, and whether the index of
    /// these numbers is stored at the target offset.
    ///
    /// In a ragged chain, or in a partial top block, not every combination of digits is a number. The search
    /// reaches every combination that is a number, so no index is missed. This test refuses all other
    /// combinations.
    fn is_found(&self) -> bool {
        let mut offset = 0_u64;
        self.components.iter().zip(&self.numbers).all(|(component, &number)| {
            let inside = number < component.extent;
            if inside {
                // By invariant 1 of the index map, the sum fits 64 bits.
                offset = offset.plus(component.chain.at(number));
            }
            inside
        }) && offset == self.target
    }
}

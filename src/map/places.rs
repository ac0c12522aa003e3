//! The parts of a map, for back ends that evaluate it by their own means: its components, its tiles, and its
//! digits as places of its offsets.

use crate::short_sort::sort_by_key;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::digits::Digit;
use super::index_map::{Component, IndexMap};
use super::levels::TileLevels;

/// One digit of a layout, seen from the buffer: `count` values, `stride` elements apart.
///
/// It is the digit `number / divisor` of a component's number, once the digits with larger divisors are taken
/// away.
///
/// ```
/// use tensor_layout::{plan::DigitPlace, BufferTensorDesc, ToIndexMap};
///
/// let rows: BufferTensorDesc = "f32[2,3]:[5,1]".parse()?;
/// let places: Vec<DigitPlace> = rows.to_index_map()?.digit_places();
/// assert_eq!((places[0].stride, places[0].count, places[0].component), (5, 2, 0));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DigitPlace {
    /// How far one unit of the digit moves, in elements: 0 where the tensor is repeated.
    pub stride: u64,
    /// How many values the digit takes: at least 2.
    pub count: u64,
    /// The position in [`IndexMap::components`] of the component that it belongs to.
    pub component: usize,
    /// What one unit of the digit is worth in the component's number.
    pub divisor: u64,
}

impl IndexMap {
    /// The digit chains, one for each dimension (or fused dimensions) longer than 1: none for an
    /// Irreducible layout, which is evaluated level by level.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    ///
    /// let map = "bf16[16,256]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?.to_index_map()?;
    /// // Rows are interleaved in pairs: a row is 2 * 128 elements of each pair.
    /// let rows = map.components()[0].chain.digits();
    /// assert_eq!(rows.iter().map(|digit| digit.stride).collect::<Vec<_>>(), [2048, 256, 1]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The tiles, for an Irreducible layout; `None` for any other, whose digits say it all.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    ///
    /// let map = "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}".parse::<ArrayShape>()?.to_index_map()?;
    /// assert_eq!(map.levels().map(|tiles| tiles.levels().len()), Some(2));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn levels(&self) -> Option<&TileLevels> {
        self.levels.as_deref()
    }

    /// The digits of all components, the largest stride first. An Irreducible layout has none.
    ///
    /// They take an offset apart: subtract the [base](Self::base), and divide by each stride in turn. That
    /// finds the only candidate wherever all places with smaller strides together reach less far than one
    /// step of each, as in every tiled layout and in strides that do not interleave. An element is stored
    /// there if nothing is left, no digit reaches its count, each component's number (the sum of its digits
    /// times their divisors) is below its extent, and in a ragged chain what the digits below each one are
    /// worth together is less than its divisor.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    ///
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
    /// let places = map.digit_places();
    /// let of = |component| places.iter().filter(move |p| p.component == component).map(|p| (p.stride, p.count, p.divisor));
    /// assert_eq!(of(0).collect::<Vec<_>>(), [(2048, 2, 8), (128, 8, 1)]);
    /// assert_eq!(of(1).collect::<Vec<_>>(), [(1024, 2, 128), (1, 128, 1)]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn digit_places(&self) -> Vec<DigitPlace> {
        let mut places = Vec::new();
        for (component, part) in self.components.iter().enumerate() {
            places.extend(part.counted_digits().map(|(Digit { divisor, stride }, count)| DigitPlace {
                stride,
                count,
                component,
                divisor: divisor.get(),
            }));
        }
        sort_by_key(&mut places, |place| Reverse(place.stride));
        places
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test that panics has failed")]
mod tests;

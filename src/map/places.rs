//! The parts of a map, for back ends that evaluate the map on their own: components, tiles, and digits in the
//! order of memory.

use crate::short_sort::sort_by_key;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::digits::Digit;
use super::index_map::{Component, IndexMap};
use super::levels::TileLevels;

/// One digit of a layout, seen from the buffer: `count` values that are `stride` elements apart.
///
/// The digit is `number / divisor` for the number of a component, after the digits with larger divisors are
/// taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DigitPlace {
    /// The distance between neighbouring values of the digit, in elements. A digit of stride 0 repeats
    /// elements.
    pub stride: u64,
    /// The number of values of the digit, at least 2.
    pub count: u64,
    /// The position of the digit's component in [`IndexMap::components`].
    pub component: usize,
    /// The weight of one unit of the digit in the component's number.
    pub divisor: u64,
}

impl IndexMap {
    /// The digit chains, one for each dimension (or for fused dimensions) longer than 1. An Irreducible
    /// layout has no chains and is evaluated level by level.
    ///
    /// The method needs the feature `plan`.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The tiles of an Irreducible layout. `None` for all other layouts, which digits describe completely.
    ///
    /// The method needs the feature `plan`.
    #[must_use]
    pub fn levels(&self) -> Option<&TileLevels> {
        self.levels.as_deref()
    }

    /// The digits of all components, the largest stride first. An Irreducible layout has no digits.
    ///
    /// The method needs the feature `plan`.
    ///
    /// The digits take an offset apart: undo the [swizzle](Self::swizzle) if there is one, subtract the
    /// [base](Self::base), then divide by each stride, the
    /// largest first. The result is the only candidate if one step of each digit is longer than the reach of
    /// all smaller strides together. This holds for every tiled layout, and for strides that do not
    /// interleave. An element is stored at the offset if four conditions hold:
    ///
    /// * The remainder is 0.
    /// * Every digit is below its count.
    /// * The number of each component is below its extent. The number is the sum of the digits times their
    ///   divisors.
    /// * In a ragged chain, the digits below each digit are together worth less than its divisor.
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

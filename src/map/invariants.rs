//! Checks the invariants of every index map, in debug builds.
//!
//! The numbers in the messages refer to the invariants of the [module](super).
#![allow(
    clippy::arithmetic_side_effects,
    reason = "sums and products of 64-bit numbers in 128 bits, a few dozen of them"
)]

use alloc::format;
use alloc::string::String;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked;

use super::digits::Chain;
use super::index_map::{Component, IndexMap};

impl IndexMap {
    /// Returns the map. In a debug build, a map that breaks an invariant stops the program. Every constructor
    /// and every view calls this function last.
    #[track_caller]
    pub(super) fn checked(self) -> IndexMap {
        // Where steps are counted, they are those of a release build.
        if !cfg!(count_steps) {
            debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        }
        self
    }

    pub(super) fn broken_invariant(&self) -> Option<String> {
        let empty = self.sizes.contains(&0);
        let live = |dim: usize| !empty && self.sizes.get(dim).is_some_and(|&size| size > 1);
        if checked::product(&self.sizes, checked::ELEMENTS).is_err() {
            return Some("the product of the sizes passes 64 bits".into());
        }
        if checked::bytes_for(self.physical_elements, self.element_bits).is_err() {
            return Some("1: the physical size in bytes passes 64 bits".into());
        }
        if empty && (self.base != 0 || !self.components.is_empty() || self.levels.is_some()) {
            return Some("3: an empty tensor has an offset".into());
        }
        if let Some(levels) = &self.levels {
            let end = u128::from(self.base) + u128::from(levels.elements);
            return if !self.components.is_empty() {
                Some("3: there are components besides tile levels".into())
            } else if levels.order.len() != self.sizes.len()
                || (0..self.sizes.len()).any(|dim| !levels.order.contains(&dim))
            {
                Some("3: the tile levels name other dimensions".into())
            } else {
                (end > self.physical_elements.into()).then(|| "1: the tiles reach past the physical size".into())
            };
        }
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.sizes.len());
        let mut last = u128::from(self.base);
        for component in self.components.iter() {
            for &dim in &component.dims {
                let Some(slot) = seen.get_mut(dim).filter(|slot| live(dim) && !**slot) else {
                    return Some(format!("3: dimension {dim} does not exist, has size 1, or is in two components"));
                };
                *slot = true;
            }
            if let Some(broken) = broken_component(component, &self.sizes) {
                return Some(broken);
            }
            last += u128::from(component.chain.largest(component.extent));
        }
        if let Some(dim) = seen.iter().enumerate().position(|(dim, &seen)| live(dim) && !seen) {
            return Some(format!("3: dimension {dim} is in no component"));
        }
        let first = |component: &Component| component.dims.first().copied();
        if !self.components.iter().map(first).is_sorted() {
            return Some("3: the components are not sorted by their first dimensions".into());
        }
        let block = self.swizzle().map_or(1, |swizzle| u128::from(swizzle.block()));
        let last = last / block * block + block - 1;
        (!empty && last >= self.physical_elements.into()).then(|| format!("1: an element is at offset {last}"))
    }
}

fn broken_component(component: &Component, sizes: &[u64]) -> Option<String> {
    let product =
        |dims: &[usize]| dims.iter().filter_map(|&dim| sizes.get(dim)).map(|&size| u128::from(size)).product();
    let extent: u128 = product(&component.dims);
    if component.dims.is_empty() || extent != component.extent.into() {
        return Some(format!("3: the extent {} of {:?} is not {extent}", component.extent, component.dims));
    }
    // Dimensions that can be separated must have components of their own.
    let apart = (1..component.dims.len()).find(|&place| {
        let width = component.dims.get(place..).map_or(0, product);
        let width = u64::try_from(width).ok().and_then(NonZeroU64::new);
        width.is_some_and(|width| component.chain.cut(width).is_some())
    });
    if let Some(place) = apart {
        return Some(format!("3: the dimensions {:?} separate at {place}", component.dims));
    }
    broken_chain(&component.chain, component.extent)
}

fn broken_chain(chain: &Chain, extent: u64) -> Option<String> {
    let mut above = extent;
    let mut stride_above = None;
    for digit in chain.digits() {
        let divisor = digit.divisor.get();
        if divisor >= above {
            return Some(format!("2: the divisors of {chain:?} do not descend from {extent}"));
        }
        let ratio = above.checked_div(divisor).filter(|_| above.is_multiple_of(divisor));
        if let (Some(stride), Some(ratio)) = (stride_above, ratio)
            && digit.stride.checked_mul(ratio) == Some(stride)
        {
            return Some(format!("2: a boundary of {chain:?} can be left out"));
        }
        (above, stride_above) = (divisor, Some(digit.stride));
    }
    let ends_with_one = chain.digits().last().is_some_and(|last| last.divisor.get() == 1);
    (!ends_with_one).then(|| format!("2: {chain:?} does not fit an extent of {extent}"))
}

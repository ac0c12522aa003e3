//! Checks the invariants of every index map, and of the boxes of every pair of layouts, in debug builds.
//!
//! The numbers in the messages refer to the invariants of the [module](super) and of [`BoxGroups`].
#![allow(
    clippy::arithmetic_side_effects,
    reason = "sums and products of 64-bit numbers in 128 bits, a few dozen of them"
)]

use alloc::format;
use alloc::string::String;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked;

use super::boxes::BoxGroups;
use super::digits::Chain;
use super::index_map::{Component, IndexMap};
use super::refine::Loop;

impl IndexMap {
    /// Returns the map. In a debug build, a map that breaks an invariant stops the program. Every constructor
    /// and every view calls this function last.
    #[track_caller]
    pub(super) fn checked(self) -> IndexMap {
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        self
    }

    /// The first invariant that does not hold, in words. `None` if all invariants hold.
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
        for component in &self.components {
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
        (!empty && last >= self.physical_elements.into()).then(|| format!("1: an element is at offset {last}"))
    }
}

impl BoxGroups {
    /// Returns the boxes. In a debug build, boxes that break an invariant of [`BoxGroups`] stop the program.
    #[track_caller]
    pub(super) fn checked(self, source: &IndexMap, destination: &IndexMap) -> BoxGroups {
        debug_assert_eq!(self.broken_invariant(source, destination), None, "{source:?} to {destination:?}");
        self
    }

    fn broken_invariant(&self, source: &IndexMap, destination: &IndexMap) -> Option<String> {
        let mut rest = self.segments.list.as_slice();
        let mut elements = 1_u128;
        let mut spans = (Span::at(self.source), Span::at(self.destination));
        for &group in &self.groups {
            let (own, after) = rest.split_at_checked(group)?;
            rest = after;
            let mut number = 0_u128;
            let mut reached: Option<(Span, Span)> = None;
            for segment in own {
                let mut span = (Span::at(segment.source), Span::at(segment.destination));
                let mut steps = 1_u128;
                for step in &segment.loops {
                    let last = i128::from(step.extent()) - 1;
                    match step {
                        Loop::Strided { source, destination, .. } => {
                            span.0.last += last * i128::from(*source);
                            span.1.last += last * i128::from(*destination);
                        }
                        Loop::Reversed { source, destination, .. } => {
                            span.0.first -= last * i128::from(*source);
                            span.1.last += last * i128::from(*destination);
                        }
                        Loop::Table(entries) => {
                            span.0.last += entries.iter().map(|&(from, _)| i128::from(from)).max().unwrap_or(0);
                            span.1.last += entries.iter().map(|&(_, to)| i128::from(to)).max().unwrap_or(0);
                        }
                    }
                    if last < 0 || matches!(step, Loop::Reversed { source: 0, .. }) {
                        return Some(format!("3: {step:?} does not move"));
                    }
                    steps *= u128::from(step.extent());
                }
                number += steps;
                reached = Some(reached.map_or(span, |all| (all.0.with(span.0), all.1.with(span.1))));
            }
            elements *= number;
            let group = reached.unwrap_or((Span::at(0), Span::at(0)));
            spans = (spans.0.plus(group.0), spans.1.plus(group.1));
        }
        if elements != source.element_count().into() {
            return Some(format!("1: the boxes have {elements} elements, the tensor {}", source.element_count()));
        }
        let inside = |span: Span, map: &IndexMap| span.first >= 0 && span.last < map.physical_elements.into();
        if !inside(spans.0, source) || !inside(spans.1, destination) {
            return Some(format!("2: the boxes read and write {spans:?}"));
        }
        None
    }
}

/// A range of offsets in elements, both ends included.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: i128,
    last: i128,
}

impl Span {
    fn at(offset: u64) -> Span {
        Span { first: offset.into(), last: offset.into() }
    }

    fn with(self, other: Span) -> Span {
        Span { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn plus(self, other: Span) -> Span {
        Span { first: self.first + other.first, last: self.last + other.last }
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
    (ends_with_one != (extent > 1)).then(|| format!("2: {chain:?} does not fit an extent of {extent}"))
}

#[cfg(test)]
mod tests;

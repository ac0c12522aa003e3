//! What holds of every index map, and of the boxes of every pair, as code: debug builds ask it of each one that is made.
//!
//! The numbers are those of the [module](super) and of [`BoxGroups`].
#![allow(
    clippy::arithmetic_side_effects,
    reason = "sums and products of 64-bit numbers in 128 bits, a few dozen of them"
)]

use std::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked;

use super::boxes::BoxGroups;
use super::digits::Chain;
use super::index_map::{Component, IndexMap};
use super::refine::Loop;

impl IndexMap {
    /// The same map. In a debug build, a map that breaks an invariant stops the program: every constructor and every view ends here.
    #[track_caller]
    pub(super) fn checked(self) -> IndexMap {
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        self
    }

    /// The first invariant that does not hold, in words.
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
            return Some("3: an empty tensor lies somewhere".into());
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
        (!empty && last >= self.physical_elements.into()).then(|| format!("1: an element lies at offset {last}"))
    }
}

impl BoxGroups {
    /// The same boxes. In a debug build, boxes that break an invariant of [`BoxGroups`] stop the program.
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
        if elements != source.logical_elements().into() {
            return Some(format!("1: the boxes have {elements} elements, the tensor {}", source.logical_elements()));
        }
        let inside = |span: Span, map: &IndexMap| span.first >= 0 && span.last < map.physical_elements.into();
        if !inside(spans.0, source) || !inside(spans.1, destination) {
            return Some(format!("2: the boxes read and write {spans:?}"));
        }
        None
    }
}

/// The offsets from the first to the last.
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
    // Dimensions that separate have components of their own.
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
        let divisor = digit.divisor();
        if divisor >= above {
            return Some(format!("2: the divisors of {chain:?} do not descend from {extent}"));
        }
        let ratio = above.checked_div(divisor).filter(|_| above.is_multiple_of(divisor));
        if let (Some(stride), Some(ratio)) = (stride_above, ratio)
            && digit.stride().checked_mul(ratio) == Some(stride)
        {
            return Some(format!("2: a boundary of {chain:?} can be left out"));
        }
        (above, stride_above) = (divisor, Some(digit.stride()));
    }
    let ends_with_one = chain.digits().last().is_some_and(|last| last.divisor() == 1);
    (ends_with_one != (extent > 1)).then(|| format!("2: {chain:?} does not fit an extent of {extent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::DataType;

    /// Two dimensions, the second in two digits: 4 rows of 2 blocks of 3, 8 apart.
    fn map() -> IndexMap {
        IndexMap::from_digits(DataType::U8, 8, &[vec![(4, 6)], vec![(2, 24), (3, 1)]]).unwrap()
    }

    /// What is said of a map after a change.
    fn after(change: impl FnOnce(&mut IndexMap)) -> String {
        let mut map = map();
        change(&mut map);
        map.broken_invariant().unwrap_or_default()
    }

    fn chain(digits: &[(u64, u64)]) -> Chain {
        let digits = digits
            .iter()
            .map(|&(divisor, stride)| super::super::digits::Digit::new(NonZeroU64::new(divisor).unwrap(), stride));
        Chain::as_it_is(digits)
    }

    #[test]
    #[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
    fn every_broken_invariant_is_found() {
        assert_eq!(map().broken_invariant(), None);
        assert!(after(|map| map.physical_elements = 44).starts_with("1: an element lies at offset 44"));
        assert!(after(|map| map.physical_elements = u64::MAX).is_empty());
        assert!(after(|map| (map.physical_elements, map.element_bits) = (u64::MAX, 32)).starts_with("1: the physical"));
        assert!(after(|map| map.base = 1).starts_with("1:"));
        assert!(after(|map| map.sizes[0] = 0).starts_with("3: an empty"));
        assert!(after(|map| map.sizes[0] = 1).starts_with("3: dimension 0"));
        assert!(after(|map| map.sizes[0] = 5).starts_with("3: the extent"), "an extent is the product of the sizes");
        assert!(after(|map| map.components[1].extent = 7).starts_with("3: the extent"));
        assert!(after(|map| map.components[1].dims[0] = 0).starts_with("3: dimension 0"));
        assert!(after(|map| map.components[1].dims[0] = 2).starts_with("3: dimension 2"));
        assert!(after(|map| map.components.swap(0, 1)).starts_with("3: the components are not sorted"));
        assert!(after(|map| drop(map.components.pop())).starts_with("3: dimension 1 is in no component"));
        let with = |digits: &[(u64, u64)]| after(|map| map.components[1].chain = chain(digits));
        assert!(with(&[(6, 1), (1, 1)]).starts_with("2: the divisors"));
        assert!(with(&[(2, 1), (3, 2), (1, 1)]).starts_with("2: the divisors"));
        assert!(with(&[(3, 3), (1, 1)]).starts_with("2: a boundary"));
        assert!(with(&[(3, 24)]).starts_with("2:") && with(&[]).starts_with("2:"));
        assert!(with(&[(4, 24), (3, 5), (1, 1)]).is_empty(), "a ragged chain is a chain");
        // 24 numbers in blocks of 5: no dimension ends where a block does. In blocks of 6, they separate.
        let join = |digits: &[(u64, u64)]| {
            after(|map| {
                let joined = Component { dims: [0, 1].into_iter().collect(), extent: 24, chain: chain(digits) };
                map.components = vec![joined];
            })
        };
        assert!(join(&[(5, 6), (1, 1)]).is_empty());
        assert!(join(&[(6, 7), (1, 1)]).starts_with("3: the dimensions [0, 1] separate at 1"));
    }

    #[test]
    #[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
    fn every_broken_invariant_of_boxes_is_found() {
        let packed = IndexMap::from_digits(DataType::U8, 8, &[vec![(4, 6)], vec![(6, 1)]]).unwrap();
        let after = |change: &dyn Fn(&mut BoxGroups)| {
            let mut boxes = BoxGroups::new(&packed, &map(), &[0]).unwrap();
            change(&mut boxes);
            boxes.broken_invariant(&packed, &map()).unwrap_or_default()
        };
        let set = |at: usize, step: Loop| after(&move |boxes| boxes.segments.list[at].loops[0] = step.clone());
        assert_eq!(after(&|_| {}), "");
        assert_eq!(set(0, Loop::Reversed { extent: 4, source: 6, destination: 6 }), "");
        assert!(set(0, Loop::Reversed { extent: 3, source: 6, destination: 6 }).starts_with("1: the boxes have 18"));
        assert!(
            set(0, Loop::Reversed { extent: 4, source: 7, destination: 6 }).starts_with("2:"),
            "in front of the source"
        );
        assert!(set(0, Loop::Strided { extent: 4, source: 6, destination: 6 }).starts_with("2:"), "behind the source");
        assert!(set(0, Loop::Reversed { extent: 4, source: 6, destination: 7 }).starts_with("2:"));
        assert!(set(0, Loop::Reversed { extent: 4, source: 0, destination: 6 }).starts_with("3:"));
        assert!(set(0, Loop::Table(Vec::new())).starts_with("3:"));
        assert!(
            after(&|boxes| boxes.source += 1).starts_with("2:")
                && after(&|boxes| boxes.destination += 1).starts_with("2:")
        );
    }
}

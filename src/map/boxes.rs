//! Divides a pair of layouts into boxes: loop nests with the same extents on both sides.
//!
//! Dimensions that a component of either side fuses belong to one group. Groups are independent of each
//! other. Inside a group, each side becomes one chain, and the common refinement of the two chains is a short
//! list of segments. Every choice of one segment from each group is a box, and the boxes cover every index
//! once.
//!
//! A pair that no short list of segments describes is copied index by index: each box is a table of the
//! offsets of a few thousand indices. This is slow, and the rule for Irreducible layouts alone.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: offsets stay below the physical sizes; products of logical sizes were checked"
)]

use crate::checked::{Dims, Exact, at, count, next_index};
use crate::short_sort::sort_by_key;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::num::NonZeroU64;
use core::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::digits::{Chain, Digit};
use super::index_map::{Component, IndexMap};
use super::levels::unfuse_into;
use super::refine::{Loop, Loops, Segment, Segments, Stride, refine};
use super::reversed::{counts_down, destination_reversed, source_reversed};

/// One loop nest of a copy: the two offsets where it begins, and its loops from outer to inner. Offsets and
/// strides are in elements.
///
/// [`CopyPass::boxes`](crate::plan::CopyPass::boxes) returns the boxes of a copy. All boxes of a pass
/// together copy each element once.
///
/// ```
/// use tensor_layout::{plan::{CopyBox, Loop, Stride}, relayout::Relayout, BufferTensorDesc, DataType};
///
/// // Rows of three, packed and then four apart.
/// let packed = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
/// let rows = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[4, 1]))?;
/// let plan = Relayout::new(&packed, &rows)?;
/// let pass = plan.passes().next().expect("one pass");
/// assert_eq!((pass.source_elements, pass.destination_elements, pass.box_count()), (6, 7, 1));
/// let copied: CopyBox = pass.boxes().next().expect("one box");
/// assert_eq!((copied.source, copied.destination, copied.elements()), (0, 0, 6));
/// assert_eq!(copied.loops()[0], Loop::Strided(Stride { extent: 2, source: 3, destination: 4 }));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyBox {
    /// The offset where the first element is read, in elements from the start of the source.
    pub source: u64,
    /// The offset where the first element is written, in elements from the start of the destination.
    pub destination: u64,
    pub(crate) loops: Loops,
}

/// The boxes of a pair of layouts. The boxes are all combinations of one segment from each group.
///
/// All boxes together have as many elements as the tensor, which debug builds check. Every box reads and
/// writes inside the two buffers, also where a loop walks backwards. Every loop has at least one step.
#[derive(Debug, Clone)]
pub(crate) struct BoxGroups {
    pub(super) source: u64,
    pub(super) destination: u64,
    /// The segments of all groups in one list. `groups` says where a group ends.
    pub(super) segments: Segments,
    /// The number of segments in each group.
    pub(super) groups: SmallVec<[usize; 8]>,
    /// A pair that is copied index by index. It has no segments.
    by_index: Option<Box<ByIndex>>,
}

/// A pair of layouts whose boxes are tables of the offsets of all indices, in row-major order.
#[derive(Debug, Clone)]
struct ByIndex {
    source: IndexMap,
    destination: IndexMap,
    /// The dimensions that the source walks backwards.
    reversed: SmallVec<[usize; 8]>,
}

/// The number of indices in each table of a pair that is copied index by index: 64 KiB of offsets. Not tuned.
const TABLE: u64 = 1 << 12;

impl ByIndex {
    fn count(&self) -> u64 {
        self.source.element_count().div_ceil(TABLE)
    }

    fn copy_box(&self, number: u64) -> CopyBox {
        let sizes = self.source.sizes();
        let start = number * TABLE;
        let length = (self.source.element_count() - start).min(TABLE);
        let mut index = Dims::from_elem(0, sizes.len());
        unfuse_into(&mut index, 0..sizes.len(), sizes, start);
        let mut entries = Vec::new();
        for _ in 0..length {
            let mut mirrored = index.clone();
            for &dim in &self.reversed {
                if let Some(slot) = mirrored.get_mut(dim) {
                    *slot = at(sizes, dim) - 1 - *slot;
                }
            }
            entries.push((self.source.offset_inside(&mirrored), self.destination.offset_inside(&index)));
            next_index(&mut index, sizes);
        }
        let (source, destination) =
            entries.iter().fold((u64::MAX, u64::MAX), |(from, to), entry| (from.min(entry.0), to.min(entry.1)));
        entries.iter_mut().for_each(|entry| *entry = (entry.0 - source, entry.1 - destination));
        CopyBox { source, destination, loops: smallvec![Loop::Table(entries)] }
    }
}

impl CopyBox {
    /// The loops from outer to inner. Loops over a table of offsets come first, then the other loops by
    /// descending stride of the destination. A box without loops copies one element.
    #[must_use]
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The number of elements that the box copies.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // The product fits 64 bits, because every iteration copies another element of one tensor.
        self.loops.iter().fold(1, |product: u64, step| product.times(step.extent()))
    }

    /// Returns the range of source offsets that the box reads, in elements. The range of a box without
    /// iterations is empty.
    pub(crate) fn source_span(&self) -> Range<u64> {
        let mut span = self.source..self.source + 1;
        for step in &self.loops {
            match step {
                Loop::Strided(Stride { extent: 0, .. }) => return self.source..self.source,
                Loop::Strided(stride) => {
                    let last = (stride.extent - 1) * stride.source.unsigned_abs();
                    if stride.ascends() { span.end += last } else { span.start -= last }
                }
                Loop::Table(entries) => {
                    let offsets = || entries.iter().map(|&(source, _)| source);
                    span.start += offsets().min().unwrap_or(0);
                    span.end += offsets().max().unwrap_or(0);
                }
            }
        }
        span
    }

    pub(crate) fn in_order(mut self) -> CopyBox {
        simplify(&mut self.loops);
        self
    }
}

impl BoxGroups {
    pub(crate) fn none() -> BoxGroups {
        let segments = Segments::with_capacity(0);
        BoxGroups { source: 0, destination: 0, segments, groups: smallvec![0], by_index: None }
    }

    pub(crate) fn of(list: impl Iterator<Item = CopyBox>) -> BoxGroups {
        let segments =
            Segments::of(list.map(|CopyBox { source, destination, loops }| Segment { source, destination, loops }));
        let groups = smallvec![segments.list.len()];
        BoxGroups { source: 0, destination: 0, segments, groups, by_index: None }
    }

    /// Returns the boxes that copy `source` to `destination` index by index, for any two layouts with equal
    /// sizes. The dimensions in `reversed` are walked backwards on one of the two sides.
    pub(crate) fn by_index(source: &IndexMap, destination: &IndexMap, reversed: &[usize]) -> BoxGroups {
        let (source, destination) = (source.clone(), destination.clone());
        let by_index = ByIndex { source, destination, reversed: SmallVec::from_slice(reversed) };
        BoxGroups { by_index: Some(Box::new(by_index)), ..BoxGroups::none() }
    }

    /// Returns the boxes that copy `source` to `destination`, which must have equal sizes. The dimensions in
    /// `reversed` are walked backwards on one of the two sides.
    ///
    /// Returns `None` if no list of reasonable size exists. The reasons are: one side is Irreducible, the two
    /// sides fuse dimensions in contradicting orders, a table would be too long, there would be too many
    /// segments, or both sides cut blocks of a reversed dimension.
    pub(crate) fn new(source: &IndexMap, destination: &IndexMap, reversed: &[usize]) -> Option<BoxGroups> {
        if source.levels.is_some() || destination.levels.is_some() {
            return None;
        }
        let sizes = source.sizes();
        if sizes.contains(&0) {
            return Some(BoxGroups::none());
        }
        let (segments, groups) = (Segments::with_capacity(source.components.len()), SmallVec::new());
        let (from, to) = (source.base(), destination.base());
        let mut boxes = BoxGroups { source: from, destination: to, segments, groups, by_index: None };
        let fused = |component: &&Component| component.dims().len() > 1;
        let (first, second) = (&source.components[..], &destination.components[..]);
        if !first.iter().chain(second).any(|component| fused(&component)) {
            // Usually, neither side fuses dimensions. Each dimension is then a group of its own.
            for (a, b) in first.iter().zip(second) {
                boxes.add(a.extent, &a.chain, &b.chain, a.dims().iter().any(|dim| reversed.contains(dim)))?;
            }
            debug_assert_eq!(boxes.elements(), source.element_count().into(), "{source:?} to {destination:?}");
            return Some(boxes);
        }
        for dims in linked_dims(sizes.len(), first, second)? {
            let extent = dims.iter().filter_map(|&dim| sizes.get(dim)).product();
            let chain = |components| joined_chain(components, &dims, sizes, extent);
            let backwards = dims.iter().filter(|dim| reversed.contains(dim)).count();
            if backwards > 0 && backwards < dims.len() {
                return None;
            }
            boxes.add(extent, &chain(first)?, &chain(second)?, backwards > 0)?;
        }
        debug_assert_eq!(boxes.elements(), source.element_count().into(), "{source:?} to {destination:?}");
        Some(boxes)
    }

    /// Adds a group whose row-major number is below `extent`, and whose offsets on the two sides are given by
    /// the two chains. Returns `None` if the segments exceed a limit, or if neither chain can be walked
    /// backwards although `reversed` is set.
    fn add(&mut self, extent: u64, source: &Chain, destination: &Chain, reversed: bool) -> Option<()> {
        let before = self.segments.list.len();
        refine(extent, source, destination, &mut self.segments)?;
        if reversed {
            let last = extent.minus(1);
            let added = self.segments.list.iter_mut().skip(before);
            if counts_down(source, extent) {
                added.for_each(|segment| source_reversed(segment, source.at(last)));
            } else if counts_down(destination, extent) {
                added.for_each(|segment| destination_reversed(segment, destination.at(last)));
            } else {
                return None;
            }
        }
        self.groups.push(self.segments.list.len() - before);
        Some(())
    }

    fn elements(&self) -> u128 {
        let mut rest = self.segments.list.iter();
        let steps = |segment: &Segment| segment.loops.iter().map(|step| u128::from(step.extent())).product::<u128>();
        self.groups.iter().map(|&group| rest.by_ref().take(group).map(steps).sum::<u128>()).product()
    }

    /// Returns the number of boxes, or `u64::MAX` if the number does not fit. The result is only compared
    /// with limits.
    pub(crate) fn count(&self) -> u64 {
        if let Some(by_index) = &self.by_index {
            return by_index.count();
        }
        self.groups.iter().fold(1, |product: u64, &group| product.saturating_mul(count(group)))
    }

    pub(crate) fn entries(&self) -> u64 {
        if let Some(by_index) = &self.by_index {
            return by_index.source.element_count();
        }
        let mut rest = self.segments.list.as_slice();
        let groups = self.groups.iter().map(|&group| {
            let (own, after) = rest.split_at_checked(group).unwrap_or((&[], &[]));
            rest = after;
            let tables = own.iter().flat_map(|segment| &segment.loops).filter(|step| step.stride().is_none());
            let entries = tables.fold(0, |sum: u64, table| sum.saturating_add(table.extent()));
            // The number of boxes with a given segment is the product of the sizes of the other groups.
            let others = self.count().checked_div(count(group)).unwrap_or(0);
            entries.saturating_mul(others)
        });
        groups.fold(0, u64::saturating_add)
    }

    /// Iterates over the boxes. The loops are in the order of descending destination stride. Neighbouring
    /// loops are merged if they form one loop on both sides.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CopyBox> + '_ {
        let by_index = self.by_index.iter().flat_map(|pair| (0..pair.count()).map(|number| pair.copy_box(number)));
        let mut choice: SmallVec<[usize; 8]> = smallvec![0; self.groups.len()];
        let mut done = self.groups.contains(&0);
        by_index.chain(core::iter::from_fn(move || {
            if done {
                return None;
            }
            let mut result = CopyBox { source: self.source, destination: self.destination, loops: Loops::new() };
            let mut rest = self.segments.list.as_slice();
            for (&group, &chosen) in self.groups.iter().zip(&choice) {
                let (own, after) = rest.split_at_checked(group)?;
                let segment = own.get(chosen)?;
                rest = after;
                result.source += segment.source;
                result.destination += segment.destination;
                result.loops.extend(segment.loops.iter().cloned());
            }
            done = !next_index(&mut choice, &self.groups);
            simplify(&mut result.loops);
            Some(result)
        }))
    }
}

pub(crate) fn each_element(loops: &[Loop], from: u64, to: u64, each: &mut dyn FnMut(u64, u64)) {
    let Some((step, rest)) = loops.split_first() else { return each(from, to) };
    if let Loop::Table(entries) = step {
        for &(a, b) in entries {
            each_element(rest, from.saturating_add(a), to.saturating_add(b), each);
        }
    }
    let Some(stride) = step.stride() else { return };
    let (mut from, mut to) = (from, to);
    for _ in 0..stride.extent {
        each_element(rest, from, to, each);
        // An offset is outside of its buffer only after the last step, where the sum saturates.
        from = from.saturating_add_signed(stride.source);
        to = to.saturating_add(stride.destination);
    }
}

/// Puts tables first, then the strided loops by descending stride. A loop that continues the loop outside it
/// is merged into that loop.
fn simplify(loops: &mut Loops) {
    sort_by_key(loops, |step| match step {
        Loop::Table(_) => (false, Reverse((0, 0))),
        Loop::Strided(stride) => (true, Reverse((stride.destination, stride.source.unsigned_abs()))),
    });
    loops.dedup_by(|step, outside| match (step, outside) {
        (Loop::Strided(inner), Loop::Strided(outer)) => match inner.joined(*outer) {
            Some(both) => {
                *outer = both;
                true
            }
            None => false,
        },
        _ => false,
    });
}

pub(super) type DimList = SmallVec<[usize; 8]>;

/// Returns the dimensions of size above 1 in groups. A group holds all dimensions that components of either
/// side link. Its order makes every component a contiguous part of the group. Returns `None` if there is no
/// such order.
pub(super) fn linked_dims(rank: usize, first: &[Component], second: &[Component]) -> Option<Vec<DimList>> {
    let mut next: SmallVec<[Option<usize>; 8]> = smallvec![None; rank];
    let mut previous: SmallVec<[Option<usize>; 8]> = smallvec![None; rank];
    let mut live: SmallVec<[bool; 8]> = smallvec![false; rank];
    for component in first.iter().chain(second) {
        for &dim in component.dims() {
            *live.get_mut(dim)? = true;
        }
        for (&a, &b) in component.dims().iter().zip(component.dims().iter().skip(1)) {
            let (after, before) = (next.get_mut(a)?, previous.get_mut(b)?);
            if after.is_some_and(|after| after != b) || before.is_some_and(|before| before != a) {
                return None;
            }
            (*after, *before) = (Some(b), Some(a));
        }
    }
    let mut groups = Vec::new();
    let mut listed = 0;
    for dim in 0..rank {
        if !*live.get(dim)? || previous.get(dim)?.is_some() {
            continue;
        }
        let group: DimList = core::iter::successors(Some(dim), |&dim| next.get(dim).copied().flatten()).collect();
        listed += group.len();
        groups.push(group);
    }
    // If links form a circle, no dimension of the circle comes first, so none was listed, and no order
    // exists.
    (listed == live.iter().filter(|&&live| live).count()).then_some(groups)
}

/// Joins the components of the dimensions in `dims` to one chain, which maps the row-major number of these
/// dimensions to an offset.
pub(super) fn joined_chain(components: &[Component], dims: &[usize], sizes: &[u64], extent: u64) -> Option<Chain> {
    let mut digits: SmallVec<[Digit; 4]> = smallvec![];
    let mut width = extent;
    let mut rest = dims;
    while let Some(first) = rest.first() {
        let component = components.iter().find(|component| component.dims().first() == Some(first))?;
        let (own, after) = rest.split_at_checked(component.dims().len())?;
        width /= own.iter().filter_map(|&dim| sizes.get(dim)).product::<u64>();
        for digit in component.chain.digits() {
            digits.push(Digit::new(NonZeroU64::new(digit.divisor.get() * width)?, digit.stride));
        }
        rest = after;
    }
    Some(Chain::normalised(digits.into_iter(), extent))
}

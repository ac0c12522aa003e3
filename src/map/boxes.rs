//! Divides a pair of layouts into boxes: loop nests with the same extents on both sides.
//!
//! Dimensions that a component of either side fuses belong to one group. Groups are independent of each
//! other. Inside a group, each side becomes one chain, and the common refinement of the two chains is a short
//! list of segments. Every choice of one segment from each group is a box, and the boxes cover every index
//! once.
//!
//! A layout has no direction, but a pair of layouts has. Reading a dimension backwards or writing it
//! backwards is the same copy, and doing both is the copy without reversal. The direction therefore belongs
//! to the loops of a box, and only the source of a loop may be walked backwards.
//!
//! A pair that no short list of segments describes is copied index by index: each box is a table of the
//! offsets of a few thousand indices. This is slow, and the rule for Irreducible layouts alone.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "invariant 1: offsets stay below the physical sizes; products of logical sizes were checked"
)]

use crate::checked::{Dims, Proven, len_u64, next_index, nth_or_panic};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::slice;

use smallvec::{SmallVec, smallvec};

use super::digits::{Chain, Digit};
use super::index_map::{Component, IndexMap};
use super::injective::strides_nest;
use super::levels::unfuse_into;
use super::refine::{CopyBox, Loop, Part, Segments, refine, simplify};
use super::swizzled_boxes::swizzled;

/// The boxes of a pair of layouts. The boxes are all combinations of one segment from each group.
///
/// All boxes together have as many elements as the tensor, which debug builds check. Every box reads and
/// writes inside the two buffers, also where a loop walks backwards. Every loop has at least one step.
#[derive(Debug, Clone)]
pub(crate) struct BoxGroups {
    /// What all boxes have in common: the start, and the loops of the groups of one segment.
    common: CopyBox,
    /// The segments of each group that has several. Usually no group has, and `common` is the only box.
    groups: Vec<Vec<CopyBox>>,
    /// A pair that is copied index by index. It has no other boxes.
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
                    *slot = nth_or_panic(sizes, dim) - 1 - *slot;
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

impl BoxGroups {
    /// Returns the boxes of a list, whose loops are [in order](CopyBox::in_order).
    pub(crate) fn of(list: Vec<CopyBox>) -> BoxGroups {
        BoxGroups { common: CopyBox::at(0, 0), groups: vec![list], by_index: None }
    }

    /// Returns the boxes that copy `source` to `destination` index by index, for any two layouts with equal
    /// sizes. The dimensions in `reversed` are walked backwards on one of the two sides.
    pub(crate) fn by_index(source: &IndexMap, destination: &IndexMap, reversed: &[usize]) -> BoxGroups {
        let (source, destination) = (source.clone(), destination.clone());
        let by_index = ByIndex { source, destination, reversed: SmallVec::from_slice(reversed) };
        BoxGroups { by_index: Some(Box::new(by_index)), ..BoxGroups::of(Vec::new()) }
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
            return Some(BoxGroups::of(Vec::new()));
        }
        let common = CopyBox::at(source.base(), destination.base());
        let mut boxes = BoxGroups { common, groups: Vec::new(), by_index: None };
        let mut segments = Segments::default();
        let fused = |component: &&Component| component.dims().len() > 1;
        let (first, second) = (&source.components[..], &destination.components[..]);
        if !first.iter().chain(second).any(|component| fused(&component)) {
            // Usually, neither side fuses dimensions. Each dimension is then a group of its own.
            for (a, b) in first.iter().zip(second) {
                let backwards = !reversed.is_empty() && a.dims().iter().any(|dim| reversed.contains(dim));
                boxes.add(a.extent, &a.chain, &b.chain, backwards, &mut segments)?;
            }
            boxes.simplify(source, destination)?;
            return Some(boxes);
        }
        for dims in linked_dims(sizes.len(), first, second)? {
            let extent = dims.iter().filter_map(|&dim| sizes.get(dim)).product();
            let chain = |components| joined_chain(components, &dims, sizes, extent);
            let backwards = dims.iter().filter(|dim| reversed.contains(dim)).count();
            if backwards > 0 && backwards < dims.len() {
                return None;
            }
            boxes.add(extent, &chain(first)?, &chain(second)?, backwards > 0, &mut segments)?;
        }
        boxes.simplify(source, destination)?;
        Some(boxes)
    }

    /// Merges the loops that all boxes have, and applies the swizzle of each side to the offsets of that
    /// side. `None` if a box does not decompose, or there would be too many.
    fn simplify(&mut self, source: &IndexMap, destination: &IndexMap) -> Option<()> {
        simplify(&mut self.common.loops);
        debug_assert_eq!(self.elements(), source.element_count().into(), "{self:?}");
        let swizzles = [source.swizzle(), destination.swizzle()];
        if swizzles.iter().any(Option::is_some) {
            *self = BoxGroups::of(swizzled(self.iter(), swizzles)?);
        }
        Some(())
    }

    /// Adds a group whose row-major number is below `extent`, and whose offsets on the two sides are given by
    /// the two chains. Returns `None` if the segments exceed a limit, or if neither chain can be walked
    /// backwards although `reversed` is set.
    fn add(
        &mut self,
        extent: u64,
        source: &Chain,
        destination: &Chain,
        reversed: bool,
        segments: &mut Segments,
    ) -> Option<()> {
        if !reversed {
            // Nearly always, both chains are one stride.
            if let ([from], [to]) = (source.digits(), destination.digits()) {
                self.common.loops.push(Loop::strided(extent, from.stride, to.stride)?);
                return Some(());
            }
            let parts = refine(extent, source.digits(), destination.digits(), &mut self.common)?;
            parts.into_iter().flatten().try_for_each(|part| segments.add(part))?;
            self.groups.extend(segments.taken());
            return Some(());
        }
        let outside = CopyBox::at(0, 0);
        segments.add(Part { extent, source: source.digits(), destination: destination.digits(), outside })?;
        let (mut group, last) = (segments.taken()?, extent.minus(1));
        if counts_down(source, extent) {
            group.iter_mut().for_each(|segment| source_reversed(segment, source.at(last)));
        } else if counts_down(destination, extent) {
            group.iter_mut().for_each(|segment| destination_reversed(segment, destination.at(last)));
        } else {
            return None;
        }
        self.groups.push(group);
        Some(())
    }

    /// Whether the loops of the only box show at once that no two elements share an offset of the
    /// destination.
    pub(crate) fn writes_apart(&self) -> bool {
        // The strides of the destination descend. A table counts as a stride of 0, which does not nest.
        let ascending = self.common.loops.iter().rev();
        let strides = ascending.map(|step| step.stride().map_or((0, 0), |own| (own.destination, own.extent)));
        self.groups.is_empty() && self.by_index.is_none() && strides_nest(strides)
    }

    fn elements(&self) -> u128 {
        let of = |part: &CopyBox| part.loops.iter().map(|step| u128::from(step.extent())).product::<u128>();
        let groups = self.groups.iter().map(|group| group.iter().map(of).sum::<u128>());
        groups.fold(of(&self.common), |product, group| product * group)
    }

    /// The number of boxes. No box is empty, so there are not more of them than elements.
    pub(crate) fn count(&self) -> u64 {
        if let Some(by_index) = &self.by_index {
            return by_index.count();
        }
        self.groups.iter().fold(1, |product: u64, group| product.times(len_u64(group.len())))
    }

    /// The number of table entries in all boxes, as a measure of the work. If a pair is copied index by
    /// index, each tile of an Irreducible layout counts as two more entries for each index, because
    /// evaluating it takes as long.
    pub(crate) fn entries(&self) -> u64 {
        if let Some(ByIndex { source, destination, .. }) = self.by_index.as_deref() {
            let tiles = source.tile_count().plus(destination.tile_count());
            return source.element_count().saturating_mul(tiles.times(2).plus(1));
        }
        let boxes = self.count();
        let groups = self.groups.iter().map(|group| {
            let tables = group.iter().flat_map(|segment| &segment.loops).filter(|step| step.stride().is_none());
            let entries = tables.fold(0, |sum: u64, table| sum.saturating_add(table.extent()));
            // The number of boxes with a given segment is the product of the sizes of the other groups.
            entries.saturating_mul(boxes.checked_div(len_u64(group.len())).unwrap_or(0))
        });
        groups.fold(0, u64::saturating_add)
    }

    /// The box of this number, which is below [`count`](Self::count). The loops are in the order of
    /// descending destination stride. Neighbouring loops are merged if they form one loop on both sides.
    pub(crate) fn get(&self, number: u64) -> Cow<'_, CopyBox> {
        if let Some(by_index) = &self.by_index {
            return Cow::Owned(by_index.copy_box(number));
        }
        if self.groups.is_empty() {
            return Cow::Borrowed(&self.common);
        }
        // The segment of the last group changes first.
        let (mut combined, mut boxes) = (self.common.clone(), self.count());
        for group in &self.groups {
            boxes = boxes.divided_by(len_u64(group.len()));
            let chosen = usize::try_from(number.divided_by(boxes).modulo(len_u64(group.len()))).ok();
            if let Some(segment) = chosen.and_then(|chosen| group.get(chosen)) {
                combined.add(segment);
            }
        }
        Cow::Owned(combined.in_order())
    }

    /// The first `count` boxes, or all if there are fewer. `count` is not 0.
    pub(crate) fn first(&self, count: u64) -> Cow<'_, [CopyBox]> {
        if self.groups.is_empty() && self.by_index.is_none() {
            return Cow::Borrowed(slice::from_ref(&self.common));
        }
        self.iter().take(usize::try_from(count).unwrap_or(usize::MAX)).map(Cow::into_owned).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Cow<'_, CopyBox>> + '_ {
        (0..self.count()).map(|number| self.get(number))
    }
}

/// Whether a chain can be walked backwards: the value at `extent - 1 - u` is the last value minus the value
/// at `u`, for every `u`. This holds if the digits are independent of each other and every block is full.
fn counts_down(chain: &Chain, extent: u64) -> bool {
    chain.is_exact() && chain.digits().first().is_none_or(|top| extent.is_multiple_of(top.divisor.get()))
}

/// Changes a segment so that its source is walked backwards. `last` is the largest offset that the chain of
/// the source gives: offset `i` becomes `last - i`.
fn source_reversed(segment: &mut CopyBox, last: u64) {
    segment.source = last - segment.source;
    for step in &mut segment.loops {
        match step {
            Loop::Strided(stride) => stride.source = -stride.source,
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(source, _)| source).max().unwrap_or(0);
                entries.iter_mut().for_each(|(source, _)| *source = most - *source);
                segment.source -= most;
            }
        }
    }
}

/// Changes a segment so that its destination is walked backwards. `last` is the last value of the destination
/// chain. Each loop then begins at its other end on both sides, so that its source is walked backwards
/// instead.
fn destination_reversed(segment: &mut CopyBox, last: u64) {
    segment.destination = last - segment.destination;
    for step in &mut segment.loops {
        match step {
            Loop::Strided(stride) => {
                segment.source += (stride.extent - 1) * stride.source.unsigned_abs();
                segment.destination -= (stride.extent - 1) * stride.destination;
                stride.source = -stride.source;
            }
            Loop::Table(entries) => {
                let most = entries.iter().map(|&(_, destination)| destination).max().unwrap_or(0);
                entries.iter_mut().for_each(|(_, destination)| *destination = most - *destination);
                segment.destination -= most;
            }
        }
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

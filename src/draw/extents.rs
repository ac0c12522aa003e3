//! The padded extent of each dimension, and where its tiles begin.

use alloc::vec::Vec;

use crate::map::{Component, IndexMap};

/// One dimension as the picture shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// The logical size.
    pub(super) size: u64,
    /// The size with the padding that belongs to this dimension; at least `size`.
    pub(super) padded: u64,
    /// How many indices share a tile; 0 if the dimension is not cut.
    pub(super) tile: u64,
    /// The first index that is shown. `size` and `padded` count from this index.
    pub(super) start: u64,
}

/// The extents of all dimensions.
pub(super) fn extents(map: &IndexMap) -> Vec<Extent> {
    let extent = |(dim, &size): (usize, &u64)| {
        let plain = Extent { size, padded: size, tile: 0, start: 0 };
        let Some(component) = own_component(map, dim) else { return plain };
        match component.chain.digits() {
            [top, _, ..] => {
                let tile = top.divisor.get();
                Extent { padded: size.checked_next_multiple_of(tile).unwrap_or(size), tile, ..plain }
            }
            [only] => Extent { padded: room(map, only.stride).map_or(size, |room| room.max(size)), ..plain },
            [] => plain,
        }
    };
    map.sizes().iter().enumerate().map(extent).collect()
}

/// The component of a dimension, if no other dimension is part of that component.
pub(super) fn own_component(map: &IndexMap, dim: usize) -> Option<&Component> {
    map.components.iter().find(|component| component.dims() == [dim])
}

/// How many steps of `stride` fit before the next larger stride. `None` if the layout is not one of strides
/// alone, or if the number is not whole.
fn room(map: &IndexMap, stride: u64) -> Option<u64> {
    let strides = map.strides().filter(|_| map.base() == 0 && stride > 0)?;
    let next = strides.iter().copied().filter(|&other| other > stride).min().unwrap_or(map.physical_elements());
    let shared = strides.iter().filter(|&&other| other == stride).count() > 1;
    (!shared && next.is_multiple_of(stride)).then(|| next.checked_div(stride)).flatten()
}

/// How many elements side by side in memory belong to one tile; 0 if nothing is cut.
pub(super) fn tile_length(map: &IndexMap) -> u64 {
    let tops = map.components.iter().filter_map(|component| match component.chain.digits() {
        [top, _, ..] => Some(top.stride),
        _ => None,
    });
    tops.min().unwrap_or(0)
}

/// The number of elements in one row of the memory picture: the largest stride of at most `most`. Without
/// such a stride, the whole memory is one row if it fits.
pub(super) fn row_length(map: &IndexMap, most: u64) -> u64 {
    let digits = map.components.iter().flat_map(|component| component.chain.digits());
    let fitting = |stride: &u64| (2..=most).contains(stride);
    let strides = digits.map(|digit| digit.stride).filter(fitting).max();
    strides.or_else(|| Some(map.physical_elements()).filter(fitting)).unwrap_or(most.min(16))
}

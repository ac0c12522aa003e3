//! Pictures of a layout: the tensor with the offset of each element, and the memory with the index of each
//! element.
//!
//! A picture needs only the index map of a layout, so every layout can be drawn. Of a layout that is too
//! large for a picture, a part is drawn.
//!
//! ```
//! use tensor_layout::{ArrayShape, ToIndexMap};
//! use tensor_layout_text::draw::Picture;
//!
//! let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
//! let picture = Picture::new(&shape.to_index_map()?, &shape.to_string())?;
//! assert!(picture.to_string().contains("  0 │ 0,0 0,1 1,0 1,1 │ 0,2 0,3 1,2 1,3 │ 0,4  ··"));
//! assert!(picture.to_svg().starts_with("<svg "));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::indexing_slicing, clippy::as_conversions)]

mod picture;
mod svg;
mod text;
pub use picture::{MAX_COLUMNS, MAX_ELEMENTS, Picture};
use tensor_layout::IndexMap;
use tensor_layout::plan::Component;

/// One dimension of the tensor, as a picture shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// The number of indices that are shown, without padding.
    pub(super) size: u64,
    /// The number of indices that are shown, with the padding of this dimension. It is at least `size`.
    pub(super) padded: u64,
    /// How many consecutive indices are in the same tile; 0 if the dimension has no tiles.
    pub(super) tile: u64,
    /// The first index that is shown. `size`, `padded` and the names of rows and columns count from it.
    pub(super) start: u64,
}

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

/// Returns the component of a dimension. `None` if another dimension is part of the same component.
pub(super) fn own_component(map: &IndexMap, dim: usize) -> Option<&Component> {
    map.components().iter().find(|component| component.dims() == [dim])
}

/// Returns how many steps of `stride` fit before the next larger stride, which is a size with padding. `None`
/// if the layout has more than strides, or if the number is not whole.
fn room(map: &IndexMap, stride: u64) -> Option<u64> {
    let strides = map.strides().filter(|_| map.base() == 0 && stride > 0)?;
    let next = strides.iter().copied().filter(|&other| other > stride).min().unwrap_or(map.physical_elements());
    let shared = strides.iter().filter(|&&other| other == stride).count() > 1;
    (!shared && next.is_multiple_of(stride)).then(|| next.checked_div(stride)).flatten()
}

/// Returns how many consecutive elements in memory belong to one tile, or 0 if no dimension has tiles.
pub(super) fn tile_length(map: &IndexMap) -> u64 {
    let tops = map.components().iter().filter_map(|component| match component.chain.digits() {
        [top, _, ..] => Some(top.stride),
        _ => None,
    });
    tops.min().unwrap_or(0)
}

/// Returns the number of elements in one row of the picture of the memory: the largest stride from 2 to
/// `most`. Without such a stride, a memory of at most `most` elements is one row, and a longer one has rows
/// of up to 16 elements.
pub(super) fn row_length(map: &IndexMap, most: u64) -> u64 {
    let digits = map.components().iter().flat_map(|component| component.chain.digits());
    let fitting = |stride: &u64| (2..=most).contains(stride);
    let strides = digits.map(|digit| digit.stride).filter(fitting).max();
    strides.or_else(|| Some(map.physical_elements()).filter(fitting)).unwrap_or(most.min(16))
}

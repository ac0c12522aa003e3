//! Pictures of a layout: the tensor with the offset of each element, and the memory with the index of each
//! element.
//!
//! A picture needs only the offsets of a layout, so every layout can be drawn: [`Drawn`]. Of a layout that is
//! too large for a picture, a part is drawn.
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

mod drawn;
mod panels;
mod svg;
mod text;

use core::ops::Range;

use tensor_layout::checked::{self, Proven};
use tensor_layout::plan::counted;
use tensor_layout::{Error, IndexMap};

pub use drawn::Drawn;
pub use panels::{MAX_COLUMNS, MAX_ELEMENTS};

use panels::{CORNER_PLACES, Cell, Extent, Panel, colour, count, extents, panels, window};

/// The most cells in one row of the picture of the memory.
const ROW: u64 = 16;
/// The most characters in one row of the picture of the memory.
const ROW_CHARACTERS: u64 = 80;

/// A layout, ready to be drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    caption: String,
    panels: Vec<Panel>,
    memory: Vec<Cell>,
    /// The offset of the first cell of `memory` in the buffer, in elements.
    start: u64,
    /// The number of cells in one row of the picture of the memory.
    row: usize,
    /// After every `tile` cells, the picture of the memory has a gap; 0 means no gaps.
    tile: usize,
    bits: u64,
    /// Whether elements share an offset because an axis has stride 0.
    has_broadcast: bool,
    /// A line that says how many logical and physical elements there are, and which of them are shown.
    summary: String,
}

/// The part of a layout that a picture shows.
struct Corner {
    extents: Vec<Extent>,
    /// The range of offsets that the picture of the memory shows, in elements.
    places: Range<u64>,
}

impl Picture {
    /// Makes the picture of a whole layout. The caption is a line of text, usually the layout itself.
    ///
    /// # Errors
    ///
    /// `out_of_limits` if there are more than [`MAX_ELEMENTS`] elements, logical or physical, or more
    /// than [`MAX_COLUMNS`] columns. `undecided` if the index at an offset takes too long to find,
    /// because strides do not nest.
    pub fn new<'a>(layout: impl Into<Drawn<'a>>, caption: &str) -> Result<Picture, Error> {
        let map = layout.into();
        fits(map)?;
        // The memory before the base offset is left out, because it belongs to other tensors.
        let places = map.base().min(map.physical_elements())..map.physical_elements();
        Picture::of(map, caption, &Corner { extents: extents(map), places })
    }

    /// Makes the picture of any layout. If [`Picture::new`] cannot draw it whole, its corner is drawn, and a
    /// line says what is shown. The corner consists of the first 16 indices of each of the last two
    /// dimensions, of at most 4 matrices, and of the first 256 physical elements from the base offset on.
    ///
    /// # Errors
    ///
    /// `undecided` if strides that do not nest take too long to search.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    /// use tensor_layout_text::draw::Picture;
    ///
    /// let large: ArrayShape = "f32[100000,100000]{1,0:T(8,128)}".parse()?;
    /// let text = Picture::corner(&large.to_index_map()?, &large.to_string())?.to_string();
    /// assert!(text.contains("shown: [0:16,0:16], and the physical elements 0 to 255"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn corner<'a>(layout: impl Into<Drawn<'a>>, caption: &str) -> Result<Picture, Error> {
        let map = layout.into();
        Picture::around(map, caption, &vec![0; map.sizes().len()])
    }

    /// Makes the picture of any layout. If [`Picture::new`] cannot draw it whole, the part around an index is
    /// drawn: 16 indices of each of the last two dimensions, and 256 physical elements. The element at
    /// `index` is among both.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexMap::offset`] for the index, and `undecided`.
    pub fn around<'a>(layout: impl Into<Drawn<'a>>, caption: &str, index: &[u64]) -> Result<Picture, Error> {
        let map = layout.into();
        if map.maps().is_empty() {
            return map.offset(index).and_then(|_| Picture::new(map, caption));
        }
        if fits(map).is_ok() {
            return Picture::new(map, caption);
        }
        let offset = if map.element_count() == 0 { map.base() } else { map.offset(index)? };
        let back = offset.saturating_sub(map.base()).modulo(CORNER_PLACES);
        let start = offset.minus(back);
        let places = start..start.saturating_add(CORNER_PLACES).min(map.physical_elements());
        let part = Corner { extents: window(&extents(map), index), places };
        let mut picture = Picture::of(map, caption, &part)?;
        let slice = |extent: &Extent| format!("{}:{}", extent.start, extent.start.saturating_add(extent.size));
        let slices: Vec<String> = part.extents.iter().map(slice).collect();
        let (first, last) = (part.places.start, part.places.end.saturating_sub(1));
        picture.summary = format!(
            "{}, {} physical; shown: [{}], and the physical elements {first} to {last}",
            counted(map.element_count(), "element"),
            map.physical_elements(),
            slices.join(",")
        );
        Ok(picture)
    }

    fn of(map: Drawn<'_>, caption: &str, part: &Corner) -> Result<Picture, Error> {
        let broadcast = broadcast_axes(map);
        let mut memory = Vec::new();
        for offset in part.places.clone() {
            let index = map.inverse(offset)?;
            let colour = index.as_deref().map_or(0, |index| colour(map.sizes(), index));
            memory.push(Cell { offset, index: index.as_deref().map(|index| shared_index(index, &broadcast)), colour });
        }
        let labels = memory.iter().filter_map(|place| place.index.as_ref());
        let longest = labels.map(String::len).max().and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        let fitting = ROW_CHARACTERS.div_euclid(longest.plus(2)).min(ROW);
        Ok(Picture {
            caption: caption.to_owned(),
            panels: panels(map, &part.extents)?,
            start: part.places.start,
            row: count(row_length(map, fitting)),
            tile: count(tile_length(map)),
            bits: map.element_bits().into(),
            has_broadcast: broadcast.contains(&true),
            summary: summary(map, &memory),
            memory,
        })
    }

    fn offset_of(&self, place: usize) -> u64 {
        self.start.plus(checked::len_u64(place))
    }

    /// Returns the byte at which a cell of `memory` begins, and the bit in that byte.
    fn byte_of(&self, place: usize) -> (u64, u64) {
        let bits = u128::from(self.offset_of(place)).times(self.bits.into());
        let byte = u64::try_from(bits.divided_by(8)).unwrap_or(u64::MAX);
        (byte, u64::try_from(bits.modulo(8)).unwrap_or(0))
    }

    /// Writes the byte at which a cell of `memory` begins, with its bit if that is not the first: `3.4`.
    fn byte_name(&self, place: usize) -> String {
        match self.byte_of(place) {
            (byte, 0) => byte.to_string(),
            (byte, bit) => format!("{byte}.{bit}"),
        }
    }

    /// Whether a new byte begins between the previous cell of `memory` and this one. Always false for
    /// elements of whole bytes.
    fn begins_byte(&self, place: usize) -> bool {
        self.bits < 8 && place > 0 && self.byte_of(place).1 == 0
    }

    /// Returns the rows of the picture of the memory: the cells of each row, and whether the row stands for
    /// several rows that hold nothing but padding.
    fn memory_rows(&self) -> Vec<(Range<usize>, bool)> {
        let (mut rows, row): (Vec<(Range<usize>, bool)>, _) = (Vec::new(), self.row.max(1));
        for (number, cells) in self.memory.chunks(row).enumerate() {
            let start = number.times(row);
            let range = start..start.plus(cells.len());
            let is_padding = cells.iter().all(|cell| cell.index.is_none());
            match rows.last_mut() {
                Some((last, true)) if is_padding => last.end = range.end,
                _ => rows.push((range, is_padding)),
            }
        }
        // A single row of padding is shown cell by cell, like any other row.
        rows.iter_mut().for_each(|(range, folded)| *folded = *folded && range.len() > row);
        rows
    }

    fn last_offset(&self) -> u64 {
        let cells = self.panels.iter().flat_map(|panel| panel.rows.iter().flatten().flatten());
        let in_panels = cells.map(|cell| cell.offset).max().unwrap_or(0);
        in_panels.max(self.offset_of(self.memory.len().saturating_sub(1)))
    }
}

fn fits(map: Drawn<'_>) -> Result<(), Error> {
    let limit = |what, value, max| match value {
        value if value > max => Err(Error::out_of_limits(what, value, 0, max)),
        _ => Ok(()),
    };
    limit("the number of elements to draw", map.element_count(), MAX_ELEMENTS)?;
    let places = map.physical_elements().saturating_sub(map.base());
    limit("the number of physical elements to draw", places, MAX_ELEMENTS)?;
    limit("the number of columns to draw", map.sizes().last().copied().unwrap_or(1), MAX_COLUMNS)
}

fn summary(map: Drawn<'_>, memory: &[Cell]) -> String {
    let (logical, physical) = (map.element_count(), checked::len_u64(memory.len()));
    let elements = counted(logical, "element");
    let elements = match map.base() {
        0 => elements,
        base => format!("{elements} from element {base} on"),
    };
    let broadcast = broadcast_axes(map);
    let axes = || map.sizes().iter().zip(&broadcast).filter(|(_, is_broadcast)| **is_broadcast).map(|(size, _)| *size);
    match memory.iter().filter(|cell| cell.index.is_none()).count() {
        0 if logical > physical && axes().product::<u64>().times(physical) == logical => {
            let shared = axes().product::<u64>();
            format!("{elements}, {physical} physical: each is shared by {shared}")
        }
        0 if logical > physical => format!("{elements}, {physical} physical: some are shared"),
        0 => format!("{elements}, no padding"),
        1 => format!("{elements}, {physical} physical: 1 of them is padding"),
        padding => format!("{elements}, {physical} physical: {padding} of them are padding"),
    }
}

/// Returns for each axis whether all its indices have the same offset.
fn broadcast_axes(map: Drawn<'_>) -> Vec<bool> {
    let moves = |dim: usize| {
        map.maps().into_iter().any(|map| {
            let components = map.components().iter().filter(|component| component.dims().contains(&dim));
            components.flat_map(|component| component.chain.digits()).any(|digit| digit.stride != 0)
        })
    };
    map.sizes().iter().enumerate().map(|(dim, &size)| size > 1 && !moves(dim)).collect()
}

/// Writes the index of an element. For a broadcast axis it has `*`, which stands for every index.
fn shared_index(index: &[u64], broadcast: &[bool]) -> String {
    let pairs = index.iter().zip(broadcast);
    let words: Vec<String> = pairs.map(|(i, &all)| if all { "*".into() } else { i.to_string() }).collect();
    if words.is_empty() { "[]".into() } else { words.join(",") }
}

/// Returns how many consecutive elements in memory belong to one tile, or 0 if no dimension has tiles.
fn tile_length(map: Drawn<'_>) -> u64 {
    let tops =
        map.map().into_iter().flat_map(IndexMap::components).filter_map(|component| match component.chain.digits() {
            [top, _, ..] => Some(top.stride),
            _ => None,
        });
    tops.min().unwrap_or(0)
}

/// Returns the number of elements in one row of the picture of the memory: the largest stride from 2 to
/// `most`. Without such a stride, a memory of at most `most` elements is one row, and a longer one has rows
/// of up to 16 elements.
fn row_length(map: Drawn<'_>, most: u64) -> u64 {
    let fitting = |stride: &u64| (2..=most).contains(stride);
    let strides = map.digits().map(|digit| digit.stride).filter(fitting).max();
    strides.or_else(|| Some(map.physical_elements()).filter(fitting)).unwrap_or(most.min(16))
}

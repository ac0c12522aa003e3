//! `Picture`: what there is to draw, whatever it is drawn with.

use crate::error::Error;
use crate::map::IndexMap;

use super::extents::{Extent, extents, own_component, row_length, tile_length};

/// The most elements, logical or physical, that a picture shows.
pub const MAX_ELEMENTS: u64 = 1024;

/// The most columns that a picture shows: the size of the last dimension.
pub const MAX_COLUMNS: u64 = 64;

/// The most cells in one row of the memory, and the most characters of their labels (with room between them).
const ROW: u64 = 24;
const ROW_CHARACTERS: u64 = 120;

/// A layout, ready to be drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    pub(super) caption: String,
    pub(super) panels: Vec<Panel>,
    pub(super) memory: Vec<Place>,
    /// The cells of one row of the memory.
    pub(super) row: usize,
    /// The memory is parted after every so many cells; 0 for not at all.
    pub(super) tile: usize,
    pub(super) logical: u64,
}

/// The last two dimensions at one index of all others.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// Empty if there is only one panel.
    pub(super) title: String,
    pub(super) rows: Vec<Vec<Spot>>,
    /// The logical rows and columns; the rest is padding.
    pub(super) columns: usize,
    pub(super) logical_rows: usize,
    /// A tile begins after every so many rows and columns; 0 for not at all.
    pub(super) tile: (usize, usize),
    /// Is the first of the two dimensions real? (It is not for rank 0 and 1.)
    pub(super) has_rows: bool,
    pub(super) has_columns: bool,
}

/// A cell of the tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    Element { offset: u64, colour: usize },
    Padding { offset: u64 },
    Nothing,
}

/// A cell of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The index of the element that lies here, as text; `None` for padding.
    pub(super) index: Option<String>,
    pub(super) colour: usize,
}

impl Picture {
    /// Takes a layout apart for drawing. The caption is a line of text, best the layout's own.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfLimits`] if there are more than [`MAX_ELEMENTS`] elements (or places for them), or more than
    /// [`MAX_COLUMNS`] columns; [`Error::TooHard`] if strides that do not nest take too long to look through.
    pub fn new(map: &IndexMap, caption: &str) -> Result<Picture, Error> {
        let limit = |what, value, max| match value {
            value if value > max => Err(Error::OutOfLimits { what, value, min: 0, max }),
            _ => Ok(()),
        };
        limit("the number of elements to draw", map.logical_elements(), MAX_ELEMENTS)?;
        limit("the number of places in memory to draw", map.physical_elements(), MAX_ELEMENTS)?;
        limit("the number of columns to draw", map.sizes().last().copied().unwrap_or(1), MAX_COLUMNS)?;
        let mut memory = Vec::new();
        for offset in 0..map.physical_elements() {
            let index = map.inverse(offset)?;
            let colour = index.as_deref().map_or(0, |index| colour(map.sizes(), index));
            memory.push(Place { index: index.as_deref().map(comma_list), colour });
        }
        let labels = memory.iter().filter_map(|place| place.index.as_ref());
        let longest = labels.map(String::len).max().and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        let fitting = ROW_CHARACTERS.div_euclid(longest.saturating_add(2)).min(ROW);
        Ok(Picture {
            caption: caption.to_owned(),
            panels: panels(map, &memory)?,
            memory,
            row: count(row_length(map, fitting)),
            tile: count(tile_length(map)),
            logical: map.logical_elements(),
        })
    }

    /// `15 elements in 24 places: 9 of them are padding`.
    pub(super) fn summary(&self) -> String {
        let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let (places, padding) = (self.memory.len(), self.memory.iter().filter(|place| place.index.is_none()).count());
        let elements = plural(count(self.logical), "element");
        match padding {
            0 if count(self.logical) > places => format!("{elements} in {}: some are shared", plural(places, "place")),
            0 => format!("{elements}, no padding"),
            1 => format!("{elements} in {places} places: 1 of them is padding"),
            _ => format!("{elements} in {places} places: {padding} of them are padding"),
        }
    }
}

/// A number that is known to be small.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Elements of one panel share a colour; if there is only one panel, those of one row do.
fn colour(sizes: &[u64], index: &[u64]) -> usize {
    let number = |dims: usize| {
        let pairs = index.iter().zip(sizes).take(dims);
        pairs.fold(0, |number: u64, (&i, &size)| number.saturating_mul(size).saturating_add(i))
    };
    let panels: u64 = sizes.iter().rev().skip(2).product();
    let dims = if panels > 1 { sizes.len().saturating_sub(2) } else { sizes.len().saturating_sub(1) };
    count(number(dims))
}

fn comma_list(index: &[u64]) -> String {
    let index: Vec<String> = index.iter().map(u64::to_string).collect();
    if index.is_empty() { "[]".into() } else { index.join(",") }
}

fn panels(map: &IndexMap, memory: &[Place]) -> Result<Vec<Panel>, Error> {
    let sizes = map.sizes();
    let extents = extents(map);
    let one = Extent { size: 1, padded: 1, tile: 0 };
    let (leading, grid) = extents.split_at(extents.len().saturating_sub(2));
    let (row, column) = match *grid {
        [row, column] => (row, column),
        [column] => (one, column),
        _ => (one, one),
    };
    let mut panels = Vec::new();
    let mut index: Vec<u64> = vec![0; sizes.len()];
    let number: u64 = leading.iter().map(|extent| extent.size).product();
    for panel in 0..number {
        let mut rest = panel;
        for (slot, extent) in index.iter_mut().zip(leading).rev() {
            *slot = rest.checked_rem(extent.size).unwrap_or(0);
            rest = rest.checked_div(extent.size).unwrap_or(0);
        }
        let mut rows = Vec::new();
        for r in 0..row.padded.min(MAX_ELEMENTS) {
            let mut cells = Vec::new();
            for c in 0..column.padded.min(MAX_ELEMENTS) {
                for (slot, value) in index.iter_mut().rev().zip([c, r]) {
                    *slot = value;
                }
                cells.push(if r < row.size && c < column.size {
                    Spot::Element { offset: map.offset(&index)?, colour: colour(sizes, &index) }
                } else {
                    padding(map, &index, memory)
                });
            }
            rows.push(cells);
        }
        let title = match leading {
            [] => String::new(),
            _ if number == 1 => String::new(),
            _ => format!("[{},:,:]", comma_list(index.get(..leading.len()).unwrap_or(&[]))),
        };
        panels.push(Panel {
            title,
            rows,
            columns: count(column.size),
            logical_rows: count(row.size),
            tile: (count(row.tile), count(column.tile)),
            has_rows: sizes.len() > 1,
            has_columns: !sizes.is_empty(),
        });
    }
    Ok(panels)
}

/// The place an index past the sizes would take, if it is padding indeed.
fn padding(map: &IndexMap, index: &[u64], memory: &[Place]) -> Spot {
    let mut offset = map.base();
    for (dim, &i) in index.iter().enumerate() {
        match own_component(map, dim) {
            Some(component) => match component.chain().offset(i) {
                Ok(moved) => offset = offset.saturating_add(moved),
                Err(_) => return Spot::Nothing,
            },
            None if i == 0 => {}
            None => return Spot::Nothing,
        }
    }
    match memory.get(count(offset)) {
        Some(Place { index: None, .. }) => Spot::Padding { offset },
        _ => Spot::Nothing,
    }
}

//! The matrices of a picture: which indices are shown, and the cells of each matrix.

use core::ops::Range;

use tensor_layout::Error;
use tensor_layout::checked::Proven;
use tensor_layout::map::IndexMap;
use tensor_layout::plan::Component;

use crate::numbers::joined;

use super::drawn::Drawn;

/// The most elements, logical or physical, that a whole picture shows. Of a larger layout only a part can be
/// drawn ([`Picture::corner`](super::Picture::corner)).
pub const MAX_ELEMENTS: u64 = 1024;

/// The most columns that a whole picture shows. A column is an index of the last dimension.
pub const MAX_COLUMNS: u64 = 64;

/// If a layout is too large for a whole picture, this many indices of each of the last two dimensions are
/// shown.
const CORNER: u64 = 16;
/// If a layout is too large for a whole picture, this many matrices of the last two dimensions are shown.
const CORNER_MATRICES: u64 = 4;
/// If a layout is too large for a whole picture, this many physical elements are shown.
pub(super) const CORNER_PLACES: u64 = 256;

/// The most columns of a matrix that are drawn side by side. Further columns are drawn below them.
const BAND: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) offset: u64,
    /// The index of the element, as text. `None` if padding is here.
    pub(super) index: Option<String>,
    pub(super) colour: usize,
}

/// One dimension of the tensor, as a picture shows it.
#[derive(Debug, Clone, Copy)]
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

pub(super) fn extents(drawn: Drawn<'_>) -> Vec<Extent> {
    let extent = |(dim, &size): (usize, &u64)| {
        let plain = Extent { size, padded: size, tile: 0, start: 0 };
        let map = drawn.map();
        let Some((map, component)) = map.and_then(|map| Some((map, own_component(map, dim)?))) else { return plain };
        match component.chain.digits() {
            [top, _, ..] => {
                let tile = top.divisor.get();
                Extent { padded: size.checked_next_multiple_of(tile).unwrap_or(size), tile, ..plain }
            }
            [only] => Extent { padded: room(map, only.stride).map_or(size, |room| room.max(size)), ..plain },
            [] => plain,
        }
    };
    drawn.sizes().iter().enumerate().map(extent).collect()
}

/// Returns the component of a dimension. `None` if another dimension is part of the same component.
fn own_component(map: &IndexMap, dim: usize) -> Option<&Component> {
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

pub(super) fn window(extents: &[Extent], index: &[u64]) -> Vec<Extent> {
    let leading = extents.len().saturating_sub(2);
    let mut matrices = CORNER_MATRICES;
    let mut shown: Vec<Extent> = Vec::with_capacity(extents.len());
    for (dim, &extent) in extents.iter().enumerate().rev() {
        let at = index.get(dim).copied().unwrap_or(0);
        let (start, most) = if dim < leading {
            (at, matrices)
        } else {
            // The part that is shown consists of whole tiles, or lies inside one tile.
            let tile = extent.tile.max(1);
            let (step, rest) = match CORNER.divided_by(tile) {
                0 => (CORNER, tile.minus(at.modulo(tile).minus(at.modulo(tile).modulo(CORNER)))),
                tiles => (tile.times(tiles), CORNER),
            };
            let start = if tile > CORNER { at.minus(at.modulo(tile).modulo(step)) } else { at.minus(at.modulo(step)) };
            (start, if tile > CORNER { CORNER.min(rest) } else { step })
        };
        let size = extent.size.saturating_sub(start).min(most);
        if dim < leading {
            matrices = matrices.divided_by(size.max(1)).max(1);
        }
        let is_end = start.saturating_add(size) == extent.size;
        let padded = if is_end { extent.padded.saturating_sub(start).min(most.max(size)) } else { size };
        shown.push(Extent { size, padded, tile: extent.tile, start });
    }
    shown.reverse();
    shown
}

/// The matrix of the last two dimensions at one index of all others, or a band of its columns.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// The matrix, `[3,:,:]`. It is empty if there is only one.
    matrix: String,
    /// The heading: the matrix if there are several, and the range of columns if the matrix is drawn in
    /// several bands.
    pub(super) title: String,
    /// The indices of the first row and of the first column that are drawn.
    pub(super) first: (usize, usize),
    /// The cells of each row. `None` where the tensor has neither an element nor padding.
    pub(super) rows: Vec<Vec<Option<Cell>>>,
    /// How many columns hold elements and not only padding, and how many rows.
    pub(super) columns: usize,
    pub(super) logical_rows: usize,
    /// How many rows and how many columns a tile has; 0 if the dimension has no tiles.
    pub(super) tile: (usize, usize),
    /// Whether the tensor has the dimension of the rows, and whether it has the dimension of the columns.
    /// Rank 0 has neither, and rank 1 has only columns.
    pub(super) has_rows: bool,
    pub(super) has_columns: bool,
}

impl Panel {
    /// Divides the matrix into bands of at most `most` columns: whole tiles, or a part of one tile.
    pub(super) fn bands(&self, most: usize) -> Vec<Panel> {
        let (all, tile) = (self.rows.first().map_or(0, Vec::len), self.tile.1);
        let whole = most.checked_div(tile).filter(|&tiles| tiles > 0).map_or(most, |tiles| tiles.times(tile));
        let (mut bands, mut start) = (Vec::new(), 0_usize);
        while start < all {
            let in_tile = if tile > most { tile.minus(start.modulo(tile)) } else { whole };
            let end = start.plus(whole.min(in_tile)).min(all);
            bands.push(start..end);
            start = end;
        }
        if bands.len() > 1 { bands.into_iter().map(|band| self.band(band)).collect() } else { vec![self.clone()] }
    }

    fn band(&self, columns: Range<usize>) -> Panel {
        let from = self.first.1.plus(columns.start);
        let named = format!("columns {from} to {}", from.plus(columns.len()).saturating_sub(1));
        Panel {
            title: if self.matrix.is_empty() { named } else { format!("{}, {named}", self.matrix) },
            first: (self.first.0, from),
            columns: self.columns.min(columns.end).saturating_sub(columns.start),
            rows: self.rows.iter().map(|cells| cells.get(columns.clone()).unwrap_or(&[]).to_vec()).collect(),
            ..self.clone()
        }
    }
}

pub(super) fn panels(map: Drawn<'_>, extents: &[Extent]) -> Result<Vec<Panel>, Error> {
    let sizes = map.sizes();
    let one = Extent { size: 1, padded: 1, tile: 0, start: 0 };
    let (leading, grid) = extents.split_at(extents.len().saturating_sub(2));
    let (row, column) = match *grid {
        [row, column] => (row, column),
        [column] => (one, column),
        _ => (one, one),
    };
    let mut panels = Vec::new();
    let mut index: Vec<u64> = vec![0; sizes.len()];
    let matrices: u64 = leading.iter().map(|extent| extent.size).product();
    // One matrix is enough for a tensor without elements.
    let number = if map.element_count() == 0 { matrices.min(1) } else { matrices };
    for panel in 0..number {
        let mut rest = panel;
        for (slot, extent) in index.iter_mut().zip(leading).rev() {
            *slot = extent.start.plus(rest.modulo(extent.size));
            rest = rest.divided_by(extent.size);
        }
        let mut rows = Vec::new();
        for r in 0..row.padded.min(MAX_ELEMENTS) {
            let mut cells = Vec::new();
            for c in 0..column.padded.min(MAX_ELEMENTS) {
                for (slot, value) in index.iter_mut().rev().zip([column.start.plus(c), row.start.plus(r)]) {
                    *slot = value;
                }
                cells.push(if r < row.size && c < column.size {
                    let (offset, colour) = (map.offset(&index)?, colour(sizes, &index));
                    Some(Cell { offset, index: Some(joined(&index)), colour })
                } else {
                    map.map().and_then(|map| padding(map, &index)).map(|offset| Cell { offset, index: None, colour: 0 })
                });
            }
            rows.push(cells);
        }
        let matrix = match number {
            1 => String::new(),
            _ => format!("[{},:,:]", joined(index.get(..leading.len()).unwrap_or(&[]))),
        };
        let whole = Panel {
            title: matrix.clone(),
            matrix,
            first: (count(row.start), count(column.start)),
            columns: count(column.size).min(rows.first().map_or(0, Vec::len)),
            rows,
            logical_rows: count(row.size),
            tile: (count(row.tile), count(column.tile)),
            has_rows: sizes.len() > 1,
            has_columns: !sizes.is_empty(),
        };
        panels.extend(whole.bands(BAND));
    }
    Ok(panels)
}

fn padding(map: &IndexMap, index: &[u64]) -> Option<u64> {
    let mut offset = map.base();
    for (dim, &i) in index.iter().enumerate() {
        match own_component(map, dim) {
            Some(component) => offset = offset.plus(component.chain.offset(i).ok()?),
            None if i == 0 => {}
            None => return None,
        }
    }
    (map.inverse(offset) == Ok(None)).then_some(offset)
}

/// Returns the number of the colour of an element. Each matrix has a colour, or each row if there is only one
/// matrix.
pub(super) fn colour(sizes: &[u64], index: &[u64]) -> usize {
    let number = |dims: usize| {
        let pairs = index.iter().zip(sizes).take(dims);
        pairs.fold(0, |number: u64, (&i, &size)| number.times(size).plus(i))
    };
    let panels: u64 = sizes.iter().rev().skip(2).product();
    let dims = if panels > 1 { sizes.len().minus(2) } else { sizes.len().saturating_sub(1) };
    count(number(dims))
}

/// Converts a number to `usize`. It fits, because pictures are small.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

//! `Picture`: the contents of a picture, which text and SVG share.

use core::ops::Range;
use tensor_layout::checked::{self, Exact};

use tensor_layout::Error;
use tensor_layout::map::IndexMap;
use tensor_layout::plan::counted;

use super::{Extent, extents, own_component, row_length, tile_length};

/// The most elements, logical or physical, that a whole picture shows. Of a larger layout only a part can be
/// drawn ([`Picture::corner`]).
///
/// ```
/// use tensor_layout_text::draw::{Picture, MAX_COLUMNS, MAX_ELEMENTS};
/// use tensor_layout::{ArrayShape, ToIndexMap};
///
/// let draw = |text: &str| Picture::new(&text.parse::<ArrayShape>()?.to_index_map()?, text);
/// let picture = draw("f32[3,5]{1,0:T(2,2)}")?;
/// assert!(picture.to_string().contains("15 elements, 24 physical: 9 of them are padding"));
/// assert!(picture.to_svg().starts_with("<svg"));
/// assert_eq!((MAX_ELEMENTS, MAX_COLUMNS), (1024, 64));
/// assert_eq!(draw("f32[64,64]").unwrap_err().code(), "out_of_limits");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub const MAX_ELEMENTS: u64 = 1024;

/// The most columns that a whole picture shows. A column is an index of the last dimension.
pub const MAX_COLUMNS: u64 = 64;

/// The part that is shown of a layout too large for a whole picture: how many indices of each of the last two
/// dimensions, how many matrices of the last two dimensions, and how many physical elements.
const CORNER: u64 = 16;
const CORNER_MATRICES: u64 = 4;
const CORNER_PLACES: u64 = 256;

/// The most cells in one row of the picture of the memory, and the most characters of such a row.
const ROW: u64 = 16;
pub(super) const ROW_CHARACTERS: u64 = 80;

/// The most columns of a matrix that are drawn side by side. Further columns are drawn below them.
const BAND: u64 = 16;

/// A layout, ready to be drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    pub(super) caption: String,
    pub(super) panels: Vec<Panel>,
    pub(super) memory: Vec<Cell>,
    /// The offset of the first cell of `memory` in the buffer, in elements.
    pub(super) start: u64,
    /// The number of cells in one row of the picture of the memory.
    pub(super) row: usize,
    /// After every `tile` cells, the picture of the memory has a gap; 0 means no gaps.
    pub(super) tile: usize,
    /// The size of an element, in bits.
    pub(super) bits: u64,
    /// Whether elements share an offset because an axis has stride 0.
    pub(super) has_broadcast: bool,
    /// A line that says how many logical and physical elements there are, and which of them are shown.
    summary: String,
}

/// The part of a layout that a picture shows.
struct Corner {
    /// What is shown of each dimension.
    extents: Vec<Extent>,
    /// The range of offsets that the picture of the memory shows, in elements.
    places: Range<u64>,
}

/// The matrix of the last two dimensions at one index of all others.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// The title of the matrix. It is empty if there is only one.
    pub(super) title: String,
    /// The number of the matrix in each dimension but the last two.
    leading: Vec<u64>,
    /// The indices of the first row and of the first column that are drawn.
    pub(super) first: (usize, usize),
    pub(super) rows: Vec<Vec<Spot>>,
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

/// A cell of the picture of the tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    Element { offset: u64, colour: usize },
    Padding { offset: u64 },
    Nothing,
}

impl Panel {
    /// Returns the index of a cell as text: `0,2,1`.
    pub(super) fn index(&self, row: usize, column: usize) -> String {
        let grid = [(self.has_rows, row.plus(self.first.0)), (self.has_columns, column.plus(self.first.1))];
        let grid = grid.into_iter().filter(|&(real, _)| real).map(|(_, i)| i.to_string());
        let index: Vec<String> = self.leading.iter().map(u64::to_string).chain(grid).collect();
        index.join(",")
    }
}

impl Panel {
    /// Returns the matrix with only these columns. Its title names them.
    pub(super) fn columns(&self, columns: Range<usize>) -> Panel {
        let (from, size) = (self.first.1.plus(columns.start), self.columns);
        let matrix = self.title.split("columns ").next().unwrap_or("");
        Panel {
            title: format!("{matrix}columns {from} to {}", from.plus(columns.len()).saturating_sub(1)),
            first: (self.first.0, from),
            columns: size.min(columns.end).saturating_sub(columns.start),
            rows: self.rows.iter().map(|cells| cells.get(columns.clone()).unwrap_or(&[]).to_vec()).collect(),
            ..self.clone()
        }
    }
}

/// A cell of the picture of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    /// The index of the element that is stored here, as text. `None` if padding is here.
    pub(super) index: Option<String>,
    pub(super) colour: usize,
}

impl Picture {
    /// Makes the picture of a whole layout. The caption is a line of text, usually the layout itself.
    ///
    /// # Errors
    ///
    /// `out_of_limits` if there are more than [`MAX_ELEMENTS`] elements, logical or physical, or more
    /// than [`MAX_COLUMNS`] columns. `undecided` if the index at an offset takes too long to find,
    /// because strides do not nest.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, ToIndexMap};
    /// use tensor_layout_text::draw::Picture;
    ///
    /// let desc: BufferTensorDesc = "f32[2,3]:[5,1]".parse()?;
    /// let picture = Picture::new(&desc.to_index_map()?, "two rows of three")?;
    /// assert!(picture.to_string().contains("6 elements, 8 physical: 2 of them are padding"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn new(map: &IndexMap, caption: &str) -> Result<Picture, Error> {
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
    pub fn corner(map: &IndexMap, caption: &str) -> Result<Picture, Error> {
        Picture::around(map, caption, &vec![0; map.sizes().len()])
    }

    /// Makes the picture of any layout. If [`Picture::new`] cannot draw it whole, the part around an index is
    /// drawn: 16 indices of each of the last two dimensions, and 256 physical elements. The element at
    /// `index` is among both.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexMap::offset`] for the index, and `undecided`.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, ToIndexMap};
    /// use tensor_layout_text::draw::Picture;
    ///
    /// let large: ArrayShape = "f32[100000,100000]{1,0:T(8,128)}".parse()?;
    /// let text = Picture::around(&large.to_index_map()?, &large.to_string(), &[500, 70000])?.to_string();
    /// assert!(text.contains("shown: [496:512,70000:70016]"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn around(map: &IndexMap, caption: &str, index: &[u64]) -> Result<Picture, Error> {
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

    fn of(map: &IndexMap, caption: &str, part: &Corner) -> Result<Picture, Error> {
        let broadcast = broadcast_axes(map);
        let mut memory = Vec::new();
        for offset in part.places.clone() {
            let index = map.inverse(offset)?;
            let colour = index.as_deref().map_or(0, |index| colour(map.sizes(), index));
            memory.push(Cell { index: index.as_deref().map(|index| shared_index(index, &broadcast)), colour });
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

    /// Returns the summary, such as `15 elements, 24 physical: 9 of them are padding`.
    pub(super) fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the offset of a cell of `memory` in the buffer, in elements.
    pub(super) fn offset_of(&self, place: usize) -> u64 {
        self.start.plus(checked::count(place))
    }

    /// Returns the byte at which a cell of `memory` begins, and the bit in that byte.
    fn byte_of(&self, place: usize) -> (u64, u64) {
        let bits = u128::from(self.offset_of(place)).times(self.bits.into());
        let byte = u64::try_from(bits.divided_by(8)).unwrap_or(u64::MAX);
        (byte, u64::try_from(bits.modulo(8)).unwrap_or(0))
    }

    /// Writes the byte at which a cell of `memory` begins, with its bit if that is not the first: `3.4`.
    pub(super) fn byte_name(&self, place: usize) -> String {
        match self.byte_of(place) {
            (byte, 0) => byte.to_string(),
            (byte, bit) => format!("{byte}.{bit}"),
        }
    }

    /// Whether a new byte begins between the previous cell of `memory` and this one. Always false for
    /// elements of whole bytes.
    pub(super) fn begins_byte(&self, place: usize) -> bool {
        self.bits < 8 && place > 0 && self.byte_of(place).1 == 0
    }

    /// Returns the rows of the picture of the memory: the cells of each row, and whether the row stands for
    /// several rows that hold nothing but padding.
    pub(super) fn memory_rows(&self) -> Vec<(Range<usize>, bool)> {
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

    /// Returns the largest offset that is shown, in elements.
    pub(super) fn last_offset(&self) -> u64 {
        let spots = self.panels.iter().flat_map(|panel| panel.rows.iter().flatten());
        let in_panels = spots.filter_map(|spot| match spot {
            Spot::Element { offset, .. } | Spot::Padding { offset } => Some(*offset),
            Spot::Nothing => None,
        });
        in_panels.max().unwrap_or(0).max(self.offset_of(self.memory.len().saturating_sub(1)))
    }
}

/// Returns an error if a layout is too large for a whole picture.
fn fits(map: &IndexMap) -> Result<(), Error> {
    let limit = |what, value, max| match value {
        value if value > max => Err(Error::out_of_limits(what, value, 0, max)),
        _ => Ok(()),
    };
    limit("the number of elements to draw", map.element_count(), MAX_ELEMENTS)?;
    let places = map.physical_elements().saturating_sub(map.base());
    limit("the number of physical elements to draw", places, MAX_ELEMENTS)?;
    limit("the number of columns to draw", map.sizes().last().copied().unwrap_or(1), MAX_COLUMNS)
}

/// Returns the extents of the part that is shown around an index.
fn window(extents: &[Extent], index: &[u64]) -> Vec<Extent> {
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

fn summary(map: &IndexMap, memory: &[Cell]) -> String {
    let (logical, physical) = (map.element_count(), checked::count(memory.len()));
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

/// Converts a number to `usize`. It fits, because pictures are small.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the number of the colour of an element. Each matrix has a colour, or each row if there is only one
/// matrix.
fn colour(sizes: &[u64], index: &[u64]) -> usize {
    let number = |dims: usize| {
        let pairs = index.iter().zip(sizes).take(dims);
        pairs.fold(0, |number: u64, (&i, &size)| number.times(size).plus(i))
    };
    let panels: u64 = sizes.iter().rev().skip(2).product();
    let dims = if panels > 1 { sizes.len().minus(2) } else { sizes.len().saturating_sub(1) };
    count(number(dims))
}

/// Returns for each axis whether all its indices have the same offset.
fn broadcast_axes(map: &IndexMap) -> Vec<bool> {
    let moves = |dim: usize| {
        let components = map.components().iter().filter(|component| component.dims().contains(&dim));
        components.flat_map(|component| component.chain.digits()).any(|digit| digit.stride != 0)
    };
    map.sizes().iter().enumerate().map(|(dim, &size)| size > 1 && !moves(dim)).collect()
}

/// Writes the index of an element. For a broadcast axis it has `*`, which stands for every index.
fn shared_index(index: &[u64], broadcast: &[bool]) -> String {
    let pairs = index.iter().zip(broadcast);
    let words: Vec<String> = pairs.map(|(i, &all)| if all { "*".into() } else { i.to_string() }).collect();
    if words.is_empty() { "[]".into() } else { words.join(",") }
}

fn panels(map: &IndexMap, extents: &[Extent]) -> Result<Vec<Panel>, Error> {
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
                    Spot::Element { offset: map.offset(&index)?, colour: colour(sizes, &index) }
                } else {
                    padding(map, &index)
                });
            }
            rows.push(cells);
        }
        let title = match number {
            1 => String::new(),
            _ => format!("[{},:,:]", shared_index(&index, &vec![false; leading.len()])),
        };
        let bands = bands(rows.first().map_or(0, Vec::len), count(column.tile));
        let is_cut = bands.len() > 1;
        for band in bands {
            let from = count(column.start).plus(band.start);
            let named = format!("columns {from} to {}", count(column.start).plus(band.end).saturating_sub(1));
            let words = [title.clone(), if is_cut { named } else { String::new() }];
            let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
            panels.push(Panel {
                title: words.join(", "),
                leading: index.get(..leading.len()).unwrap_or(&[]).to_vec(),
                first: (count(row.start), from),
                columns: count(column.size).min(band.end).saturating_sub(band.start),
                rows: rows.iter().map(|cells| cells.get(band.clone()).unwrap_or(&[]).to_vec()).collect(),
                logical_rows: count(row.size),
                tile: (count(row.tile), count(column.tile)),
                has_rows: sizes.len() > 1,
                has_columns: !sizes.is_empty(),
            });
        }
    }
    Ok(panels)
}

/// Divides the columns of a matrix into bands of at most 16 columns. A band has whole tiles, or a part of one
/// tile.
fn bands(columns: usize, tile: usize) -> Vec<Range<usize>> {
    let most = count(BAND);
    let whole = most.checked_div(tile).map_or(most, |tiles| if tiles > 0 { tiles.times(tile) } else { most });
    let mut bands = Vec::new();
    let mut start = 0_usize;
    while start < columns {
        let in_tile = if tile > most { tile.minus(start.modulo(tile)) } else { whole };
        let end = start.plus(whole.min(in_tile)).min(columns);
        bands.push(start..end);
        start = end;
    }
    // A matrix without columns has one band, so that its rows are drawn.
    if bands.is_empty() { core::iter::once(0..0).collect() } else { bands }
}

/// Returns the spot of an index past the sizes: padding if the offset that the index would have is padding,
/// and otherwise nothing.
fn padding(map: &IndexMap, index: &[u64]) -> Spot {
    let mut offset = map.base();
    for (dim, &i) in index.iter().enumerate() {
        match own_component(map, dim) {
            Some(component) => match component.chain.offset(i) {
                Ok(moved) => offset = offset.plus(moved),
                Err(_) => return Spot::Nothing,
            },
            None if i == 0 => {}
            None => return Spot::Nothing,
        }
    }
    match map.inverse(offset) {
        Ok(None) => Spot::Padding { offset },
        _ => Spot::Nothing,
    }
}

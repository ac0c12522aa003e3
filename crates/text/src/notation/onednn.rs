//! oneDNN's format tags: `nhwc`, `nChw16c`, `OIhw4i16o4i`, `AB4a128b2a`.
//!
//! The letters in front are the dimensions, major to minor. A capital letter says that the dimension is also
//! divided into blocks. The blocks follow, major to minor, each as a number and the letter of its dimension:
//! `OIhw4i16o4i` ends in blocks of 4 i, which contain blocks of 16 o, which contain blocks of 4 i. A
//! dimension is padded to a multiple of the product of its blocks. Source: oneDNN's *Understanding Memory
//! Formats* and `memory_desc_wrapper::off_v`.

use core::fmt::{self, Write};

use smallvec::SmallVec;

use tensor_layout::Error;
use tensor_layout::checked::{self, Exact};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{ArrayShape, Layout, Tile};
use tensor_layout::{IndexMap, LayoutClass, ToIndexMap};

use super::strided::insert_missing;
use super::{bits_in_words, digits_by_dimension};

/// The most dimensions of a oneDNN memory descriptor (`DNNL_MAX_NDIMS`). Layouts with more have no tag.
const MAX_DIMENSIONS: usize = 12;

/// Returns the array that a whole text describes; see [`read_tag`].
fn shape(data_type: DataType, sizes: &[u64], tag: &str) -> Result<ArrayShape, Error> {
    let mut cursor = Cursor::new(tag);
    let shape = read_tag(&mut cursor, data_type, sizes)?;
    cursor.end("nothing more")?;
    Ok(shape)
}

/// Reads the tag at the cursor and returns the array that it describes, as an XLA shape. `sizes` are in the
/// order of the tag's alphabet, whatever the order in the tag: n c d h w for activations, g o i d h w for
/// weights, a b c.. for the abstract tags, t n c and l d n c i g o for recurrent layers.
///
/// XLA can express every blocked tag exactly. One tile pads each dimension to its block, and each further
/// tile moves one run of the blocks after the others. Elements below a byte take their own width, as
/// everywhere in oneDNN, so the layout says `E(4)` for `s4`.
pub(super) fn read_tag(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    let start = cursor.position();
    let tag = Tag::read(cursor)?;
    let rank = sizes.len();
    if tag.outer.len() != rank {
        return Err(cursor.error_at(start, &format!("a oneDNN tag of {rank} letters, one for each size")));
    }
    let minor_to_major: SmallVec<[usize; 8]> = tag.outer.iter().rev().copied().collect();
    let mut layout = Layout::new(&minor_to_major)?.with_tiles(&tag.tiles()?);
    if data_type.bits() < 8 {
        layout.element_bits = Some(data_type.bits());
    }
    ArrayShape::new(data_type, sizes, layout)
}

/// Returns the abstract oneDNN tag (`aBcd16b`) of a layout, if there is one.
///
/// A tag determines the offsets of all elements and the size of the buffer, so both must equal those of the
/// layout. If several tags fit, the result is the tag in which a dimension with a single block follows the
/// dimension before it. The grammar of tags is larger than the list of formats for which a given oneDNN
/// release has kernels.
pub(super) fn tag(map: &IndexMap) -> Result<String, Error> {
    if map.element_count() == 0 {
        return Err(Error::not_expressible("oneDNN tag", "it holds no elements"));
    }
    let found = Tag::of(map).map_err(|reason| Error::not_expressible("oneDNN tag", reason))?;
    let text = found.to_string();
    if shape(map.data_type(), map.sizes(), &text)?.to_index_map()? == *map {
        return Ok(text);
    }
    let reason = if map.element_bits() == map.data_type().bits() {
        "its buffer is padded after the last block".into()
    } else {
        format!("an element takes {} here, and {} in oneDNN", bits_in_words(map.element_bits()), map.data_type().bits())
    };
    Err(Error::not_expressible("oneDNN tag", reason))
}

/// The contents of a tag.
struct Tag {
    /// The dimensions, major to minor.
    outer: SmallVec<[usize; 8]>,
    /// The blocks, major to minor: the dimension and the number of elements.
    blocks: SmallVec<[(usize, u64); 8]>,
}

impl Tag {
    fn read(cursor: &mut Cursor<'_>) -> Result<Tag, Error> {
        let start = cursor.position();
        let text = cursor.word();
        let letters_end = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (letters, inner) = text.split_at_checked(letters_end).unwrap_or((text, ""));
        let alphabet = alphabet_of(letters);
        let named: String = alphabet.chars().filter(|&letter| names(letters, letter)).collect();
        let at = |offset: usize| start.plus(offset);

        let mut tag = Tag { outer: SmallVec::new(), blocks: SmallVec::new() };
        for (offset, letter) in letters.char_indices() {
            match named.find(letter.to_ascii_lowercase()) {
                Some(dimension) if !tag.outer.contains(&dimension) => tag.outer.push(dimension),
                Some(_) => return Err(cursor.error_at(at(offset), "a letter that was not used before")),
                None => {
                    return Err(cursor.error_at(at(offset), &format!("one of the letters {alphabet} of a oneDNN tag")));
                }
            }
        }
        if letters.is_empty() {
            return Err(cursor.error_at(start, "a oneDNN tag such as nhwc, nChw16c or aBcd16b"));
        }
        if tag.outer.len() > MAX_DIMENSIONS {
            return Err(cursor.error_at(start, "a oneDNN tag of at most 12 dimensions"));
        }
        if alphabet == ABSTRACT && !ABSTRACT.starts_with(&named) {
            return Err(cursor.error_at(start, "an abstract tag that names its dimensions a, b, c.. without a gap"));
        }

        let mut rest = Cursor::new(inner);
        while let Some(_digit) = rest.peek() {
            let offset = letters_end.plus(rest.position());
            let size = rest.number("a block size").ok().filter(|&size| size > 1);
            let size = size.ok_or_else(|| cursor.error_at(at(offset), "a block size from 2 to 2^64 - 1"))?;
            let offset = letters_end.plus(rest.position());
            let letter = inner.get(rest.position()..).and_then(|text| text.chars().next());
            let dimension = letter.and_then(|letter| named.find(letter));
            let dimension =
                dimension.ok_or_else(|| cursor.error_at(at(offset), "the small letter of a dimension of the tag"))?;
            tag.blocks.push((dimension, size));
            let next = rest.position().plus(1);
            rest.move_to(next);
        }
        for (offset, (letter, &dimension)) in letters.chars().zip(&tag.outer).enumerate() {
            let blocked = tag.blocks.iter().any(|&(block, _)| block == dimension);
            if letter.is_ascii_uppercase() != blocked {
                let expected = if blocked {
                    "a capital, as this dimension has blocks"
                } else {
                    "a small letter, as this dimension has no blocks"
                };
                return Err(cursor.error_at(at(offset), expected));
            }
        }
        cursor.move_to(at(text.len()));
        Ok(tag)
    }

    /// Returns the tag of a map, or the reason why there is none. Padding after the end and the width of
    /// elements are ignored.
    fn of(map: &IndexMap) -> Result<Tag, String> {
        let rank = map.sizes().len();
        if rank == 0 || rank > MAX_DIMENSIONS {
            return Err(format!("oneDNN has 1 to {MAX_DIMENSIONS} dimensions, and this layout has {rank}"));
        }
        if map.base() != 0 {
            return Err(format!("it begins {} elements into its buffer", map.base()));
        }
        let dimensions = digits_by_dimension(map).ok_or_else(|| match map.class() {
            LayoutClass::RaggedSplit => "its blocks do not divide each other".to_owned(),
            _ => "`*` joins dimensions, and oneDNN blocks each on its own".to_owned(),
        })?;
        let placed = placed_blocks(map, &dimensions)?;
        // Whole top digits at the major end become the letters in front. All other digits become blocks.
        let first_outer = placed.iter().rposition(|block| !block.is_whole_top).map_or(0, |last| last.plus(1));
        let (inner, tops) = placed.split_at_checked(first_outer).unwrap_or((&placed, &[]));
        let mut outer: SmallVec<[usize; 8]> = tops.iter().rev().map(|block| block.dimension).collect();
        let blocks = inner.iter().rev().map(|block| (block.dimension, block.size)).collect();
        insert_missing(&mut outer, rank);
        Ok(Tag { outer, blocks })
    }

    /// Returns the tiles that describe the same layout. The blocks are divided into runs in which the
    /// dimensions are in memory order. For each run, one tile lists the part of each dimension that is in
    /// this run and the runs after it. The tile moves these parts after the rest.
    fn tiles(&self) -> Result<Vec<Tile>, Error> {
        let rank_of = |dimension: usize| self.outer.iter().position(|&outer| outer == dimension).unwrap_or(usize::MAX);
        let mut run_starts: SmallVec<[usize; 8]> = SmallVec::new();
        let mut previous = None;
        for (index, &(dimension, _)) in self.blocks.iter().enumerate() {
            let rank = rank_of(dimension);
            if previous.is_none_or(|previous| rank <= previous) {
                run_starts.push(index);
            }
            previous = Some(rank);
        }
        let first = self.blocks.iter().map(|&(dimension, _)| rank_of(dimension)).min().unwrap_or(0);
        let mut tiles = Vec::with_capacity(run_starts.len());
        for start in run_starts {
            let following = self.blocks.get(start..).unwrap_or(&[]);
            let mut sizes = Vec::new();
            for &dimension in self.outer.get(first..).unwrap_or(&[]) {
                let mut total = 1;
                for &(_, size) in following.iter().filter(|&&(block, _)| block == dimension) {
                    total = checked::mul(total, size, "a oneDNN block")?;
                }
                sizes.push(total);
            }
            tiles.push(Tile::new(&sizes)?);
        }
        Ok(tiles)
    }
}

/// A digit of a dimension as a block, or padding that is counted as a block.
struct Block {
    dimension: usize,
    size: u64,
    /// Whether the digit is the top digit of its dimension and takes as many values as fit between its stride
    /// and the next.
    is_whole_top: bool,
}

/// Returns the digits of all dimensions as blocks without gaps, the minor digit first.
fn placed_blocks(map: &IndexMap, dimensions: &[Vec<(u64, u64)>]) -> Result<Vec<Block>, String> {
    // Each entry is a digit: its stride, its dimension, the number of its values, and how many digits of the
    // dimension are above it.
    let mut digits: Vec<(u64, usize, u64, usize)> = Vec::new();
    for (dimension, list) in dimensions.iter().enumerate() {
        let placed = list.iter().enumerate();
        digits.extend(placed.map(|(above, &(values, stride))| (stride, dimension, values, above)));
    }
    digits.sort_by_key(|&(stride, ..)| stride);
    let mut left: SmallVec<[usize; 8]> = dimensions.iter().map(Vec::len).collect();
    let mut blocks = Vec::new();
    let first = digits.first().map_or(map.physical_elements(), |&(stride, ..)| stride);
    fill_gap(first, &left, &mut blocks)?;
    for (position, &(stride, dimension, values, above)) in digits.iter().enumerate() {
        let Some(left_here) = left.get_mut(dimension) else { continue };
        *left_here = left_here.minus(1);
        if *left_here != above {
            return Err(format!("the top digit of dimension {dimension} is inside a block"));
        }
        let next = digits.get(position.plus(1)).map_or(map.physical_elements(), |&(stride, ..)| stride);
        let room = next.checked_div(stride).filter(|room| *room >= values && next.is_multiple_of(stride));
        let room = room.ok_or_else(|| {
            format!("dimension {dimension} takes {values} steps of {stride}, and what follows begins at {next}")
        })?;
        if above == 0 {
            blocks.push(Block { dimension, size: room, is_whole_top: room == values });
        } else if room.is_multiple_of(values) {
            blocks.push(Block { dimension, size: values, is_whole_top: false });
            fill_gap(room.divided_by(values), &left, &mut blocks)?;
        } else {
            return Err(format!("there is a gap after a block of {values} in dimension {dimension}"));
        }
    }
    Ok(blocks)
}

/// Counts a gap as a block of a dimension that has no digits left. The index of that block is always 0.
fn fill_gap(size: u64, left: &[usize], blocks: &mut Vec<Block>) -> Result<(), String> {
    if size > 1 {
        let dimension = left.iter().position(|&left| left == 0);
        let dimension = dimension.ok_or_else(|| format!("between the elements of a block there is room for {size}"))?;
        blocks.push(Block { dimension, size, is_whole_top: false });
    }
    Ok(())
}

impl fmt::Display for Tag {
    /// Writes the tag in the abstract alphabet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |dimension: usize| ABSTRACT.chars().nth(dimension).unwrap_or('?');
        for &dimension in &self.outer {
            let blocked = self.blocks.iter().any(|&(block, _)| block == dimension);
            f.write_char(if blocked { letter(dimension).to_ascii_uppercase() } else { letter(dimension) })?;
        }
        self.blocks.iter().try_for_each(|&(dimension, size)| write!(f, "{size}{}", letter(dimension)))
    }
}

const ABSTRACT: &str = "abcdefghijkl";

/// Returns the alphabet of a tag's letters, in the order of the logical dimensions.
fn alphabet_of(letters: &str) -> &'static str {
    const BY_LETTER: [(char, &str); 5] =
        [('a', ABSTRACT), ('l', "ldncigo"), ('t', "tnc"), ('o', "goidhw"), ('n', "ncdhw")];
    if letters == "x" {
        return "x";
    }
    let found = BY_LETTER.iter().find(|&&(letter, _)| names(letters, letter));
    found.map_or(ABSTRACT, |&(_, alphabet)| alphabet)
}

fn names(letters: &str, letter: char) -> bool {
    letters.chars().any(|c| c.eq_ignore_ascii_case(&letter))
}

#[cfg(test)]
mod tests;

//! oneDNN's format tags: `nhwc`, `nChw16c`, `OIhw4i16o4i`, `AB4a128b2a`.
//!
//! The letters in front are the dimensions, major to minor; a capital says that the dimension is
//! also cut into blocks. The blocks follow, major to minor, each a number and the letter of its
//! dimension: `OIhw4i16o4i` ends in blocks of 4 i, in them 16 o, in them 4 i. A dimension is padded
//! to a multiple of the product of its blocks. Source: oneDNN's *Understanding Memory Formats*
//! and `memory_desc_wrapper::off_v`.

use smallvec::SmallVec;

use crate::checked;
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::tiled::{ArrayShape, Layout, Tile};

/// The most dimensions a oneDNN memory descriptor has (`DNNL_MAX_NDIMS`).
const MAX_DIMENSIONS: usize = 12;

/// The array that a oneDNN tag describes, as an XLA shape.
///
/// `sizes` are in the order of the tag's alphabet, whatever the tag's own order: n c d h w for
/// activations, g o i d h w for weights, a b c.. for the abstract tags, t n c and l d n c i g o for
/// recurrent layers. Every blocked tag has an exact spelling: one tile pads each dimension to its
/// block, and each further tile sorts one run of the blocks behind the others. Elements
/// below a byte take their own width, as everywhere in oneDNN, so the layout says `E(4)` for `s4`.
///
/// # Errors
///
/// [`Error::Parse`] with a column in the tag, [`Error::RankMismatch`] if it has not one letter for
/// each size, [`Error::Overflow`].
///
/// ```
/// use tensor_layout::{notation::onednn, DataType};
///
/// let shape = onednn::shape(DataType::F32, &[2, 35, 9, 9], "nChw16c")?;
/// assert_eq!(shape.to_string(), "f32[2,35,9,9]{3,2,1,0:T(16,1,1)}");
/// let shape = onednn::shape(DataType::BF16, &[50, 300], "AB4a128b2a")?;
/// assert_eq!(shape.to_string(), "bf16[50,300]{1,0:T(8,128)(2,1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn shape(data_type: DataType, sizes: &[u64], tag: &str) -> Result<ArrayShape, Error> {
    let mut cursor = Cursor::new(tag);
    let shape = read_tag(&mut cursor, data_type, sizes)?;
    cursor.end("nothing more")?;
    Ok(shape)
}

/// Reads the tag the cursor stands at; see [`shape`].
pub(crate) fn read_tag(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    let tag = Tag::read(cursor)?;
    let rank = sizes.len();
    if tag.outer.len() != rank {
        let (expected, found) = (rank, tag.outer.len());
        return Err(Error::RankMismatch { what: "letters in the oneDNN tag", expected, found });
    }
    let minor_to_major: SmallVec<[usize; 8]> = tag.outer.iter().rev().copied().collect();
    let mut layout = Layout::new(&minor_to_major)?.with_tiles(&tag.tiles()?);
    if data_type.bits() < 8 {
        layout = layout.with_element_bits(data_type.bits());
    }
    ArrayShape::new(data_type, sizes, layout)
}

/// What a tag says.
struct Tag {
    /// The dimensions, major to minor.
    outer: SmallVec<[usize; 8]>,
    /// The blocks, major to minor: how many elements of which dimension.
    blocks: SmallVec<[(u64, usize); 4]>,
}

impl Tag {
    fn read(cursor: &mut Cursor<'_>) -> Result<Tag, Error> {
        let start = cursor.position();
        let text = cursor.word();
        let letters_end = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (letters, inner) = text.split_at_checked(letters_end).unwrap_or((text, ""));
        let alphabet = alphabet_of(letters);
        let named: SmallVec<[char; 12]> = alphabet.chars().filter(|&letter| names(letters, letter)).collect();
        let at = |offset: usize| start.saturating_add(offset);

        let mut tag = Tag { outer: SmallVec::new(), blocks: SmallVec::new() };
        for (offset, letter) in letters.char_indices() {
            let position = named.iter().position(|&known| known == letter.to_ascii_lowercase());
            match position {
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
        if alphabet == ABSTRACT && named.iter().zip(ABSTRACT.chars()).any(|(&used, expected)| used != expected) {
            return Err(cursor.error_at(start, "an abstract tag that names its dimensions a, b, c.. without a gap"));
        }

        let mut rest = Cursor::new(inner);
        while let Some(_digit) = rest.peek() {
            let offset = letters_end.saturating_add(rest.position());
            let size = rest.number("a block size").ok().filter(|&size| size > 1);
            let size = size.ok_or_else(|| cursor.error_at(at(offset), "a block size from 2 to 2^64 - 1"))?;
            let offset = letters_end.saturating_add(rest.position());
            let letter = inner.get(rest.position()..).and_then(|text| text.chars().next());
            let dimension = letter.and_then(|letter| named.iter().position(|&known| known == letter));
            let dimension =
                dimension.ok_or_else(|| cursor.error_at(at(offset), "the small letter of a dimension of the tag"))?;
            tag.blocks.push((size, dimension));
            let next = rest.position().saturating_add(1);
            rest.move_to(next);
        }
        for (offset, (letter, &dimension)) in letters.chars().zip(&tag.outer).enumerate() {
            let blocked = tag.blocks.iter().any(|&(_, block)| block == dimension);
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

    /// The tiles that say the same. The blocks fall into runs in which no dimension comes before
    /// one that precedes it in memory; a tile of what a dimension has in this run and the ones
    /// behind it puts these behind the rest.
    fn tiles(&self) -> Result<Vec<Tile>, Error> {
        let rank_of = |dimension: usize| self.outer.iter().position(|&outer| outer == dimension).unwrap_or(usize::MAX);
        let mut run_starts: SmallVec<[usize; 4]> = SmallVec::new();
        let mut previous = None;
        for (index, &(_, dimension)) in self.blocks.iter().enumerate() {
            let rank = rank_of(dimension);
            if previous.is_none_or(|previous| rank <= previous) {
                run_starts.push(index);
            }
            previous = Some(rank);
        }
        let first = self.blocks.iter().map(|&(_, dimension)| rank_of(dimension)).min().unwrap_or(0);
        let mut tiles = Vec::with_capacity(run_starts.len());
        for start in run_starts {
            let behind = self.blocks.get(start..).unwrap_or(&[]);
            let mut sizes = checked::Dims::new();
            for &dimension in self.outer.get(first..).unwrap_or(&[]) {
                let mut total = 1;
                for &(size, _) in behind.iter().filter(|&&(_, block)| block == dimension) {
                    total = checked::mul(total, size, "a oneDNN block")?;
                }
                sizes.push(total);
            }
            tiles.push(Tile::new(&sizes)?);
        }
        Ok(tiles)
    }
}

const ABSTRACT: &str = "abcdefghijkl";

/// The letters a tag draws from, in the order of the logical dimensions.
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
mod tests {
    use super::*;

    #[test]
    fn tags_and_their_xla_spelling() {
        for (tag, sizes, layout) in [
            ("x", &[7][..], "{0}"),
            ("nhwc", &[2, 3, 5, 7], "{1,3,2,0}"),
            ("acdb", &[2, 3, 5, 7], "{1,3,2,0}"),
            ("nChw16c", &[2, 33, 3, 5], "{3,2,1,0:T(16,1,1)}"),
            ("aBcd16b", &[2, 33, 3, 5], "{3,2,1,0:T(16,1,1)}"),
            ("NChw16n16c", &[20, 33, 3, 5], "{3,2,1,0:T(16,16,1,1)}"),
            ("OIhw16i16o", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,1,1,1)}"),
            ("OIhw4i16o4i", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,4,1,1)}"),
            ("OIhw8i16o2i", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,2,1,1)}"),
            ("AB4a128b2a", &[50, 300], "{1,0:T(8,128)(2,1)}"),
            ("BA16a64b4a", &[33, 130], "{0,1:T(64,64)(64,4)}"),
            ("gOIdhw4i16o4i", &[2, 20, 33, 3, 3, 3], "{5,4,3,2,1,0:T(16,16,1,1,1)(16,4,1,1,1)}"),
            ("hwio", &[8, 4, 3, 5], "{0,1,3,2}"),
            ("ntc", &[5, 2, 8], "{2,0,1}"),
            ("ldgoi", &[1, 2, 3, 4, 5], "{2,4,3,1,0}"),
        ] {
            let shape = shape(DataType::F32, sizes, tag).unwrap();
            assert_eq!(shape.layout().to_string(), layout, "{tag}");
        }
        let packed = shape(DataType::S4, &[2, 4], "ab").unwrap();
        assert_eq!(packed.to_string(), "s4[2,4]{1,0:E(4)}");
    }

    #[test]
    fn refused_tags_point_at_the_letter() {
        for (tag, column) in [
            ("", 1),
            ("16c", 1),
            ("nChw", 2),
            ("nchw16c", 2),
            ("nChw16x", 7),
            ("nChw16C", 7),
            ("nChw16", 7),
            ("nChw1c", 5),
            ("nChw0c", 5),
            ("nncw", 2),
            ("nchz", 4),
            ("acd", 1),
            ("nChw16c ?", 9),
        ] {
            let error = shape(DataType::F32, &[2, 32, 3, 5], tag).unwrap_err();
            assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{tag}: {error}");
        }
        assert_eq!(shape(DataType::F32, &[2, 32, 3], "nchw").unwrap_err().code(), "rank_mismatch");
        let huge = shape(DataType::F32, &[2], "A4294967296a4294967296a").unwrap_err();
        assert_eq!(huge.code(), "overflow");
    }
}

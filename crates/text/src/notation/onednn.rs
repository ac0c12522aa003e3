//! oneDNN's format tags: `nhwc`, `nChw16c`, `OIhw4i16o4i`, `AB4a128b2a`, and the layouts of TVM.
//!
//! The letters in front are the dimensions, major to minor. A capital letter says that the dimension is also
//! divided into blocks. The blocks follow, major to minor, each as a number and the letter of its dimension:
//! `OIhw4i16o4i` ends in blocks of 4 i, which contain blocks of 16 o, which contain blocks of 4 i. A
//! dimension is padded to a multiple of the product of its blocks. Source: oneDNN's *Understanding Memory
//! Formats* and `memory_desc_wrapper::off_v`.

use core::fmt::{self, Write};

use tensor_layout::Error;
use tensor_layout::checked::{self, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::plan::counted;
use tensor_layout::tiled::{ArrayShape, Layout};
use tensor_layout::{IndexMap, ToIndexMap};

use super::Notation;
use super::types::element_type;
use crate::spell::memory_order::{MemoryOrder, Room};
use crate::spell::tiles::{Blocked, insert_missing};

/// The most dimensions of a oneDNN memory descriptor (`DNNL_MAX_NDIMS`). Layouts with more have no tag.
const MAX_DIMENSIONS: usize = 12;

/// Returns the array of XLA that a tag of oneDNN describes: the tag's blocks as tiles. A program that reads
/// tags by this function alone links no index map and no other reader, unlike with `Layout::from_onednn_tag`.
///
/// # Errors
///
/// `parse` for a tag that is none or that has other axes, and the errors of an array of these sizes.
///
/// ```
/// use tensor_layout::DataType;
///
/// let weights = tensor_layout_text::array_of_onednn_tag(DataType::F32, &[35, 16, 3, 3], "OIhw16i16o")?;
/// assert_eq!(weights.physical_size_in_bytes()?, 48 * 16 * 9 * 4);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn array_of_onednn_tag(data_type: DataType, sizes: &[u64], tag: &str) -> Result<ArrayShape, Error> {
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
    if tag.0.outer.len() != rank {
        return Err(cursor.error_at(start, &format!("a oneDNN tag of {rank} letters, one for each size")));
    }
    let minor_to_major: Vec<usize> = tag.0.outer.iter().rev().copied().collect();
    let mut layout = Layout::new(&minor_to_major)?.with_tiles(&tag.0.tiles()?);
    if data_type.bits() < 8 {
        layout.element_bits = Some(data_type.bits());
    }
    ArrayShape::new(data_type, sizes, layout)
}

/// A tensor in a line of oneDNN's verbose mode. Its tag is at the place `tag` of the text.
pub(super) struct Verbose {
    pub(super) data_type: DataType,
    pub(super) tag: usize,
    /// The strides, in elements, if the tag has letters alone and rows have gaps.
    pub(super) strides: Option<Vec<u64>>,
    pub(super) sizes: Vec<u64>,
}

/// Reads `dst:bf16:p:blocked:ABcd16b16a2b::f0 24x96x1x1`, a tensor in a line of oneDNN's verbose mode and its
/// sizes. `None` if the text is no such tensor. A tensor with an offset, or with data behind its elements
/// (`f8:s8m1`), is refused, because the line does not say how much.
pub(super) fn read_verbose(cursor: &mut Cursor<'_>) -> Result<Option<Verbose>, Error> {
    let (start, word) = (cursor.position(), cursor.word());
    let named = |name: &str| element_type(&name.replacen('_', "", 1));
    // oneDNN 3.2 and older versions print `src_f32` for `src:f32`.
    let name = ARGUMENTS.split(' ').find_map(|argument| match word.strip_prefix(argument)? {
        "" => Some(if cursor.eat(":") { cursor.word() } else { "" }),
        rest => rest.strip_prefix('_').filter(|name| named(name).is_some()),
    });
    let data_type = name.and_then(named).filter(|_| cursor.eat(":"));
    let Some(data_type) = data_type else {
        cursor.move_to(start);
        return Ok(None);
    };
    // `a` says that the program let oneDNN choose the format, and `p` that there is padding.
    let _ = (cursor.eat("a"), cursor.eat("p"));
    cursor.expect(":", "`:`, `a:` or `p:` (the numbers of offsets, `0` and `o`, are not in the line)")?;
    cursor.expect("blocked:", "`blocked:`, the only kind of format whose places are known")?;
    let tag = cursor.position();
    let has_blocks = cursor.word().contains(|c: char| c.is_ascii_digit());
    // oneDNN 2.4 and older versions print no strides behind the tag.
    if !cursor.rest().starts_with(":f0") {
        cursor.expect(":", "`:` and strides or nothing")?;
    }
    let by_x = |cursor: &mut Cursor<'_>, what: &str| -> Result<Vec<u64>, Error> {
        let mut numbers = vec![cursor.number(what)?];
        while cursor.eat("x") {
            numbers.push(cursor.number(what)?);
        }
        Ok(numbers)
    };
    let strides = if cursor.peek() == Some(b':') { None } else { Some(by_x(cursor, "a stride")?) };
    if has_blocks && strides.is_some() {
        return Err(cursor.error_at(tag, "a tag of letters, which has a stride for each"));
    }
    cursor.expect(":f0", "`:f0`, because other flags are data behind the tensor")?;
    let sizes = by_x(cursor, "the sizes of the problem, such as 24x96x1x1")?;
    Ok(Some(Verbose { data_type, tag, strides, sizes }))
}

/// The arguments of primitives in oneDNN's verbose mode.
const ARGUMENTS: &str = "src src0 src1 src2 src_layer src_iter wei wei_layer wei_iter bia dst dst_layer dst_iter ws \
                         diff_src diff_wei diff_bia diff_dst stats que key val";

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
    check_strides(map)?;
    let found = Tag::of(map).map_err(|reason| Error::not_expressible("oneDNN tag", reason))?;
    let text = found.to_string();
    if array_of_onednn_tag(map.data_type(), map.sizes(), &text)?.to_index_map()? == *map {
        return Ok(text);
    }
    Err(Error::not_expressible("oneDNN tag", "its buffer is padded after the last block"))
}

/// Refuses strides that oneDNN refuses: it has no odd strides of elements of 4 bits.
fn check_strides(map: &IndexMap) -> Result<(), Error> {
    let strides = map.components().iter().flat_map(|component| component.chain.digits()).map(|digit| digit.stride);
    match strides.filter(|stride| map.element_bits() == 4 && *stride > 1).find(|stride| !stride.is_multiple_of(2)) {
        Some(stride) => {
            let reason = format!(
                "a stride of {} of 4 bits is odd, and oneDNN begins each step at a byte",
                counted(stride, "element")
            );
            Err(Error::not_expressible("oneDNN memory", reason))
        }
        None => Ok(()),
    }
}

/// Returns the size of a layout by oneDNN's `get_size`, in bytes. It is the size of the buffer for a layout
/// in blocks. For strides it is the largest product of a size and its stride, so the padding after the last
/// row counts, and a tensor without elements or broadcast along every axis takes nothing.
///
/// # Errors
///
/// `not_expressible` for an odd stride of elements of 4 bits, which oneDNN refuses; `overflow` past 64 bits.
///
/// ```
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout_text::onednn_size_in_bytes;
///
/// let rows: BufferTensorDesc = "f32[3,4]:[6,1]".parse()?;
/// assert_eq!((onednn_size_in_bytes(&rows)?, rows.min_size_in_bytes()), (72, 64));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn onednn_size_in_bytes(layout: &(impl ToIndexMap + ?Sized)) -> Result<u64, Error> {
    let map = layout.to_index_map()?;
    if map.element_count() == 0 {
        return Ok(0);
    }
    check_strides(&map)?;
    let Some(strides) = map.strides().filter(|_| layout.as_descriptor().is_some()) else {
        return Ok(map.physical_size_in_bytes());
    };
    let steps = map.sizes().iter().zip(strides).map(|(&size, stride)| checked::mul(size, stride, checked::OFFSET));
    let elements = steps.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(1);
    checked::bytes_for(elements, map.element_bits())
}

struct Tag(Blocked);

impl Tag {
    fn read(cursor: &mut Cursor<'_>) -> Result<Tag, Error> {
        let start = cursor.position();
        let text = cursor.word();
        if let Some((_, blocked)) = ALIASES.iter().find(|(alias, _)| *alias == text) {
            return Tag::read(&mut Cursor::new(blocked));
        }
        let letters_end = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (letters, inner) = text.split_at_checked(letters_end).unwrap_or((text, ""));
        let alphabet = alphabet_of(letters);
        let named: String = alphabet.chars().filter(|&letter| names(letters, letter)).collect();
        let at = |offset: usize| start.plus(offset);

        let mut tag = Tag(Blocked { outer: Vec::new(), blocks: Vec::new() });
        for (offset, letter) in letters.char_indices() {
            match named.find(letter.to_ascii_lowercase()) {
                Some(dimension) if !tag.0.outer.contains(&dimension) => tag.0.outer.push(dimension),
                Some(_) => return Err(cursor.error_at(at(offset), "a letter that was not used before")),
                None => {
                    return Err(cursor.error_at(at(offset), &format!("one of the letters {alphabet} of a oneDNN tag")));
                }
            }
        }
        if letters.is_empty() {
            return Err(cursor.error_at(start, "a oneDNN tag such as nhwc, nChw16c or aBcd16b"));
        }
        if tag.0.outer.len() > MAX_DIMENSIONS {
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
            tag.0.blocks.push((dimension, size));
            let next = rest.position().plus(1);
            rest.move_to(next);
        }
        for (offset, (letter, &dimension)) in letters.chars().zip(&tag.0.outer).enumerate() {
            let blocked = tag.0.blocks.iter().any(|&(block, _)| block == dimension);
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
        let memory = MemoryOrder::new(map, Room::Buffer)?;
        let mut blocked = Blocked::of(map.sizes(), &memory)
            .map_err(|dimension| format!("the top digit of dimension {dimension} is inside a block"))?;
        insert_missing(&mut blocked.outer, rank);
        match blocked.blocks.iter().find(|&&(dimension, _)| dimension == rank) {
            Some((_, size)) => Err(format!("between the elements of a block there is room for {size}")),
            None => Ok(Tag(blocked)),
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |dimension: usize| ABSTRACT.chars().nth(dimension).unwrap_or('?');
        for &dimension in &self.0.outer {
            let blocked = self.0.blocks.iter().any(|&(block, _)| block == dimension);
            f.write_char(if blocked { letter(dimension).to_ascii_uppercase() } else { letter(dimension) })?;
        }
        self.0.blocks.iter().try_for_each(|&(dimension, size)| write!(f, "{size}{}", letter(dimension)))
    }
}

/// Returns oneDNN's tag for a layout of TVM (`tvm.tir.layout`), which writes every axis with a capital
/// letter: `NCHW4c` is `nChw4c`. `None` for a tag that is oneDNN's too, and for a text that is no layout of
/// TVM.
pub(super) fn tag_of_tvm(tag: &str) -> Option<String> {
    let (axes, blocks) = tag.split_at(tag.find(|c: char| c.is_ascii_digit())?);
    let is_blocked = |axis: char| blocks.contains(axis.to_ascii_lowercase());
    let is_tvm = axes.chars().all(|axis| axis.is_ascii_uppercase()) && !axes.chars().all(is_blocked);
    let lower = |axis: char| if is_blocked(axis) { axis } else { axis.to_ascii_lowercase() };
    is_tvm.then(|| axes.chars().map(lower).collect::<String>() + blocks)
}

/// Returns TVM's text of a layout that has a tag of oneDNN. TVM has at most one block of each axis.
pub(super) fn tvm_text(map: &IndexMap) -> Result<String, Error> {
    let refuse = |reason: &'static str| Err(Error::not_expressible(Notation::Tvm.noun(), reason));
    let tag = tag(map)?;
    let blocks = tag.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = match map.sizes().len() {
        4 => "NCHW",
        5 => "NCDHW",
        _ => "ABCDEFGHIJKL",
    };
    if blocks.char_indices().any(|(at, axis)| axis.is_ascii_alphabetic() && blocks.find(axis) != Some(at)) {
        return refuse("an axis has blocks in blocks, and TVM names each axis once");
    }
    if map.physical_elements() != map.element_count() {
        return refuse("its last block is not full");
    }
    let axis = |letter: char| letters.chars().nth(ABSTRACT.find(letter.to_ascii_lowercase())?);
    let outer = tag.chars().take_while(char::is_ascii_alphabetic).filter_map(axis);
    let inner = blocks.chars().filter_map(|c| match c {
        '0'..='9' => Some(c),
        c => axis(c).map(|axis| axis.to_ascii_lowercase()),
    });
    Ok(format!("{}:{}", super::type_and_sizes(map.data_type(), map.sizes()), outer.chain(inner).collect::<String>()))
}

/// The tags with a capital letter that has no block, and the tags that they stand for.
const ALIASES: [(&str, &str); 4] =
    [("OhwI24o", "Acdb24a"), ("OhwI32o", "Acdb32a"), ("gOhwI24o", "aBdec24b"), ("gOhwI32o", "aBdec32b")];

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

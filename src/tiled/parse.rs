//! The reader of array shapes and layouts. It is strict where XLA's own is loose, and every
//! error points at its column.
//!
//! ```text
//! array  := type "[" [ size { "," size } ] "]" [ layout ]
//! layout := "{" [ dim { "," dim } ] [ ":" [ "T" tile { tile } ] [ "L(" n ")" ] [ "E(" n ")" ] [ "S(" n ")" ] ] "}"
//! tile   := "(" [ entry { "," entry } ] ")"          entry := n | "*"
//! ```

use std::num::NonZeroU64;
use std::str::FromStr;

use smallvec::SmallVec;

use crate::checked::{self, Dims, ELEMENTS};
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;

use super::layout::{Layout, Tile, TileSize};
use super::shape::ArrayShape;

impl FromStr for ArrayShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let shape = read_array(&mut cursor)?;
        cursor.end("nothing more")?;
        Ok(shape)
    }
}

fn read_array(cursor: &mut Cursor<'_>) -> Result<ArrayShape, Error> {
    let (data_type, sizes) = read_type_and_sizes(cursor)?;
    let layout =
        if cursor.peek() == Some(b'{') { read_layout(cursor, sizes.len())? } else { Layout::row_major(sizes.len()) };
    ArrayShape::new(data_type, &sizes, layout)
}

/// `f32[2,3]`: what every layout notation begins with.
pub(crate) fn read_type_and_sizes(cursor: &mut Cursor<'_>) -> Result<(DataType, Dims), Error> {
    let start = cursor.position();
    let name = cursor.word();
    let lower = name.to_ascii_lowercase();
    // XLA prints lower case; its documents also write F32.
    let spelling = if name == name.to_ascii_uppercase() { &lower } else { name };
    let Some(data_type) = DataType::from_xla_name(spelling) else {
        return Err(cursor.error_at(start, "a data type such as f32, bf16, s8 or pred"));
    };
    cursor.expect("[", "`[` and the sizes")?;
    let sizes_start = cursor.position();
    let sizes: Dims = cursor.list("]", |cursor| cursor.number("a size"))?.into_iter().collect();
    checked::product(&sizes, ELEMENTS)
        .map_err(|_| cursor.error_at(sizes_start, "sizes whose product is below 2^64"))?;
    Ok((data_type, sizes))
}

fn read_layout(cursor: &mut Cursor<'_>, rank: usize) -> Result<Layout, Error> {
    cursor.expect("{", "`{`")?;
    let mut order: SmallVec<[usize; 8]> = SmallVec::new();
    while !matches!(cursor.peek(), Some(b'}' | b':')) {
        if !order.is_empty() {
            cursor.expect(",", "`,`, `:` or `}`")?;
        }
        order.push(read_dimension(cursor, rank, &order)?);
    }
    if order.len() != rank {
        return Err(cursor.error(&format!("{rank} dimensions in all, one for each size (there are {})", order.len())));
    }
    let mut layout = Layout::new(&order)?;
    if cursor.eat(":") {
        layout = read_parts(cursor, layout)?;
    }
    cursor.expect("}", "`}` or the next of T( L( E( S(, in this order")?;
    Ok(layout)
}

fn read_dimension(cursor: &mut Cursor<'_>, rank: usize, seen: &[usize]) -> Result<usize, Error> {
    let start = cursor.position();
    let number = cursor.number("the number of a dimension")?;
    match usize::try_from(number) {
        Ok(dimension) if dimension < rank && !seen.contains(&dimension) => Ok(dimension),
        Ok(dimension) if dimension < rank => Err(cursor.error_at(start, "a dimension that was not named before")),
        _ => Err(cursor.error_at(start, &format!("a dimension below the rank {rank}"))),
    }
}

fn read_parts(cursor: &mut Cursor<'_>, mut layout: Layout) -> Result<Layout, Error> {
    if cursor.eat("T") {
        let mut tiles: SmallVec<[Tile; 2]> = SmallVec::new();
        cursor.expect("(", "`(` and a tile")?;
        loop {
            tiles.push(read_tile(cursor)?);
            if !cursor.eat("(") {
                break;
            }
        }
        layout = layout.with_tiles(&tiles);
    }
    if let Some((start, alignment)) = read_attribute(cursor, "L")? {
        layout = layout
            .with_tail_padding_alignment(alignment)
            .map_err(|_| cursor.error_at(start, "a tail alignment of at least 1"))?;
    }
    if let Some((start, bits)) = read_attribute(cursor, "E")? {
        let bits = u32::try_from(bits).map_err(|_| cursor.error_at(start, "a number of bits below 2^32"))?;
        layout = layout.with_element_bits(bits);
    }
    if let Some((_, space)) = read_attribute(cursor, "S")? {
        layout = layout.with_memory_space(space);
    }
    Ok(layout)
}

/// `L(128)`: the number and where it stands, or nothing if another part comes next.
fn read_attribute(cursor: &mut Cursor<'_>, letter: &str) -> Result<Option<(usize, u64)>, Error> {
    if !cursor.eat(letter) {
        return Ok(None);
    }
    cursor.expect("(", "`(` and a number")?;
    let start = cursor.position();
    let number = cursor.number("a number")?;
    cursor.expect(")", "`)`")?;
    Ok(Some((start, number)))
}

/// The entries of a tile, up to and with its `)`.
fn read_tile(cursor: &mut Cursor<'_>) -> Result<Tile, Error> {
    let mut last = cursor.position();
    let entries = cursor.list(")", |cursor| {
        last = cursor.position();
        if cursor.eat("*") {
            return Ok(TileSize::Combine);
        }
        let size = cursor.number("a tile size or `*`")?;
        NonZeroU64::new(size).map(TileSize::Size).ok_or_else(|| cursor.error_at(last, "a tile size of at least 1"))
    })?;
    Tile::from_entries(&entries).map_err(|_| {
        cursor.error_at(last, "a tile size, as `*` joins a dimension to the next entry and this is the last")
    })
}

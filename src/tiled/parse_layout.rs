//! Reads the text of a layout, in braces.
//!
//! ```text
//! layout := "{" [ dim { "," dim } ] [ ":" parts ] "}"
//! parts  := [ "D(" level { "," level } ")" ] [ "T" tile { tile } ] [ "L(" n ")" ] [ "#(" type ")" ] [ "*(" type ")" ]
//!           [ "E(" n ")" ] [ "S(" n ")" ] [ "SC" split { split } ] [ "M(" n ")" ]
//! tile   := "(" [ entry { "," entry } ] ")"          entry := n | "*" | "-1"
//! split  := "(" n ":" n { "," n } ")"
//! level  := ( "D" | "C" | "S" | "H" ) [ "+" ] [ "~" ]
//! ```
//!
//! Every n is below 2^63, because XLA's numbers are signed. `S(n)` is at most 127, because XLA stores it in 8
//! bits with a sign.

use crate::checked::Proven;
use alloc::format;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::str::FromStr;

use smallvec::SmallVec;

use crate::cursor::Cursor;
use crate::element::{DataType, ElementKind};
use crate::error::Error;
use crate::typed_sizes::{MAX_RANK, read_type};

use super::layout::{Layout, MAX_MEMORY_SPACE, SplitConfig, Tile, TileSize};

/// The most entries that all tiles of a layout may have together in a text. A text with more entries is
/// refused. XLA sets no limit.
pub const MAX_TILE_ENTRIES: usize = 1024;

impl FromStr for Layout {
    type Err = Error;

    /// Reads a layout without a shape, `{1,0:T(8,128)}`. Its rank is the number of dimensions that it lists.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut ahead = Cursor::new(text);
        ahead.expect("{", "`{`")?;
        let mut rank = 0_usize;
        while !matches!(ahead.peek(), Some(b'}' | b':')) {
            if rank > 0 {
                ahead.expect(",", "`,`, `:` or `}`")?;
            }
            ahead.number("the number of a dimension")?;
            rank = rank.plus(1);
        }
        Cursor::whole(text, |cursor| read_layout(cursor, rank))
    }
}

pub(super) fn read_layout(cursor: &mut Cursor<'_>, rank: usize) -> Result<Layout, Error> {
    cursor.expect("{", "`{`")?;
    let mut order: SmallVec<[usize; 8]> = SmallVec::new();
    while !matches!(cursor.peek(), Some(b'}' | b':')) {
        if !order.is_empty() {
            cursor.expect(",", "`,`, `:` or `}`")?;
        }
        if order.len() >= MAX_RANK {
            return Err(cursor.error(&format!("at most {MAX_RANK} dimensions")));
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
    if cursor.peek() == Some(b'P') {
        return Err(cursor.error("`}`, as the physical shape P( of a sparse array has no meaning for a dense one"));
    }
    cursor.expect("}", "`}` or the next of T( L( #( *( E( S( SC( M(, in this order")?;
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
    read_level_types(cursor, layout.minor_to_major().len())?;
    if cursor.eat("T") {
        layout = layout.with_tiles(&read_tiles(cursor)?);
    }
    if let Some((start, alignment)) = read_attribute(cursor, "L")? {
        if alignment == 0 {
            return Err(cursor.error_at(start, "a tail alignment of at least 1"));
        }
        layout.tail_padding_alignment = alignment;
    }
    layout.index_type = read_unsigned_type(cursor, "#")?;
    layout.pointer_type = read_unsigned_type(cursor, "*")?;
    if let Some((start, bits)) = read_attribute(cursor, "E")? {
        let bits = u32::try_from(bits).map_err(|_| cursor.error_at(start, "a number of bits below 2^32"))?;
        layout = layout.with_element_bits(bits);
    }
    if !cursor.rest().starts_with("SC")
        && let Some((start, space)) = read_attribute(cursor, "S")?
    {
        if space > MAX_MEMORY_SPACE {
            return Err(cursor.error_at(start, &format!("a memory space of at most {MAX_MEMORY_SPACE}")));
        }
        layout.memory_space = space;
    }
    if cursor.eat("SC") {
        layout.split_configs = read_splits(cursor)?;
    }
    if let Some((_, bytes)) = read_attribute(cursor, "M")? {
        layout.metadata_prefix_bytes = bytes;
    }
    Ok(layout)
}

/// Reads `D(D,C+)`, the storage of each dimension of a sparse array. XLA printed this part until 2025 and
/// ignores it today.
fn read_level_types(cursor: &mut Cursor<'_>, rank: usize) -> Result<(), Error> {
    let start = cursor.position();
    if !cursor.eat("D") {
        return Ok(());
    }
    cursor.expect("(", "`(` and one of D, C, S, H for each dimension")?;
    let levels = cursor.list(")", |cursor| {
        if !["D", "C", "S", "H"].iter().any(|level| cursor.eat(level)) {
            return Err(cursor.error("one of D, C, S, H"));
        }
        cursor.eat("+");
        cursor.eat("~");
        Ok(())
    })?;
    if levels.len() == rank { Ok(()) } else { Err(cursor.error_at(start, &format!("D( with {rank} level types"))) }
}

fn read_unsigned_type(cursor: &mut Cursor<'_>, mark: &str) -> Result<Option<DataType>, Error> {
    if !cursor.eat(mark) {
        return Ok(None);
    }
    cursor.expect("(", "`(` and an unsigned integer type")?;
    let start = cursor.position();
    let data_type = read_type(cursor)?;
    if data_type.kind() != ElementKind::Unsigned || data_type.is_stream() {
        return Err(cursor.error_at(start, "an unsigned integer type"));
    }
    cursor.expect(")", "`)`")?;
    Ok(Some(data_type))
}

/// Reads an attribute such as `L(128)`: the position of the number, and the number.
fn read_attribute(cursor: &mut Cursor<'_>, letter: &str) -> Result<Option<(usize, u64)>, Error> {
    if !cursor.eat(letter) {
        return Ok(None);
    }
    cursor.expect("(", "`(` and a number")?;
    let start = cursor.position();
    let number = cursor.number_i64("a number")?;
    cursor.expect(")", "`)`")?;
    Ok(Some((start, number)))
}

fn read_splits(cursor: &mut Cursor<'_>) -> Result<Vec<SplitConfig>, Error> {
    let mut splits = Vec::new();
    cursor.expect("(", "`(` and a division")?;
    loop {
        splits.push(read_split(cursor)?);
        if !cursor.eat("(") {
            return Ok(splits);
        }
    }
}

fn read_split(cursor: &mut Cursor<'_>) -> Result<SplitConfig, Error> {
    let dimension = cursor.number_i64("the number of a physical dimension")?;
    cursor.expect(":", "`:` and the indices where the parts begin")?;
    let start = cursor.position();
    let indices = cursor.list(")", |cursor| cursor.number_i64("an index"))?;
    if indices.is_empty() || !indices.is_sorted_by(|a, b| a < b) {
        return Err(cursor.error_at(start, "at least one index, in ascending order"));
    }
    Ok(SplitConfig { dimension, indices })
}

fn read_tiles(cursor: &mut Cursor<'_>) -> Result<Vec<Tile>, Error> {
    let (mut tiles, mut entries) = (Vec::new(), 0_usize);
    cursor.expect("(", "`(` and a tile")?;
    loop {
        let start = cursor.position();
        let tile = read_tile(cursor)?;
        // An empty tile counts as one entry. Otherwise a text could hold any number of empty tiles.
        entries = entries.plus(tile.entries().len().max(1));
        if entries > MAX_TILE_ENTRIES {
            return Err(cursor.error_at(start, &format!("at most {MAX_TILE_ENTRIES} tile entries in all")));
        }
        tiles.push(tile);
        if !cursor.eat("(") {
            return Ok(tiles);
        }
    }
}

fn read_tile(cursor: &mut Cursor<'_>) -> Result<Tile, Error> {
    let mut last = cursor.position();
    let entries = cursor.list(")", |cursor| {
        last = cursor.position();
        read_entry(cursor)
    })?;
    Tile::from_entries(&entries).map_err(|_| {
        cursor.error_at(last, "a tile size, as `*` joins a dimension to the next entry and this is the last")
    })
}

fn read_entry(cursor: &mut Cursor<'_>) -> Result<TileSize, Error> {
    let start = cursor.position();
    // XLA's pages write -1 for `*`.
    let is_minus_one =
        cursor.rest().strip_prefix("-1").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    if cursor.eat(if is_minus_one { "-1" } else { "*" }) {
        return Ok(TileSize::Combine);
    }
    let size = cursor.number_i64("a tile size or `*`")?;
    NonZeroU64::new(size).map(TileSize::Size).ok_or_else(|| cursor.error_at(start, "a tile size of at least 1"))
}

impl FromStr for TileSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, read_entry)
    }
}

impl FromStr for Tile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, |cursor| {
            cursor.expect("(", "`(` and a tile")?;
            read_tile(cursor)
        })
    }
}

impl FromStr for SplitConfig {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, |cursor| {
            cursor.expect("(", "`(` and a division")?;
            read_split(cursor)
        })
    }
}

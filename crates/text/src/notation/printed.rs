//! MLIR's `memref` and JAX's `Layout`, as these libraries print them.
//!
//! MLIR counts strides in elements (the built-in dialect's `memref` and `strided`), and JAX has XLA's tiles
//! (`jax.experimental.layout.Layout`), with the type and the sizes in front.

use tensor_layout::Error;
use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{ArrayShape, Layout};

use super::strided::{self, Signed};
use super::{Notation, type_and_sizes};
use crate::numbers::{joined, signed, tuple};

/// Reads the rest of `memref<4x6xf32, strided<[10, 1], offset: 3>, 1>`. The memory space at the end is
/// skipped.
pub(super) fn memref(cursor: &mut Cursor<'_>) -> Result<Signed, Error> {
    const STATIC: &str = "a number (`?` is known when the program runs)";
    let mut sizes = Vec::new();
    while cursor.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'?') {
        sizes.push(cursor.number(STATIC)?);
        cursor.expect("x", "`x` after a size")?;
    }
    let at = cursor.position();
    let mut name = cursor.word();
    if name == "complex" && cursor.eat("<") {
        name = if cursor.word() == "f32" { "c64" } else { "c128" };
        cursor.expect(">", "`>`")?;
    }
    let data_type = element_type(name).filter(|data_type| data_type.bits() >= 8).ok_or_else(|| {
        let expected =
            "a type of whole bytes such as f32 (how smaller ones and `index` are stored is the target's choice)";
        cursor.error_at(at, expected)
    })?;
    let (mut strides, mut offset) = (None, None);
    while cursor.eat(",") {
        if cursor.eat("strided<") {
            let number = |cursor: &mut Cursor<'_>| match cursor.peek() {
                Some(b'?') => Err(cursor.error(STATIC)),
                _ => signed(cursor),
            };
            cursor.expect("[", "`[` and the strides")?;
            strides = Some(cursor.list("]", number)?);
            if cursor.eat(",") {
                cursor.expect("offset", "`offset:`")?;
                cursor.expect(":", "`:`")?;
                offset = Some(number(cursor)?).filter(|&offset| offset != 0);
            }
            cursor.expect(">", "`>`")?;
            continue;
        }
        refuse_without_layout(cursor.rest())?;
        let (mut depth, start, rest) = (0_i64, cursor.position(), cursor.rest());
        let ends = |c: char| {
            let is_end = depth == 0 && matches!(c, ',' | '>');
            depth = depth.plus(i64::from(c == '<')).minus(i64::from(c == '>'));
            is_end
        };
        cursor.move_to(start.plus(rest.find(ends).unwrap_or(rest.len())));
    }
    cursor.expect(">", "`,` or `>`")?;
    let (desc, reversed) = strided::signed(data_type, &sizes, strides.as_deref(), offset)?;
    Ok((desc.into(), reversed))
}

/// Reads the rest of `Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)),
/// sub_byte_element_size_in_bits=0)`, as the text that XLA has for the same layout.
pub(super) fn jax(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    cursor.expect("major_to_minor=", "`major_to_minor=`")?;
    let mut order = tuple(cursor, |cursor| cursor.number("a dimension"))?;
    order.reverse();
    let (mut tiles, mut bits) = (Vec::new(), 0);
    if cursor.eat(",") && cursor.eat("tiling=") && !cursor.eat("None") {
        tiles = tuple(cursor, |cursor| tuple(cursor, |cursor| cursor.number("the size of a tile")))?;
    }
    if cursor.eat(",") && cursor.eat("sub_byte_element_size_in_bits=") {
        bits = cursor.number("a number of bits")?;
    }
    cursor.expect(")", "tiling=, sub_byte_element_size_in_bits= or `)`")?;
    let tiles: String = tiles.iter().map(|tile| format!("({})", joined(tile))).collect();
    let tiles = if tiles.is_empty() { tiles } else { format!("T{tiles}") };
    let bits = if bits == 0 { String::new() } else { format!("E({bits})") };
    let colon = if tiles.is_empty() && bits.is_empty() { "" } else { ":" };
    format!("{}{{{}{colon}{tiles}{bits}}}", type_and_sizes(data_type, sizes), joined(&order)).parse()
}

pub(super) fn jax_text(shape: &ArrayShape) -> Result<String, Error> {
    let (layout, sizes) = (shape.layout(), type_and_sizes(shape.data_type(), shape.sizes()));
    let numbers =
        |numbers: Vec<String>| format!("({}{})", numbers.join(", "), if numbers.len() == 1 { "," } else { "" });
    let bits = layout.element_bits.filter(|&bits| bits != shape.data_type().bits().next_multiple_of(8)).unwrap_or(0);
    let mut plain = Layout::new(layout.minor_to_major())?.with_tiles(layout.tiles());
    plain.element_bits = layout.element_bits;
    let tiles: Vec<String> = layout.tiles().iter().map(ToString::to_string).collect();
    if *layout != plain || tiles.iter().any(|tile| tile.contains('*')) {
        let reason = "JAX has the order of the dimensions, tiles without `*` and the bits of an element alone";
        return Err(Error::not_expressible(Notation::Jax.noun(), reason));
    }
    let tile = |tile: &String| numbers(tile.trim_matches(['(', ')']).split(',').map(str::to_owned).collect());
    let tiles = numbers(tiles.iter().map(tile).collect());
    let order = numbers(layout.minor_to_major().iter().rev().map(usize::to_string).collect());
    Ok(format!("{sizes} Layout(major_to_minor={order}, tiling={tiles}, sub_byte_element_size_in_bits={bits})"))
}

/// Returns the type with this name in any of the libraries: PyTorch's truth values are `b8`, MLIR's `i1`.
pub(super) fn element_type(name: &str) -> Option<DataType> {
    match name {
        "b8" | "i1" => Some(DataType::Pred),
        "si8" | "si16" | "si32" | "si64" | "ui8" | "ui16" | "ui32" | "ui64" => name.replacen('i', "", 1).parse().ok(),
        _ => name.parse().or_else(|_| name.to_ascii_lowercase().parse()).ok(),
    }
}

/// The beginnings of texts that no strides or tiles describe, and the reason.
const NO_LAYOUT: [(&str, &str); 6] = [
    ("S<", SWIZZLE),
    ("Sw<", SWIZZLE),
    ("Swizzle<", SWIZZLE),
    ("#blocked", TRITON),
    ("#ttg.blocked", TRITON),
    ("affine_map<", "an affine map may be any function: write its strides, `strided<[..]>`"),
];
const SWIZZLE: &str = "a swizzle combines bits of the offset by XOR, which strides and tiles cannot";
const TRITON: &str = "Triton's encoding divides a tensor among threads, and says nothing about memory";

pub(super) fn refuse_without_layout(text: &str) -> Result<(), Error> {
    let Some((beginning, reason)) = NO_LAYOUT.iter().find(|(beginning, _)| text.starts_with(beginning)) else {
        return Ok(());
    };
    let name = text.split_inclusive('>').next().filter(|_| *reason == SWIZZLE).unwrap_or(beginning);
    Err(Error::not_expressible("list of strides or tiles", format!("`{name}`: {reason}")))
}

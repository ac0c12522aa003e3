//! MLIR's `memref` and JAX's `Layout`, as these libraries print them.
//!
//! MLIR counts strides in elements (the built-in dialect's `memref` and `strided`), and JAX has XLA's tiles
//! (`jax.experimental.layout.Layout`), with the type and the sizes in front.

use tensor_layout::Error;
use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{ArrayShape, Layout, Tile, TileSize};

use super::fields;
use super::strided::{self, Signed};
use super::{Notation, type_and_sizes};
use crate::numbers::{joined, signed, tuple};

/// Reads the rest of `memref<4x6xf32, strided<[10, 1], offset: 3>, 1>`: a layout and a memory space, which is
/// skipped, may follow the type.
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
    let (mut strides, mut offset, mut tiled, mut is_layout) = (None, None, None, true);
    while cursor.eat(",") {
        let at = cursor.position();
        if core::mem::take(&mut is_layout) {
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
            if cursor.eat("#tpu.tiled<") || cursor.eat("#xir.tiled<") {
                tiled = Some(tiles(cursor, data_type, &sizes)?);
                continue;
            }
        }
        refuse_without_layout(cursor.rest())?;
        memory_space(cursor)?;
        if cursor.peek() != Some(b'>') {
            return Err(cursor.error_at(at, "one layout and then one memory space"));
        }
    }
    cursor.expect(">", "`,` or `>`")?;
    if let Some(shape) = tiled {
        return Ok((shape.into(), Vec::new()));
    }
    let (desc, reversed) = strided::signed(data_type, &sizes, strides.as_deref(), offset)?;
    Ok((desc.into(), reversed))
}

/// The attributes that are memory spaces. Every other attribute may be a layout.
const MEMORY_SPACES: [&str; 6] = [
    "#gpu.address_space<",
    "#hal.descriptor_type<",
    "#spirv.storage_class<",
    "#amdgpu.address_space<",
    "#tpu.memory_space<",
    "#xir.memory_space<",
];

/// Skips the memory space of a memref: `1`, `1 : i32`, `"shared"`, `#gpu.address_space<workgroup>`.
fn memory_space(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let (at, rest) = (cursor.position(), cursor.rest());
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        cursor.number("a memory space")?;
        if cursor.eat(":") && !matches!(cursor.word(), "i8" | "i16" | "i32" | "i64" | "index") {
            return Err(cursor.error_at(at, "a memory space such as `1` or `1 : i32`"));
        }
        return Ok(());
    }
    if let Some((name, _)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        cursor.move_to(at.plus(name.len()).plus(2));
        return Ok(());
    }
    if MEMORY_SPACES.iter().any(|space| cursor.eat(space)) {
        while cursor.peek() != Some(b'>') {
            fields::skip_value(cursor);
            if !cursor.eat(",") {
                break;
            }
        }
        return cursor.expect(">", "`>`");
    }
    // An alias has no dialect and no arguments: `#map`, `#map1`.
    let name = rest.split([',', '>', '<', ' ']).next().unwrap_or_default();
    Err(match name.strip_prefix('#') {
        Some(alias) if !alias.contains('.') => {
            let reason = format!(
                "`{name}` stands for a layout in another line: write that layout in its place, as in `strided<[..]>`"
            );
            Error::not_expressible("list of strides or tiles", reason)
        }
        Some(_) => Error::not_expressible("list of strides or tiles", format!("`{name}<..>` may be any layout")),
        None => cursor.error_at(
            at,
            "`strided<`, `#tpu.tiled<` or a memory space such as `1`, `\"shared\"` or `#gpu.address_space<workgroup>`",
        ),
    })
}

/// Reads the rest of `#tpu.tiled<(8,128)(2,1),[2,1]>`, XLA's tiles and the strides of whole tiles along each
/// dimension. The tiles are in row-major order, which are all that the compiler of TPUs makes.
fn tiles(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    let (mut tiles, mut first) = (Vec::new(), Vec::new());
    while cursor.eat("(") {
        let at = cursor.position();
        let tile = cursor.list(")", |cursor| cursor.number_below_2_63("the size of a tile"))?;
        if tile.is_empty() || tile.contains(&0) || tile.len() > sizes.len() {
            return Err(cursor.error_at(at, &format!("1 to {} sizes of a tile, each at least 1", sizes.len())));
        }
        tiles.push(Tile::new(&tile)?);
        if first.is_empty() {
            first = tile;
        }
    }
    if !tiles.is_empty() {
        cursor.expect(",", "`,` and the strides of tiles")?;
    }
    let at = cursor.position();
    cursor.expect("[", "`[` and the strides of tiles")?;
    let strides = cursor.list("]", |cursor| cursor.number("the stride of a tile"))?;
    let end = cursor.position();
    let (mut packed, mut is_packed) = (1_u64, strides.len() == sizes.len());
    for (place, (&size, &stride)) in sizes.iter().zip(&strides).rev().enumerate() {
        let tile = first.len().checked_sub(place.plus(1)).and_then(|place| first.get(place)).copied();
        let count = size.div_ceil(tile.unwrap_or(1).max(1));
        is_packed &= count <= 1 || stride == packed;
        packed = packed.saturating_mul(count);
    }
    if !is_packed {
        return Err(cursor.error_at(at, "the strides of tiles in row-major order, one for each size"));
    }
    cursor.move_to(end);
    cursor.expect(">", "`>`")?;
    ArrayShape::new(data_type, sizes, Layout::row_major(sizes.len()).with_tiles(&tiles))
}

/// Writes a row-major array with tiles as MLIR's `memref` in the compiler of TPUs.
pub(super) fn tiled_text(shape: &ArrayShape) -> Result<String, Error> {
    let layout = shape.layout();
    if *layout != Layout::row_major(shape.rank()).with_tiles(layout.tiles()) || shape.data_type().bits() < 8 {
        let reason = "its memrefs have strides, or tiles of arrays in row-major order";
        return Err(Error::not_expressible(Notation::Mlir.noun(), reason));
    }
    let sizes = |tile: &Tile| -> Vec<u64> {
        let size = |entry: &TileSize| match entry {
            TileSize::Size(size) => Some(size.get()),
            TileSize::Combine => None,
        };
        tile.entries().iter().filter_map(size).collect()
    };
    let first = layout.tiles().first().map(sizes).unwrap_or_default();
    let is_plain = |tile: &Tile| tile.entries().len() <= 2 && sizes(tile).len() == tile.entries().len();
    if !layout.tiles().iter().all(is_plain) || first.len() > shape.rank() {
        return Err(Error::not_expressible(Notation::Mlir.noun(), "the tiles of a TPU have one or two dimensions"));
    }
    let (mut packed, mut strides) = (1_u64, Vec::new());
    for (place, &size) in shape.sizes().iter().rev().enumerate() {
        strides.push(packed);
        let tile = first.len().checked_sub(place.plus(1)).and_then(|place| first.get(place)).copied();
        packed = packed.saturating_mul(size.div_ceil(tile.unwrap_or(1).max(1)));
    }
    strides.reverse();
    let tiles: String = layout.tiles().iter().map(ToString::to_string).collect();
    let name = strided::mlir_name(shape.data_type());
    let dimensions: String = shape.sizes().iter().map(|size| format!("{size}x")).collect();
    Ok(format!("memref<{dimensions}{name}, #tpu.tiled<{tiles},[{}]>>", joined(&strides)))
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

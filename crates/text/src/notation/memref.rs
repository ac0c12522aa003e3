//! MLIR's `memref`, as mlir-opt and the compiler of TPUs print it, and its `tensor`, which is packed. Strides
//! count elements (the built-in dialect's `memref` and `strided`).
//!
//! A memref is no row of [`FORMS`](super::form_rows::FORMS): its sizes and its type are one word without a
//! key, `4x6xf32`, and where its strides are there may also be an order of the dimensions or tiles, which are
//! small languages of their own.

use tensor_layout::checked::Proven;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{ArrayShape, Layout, Tile, TileSize};
use tensor_layout::{BufferTensorDesc, Error};

use super::no_layout::refuse_without_layout;
use super::strided::{self, Signed, Strided};
use super::types::element_type;
use super::{Notation, forms};
use crate::numbers::{joined, signed};

/// Reads the rest of `tensor<4x6xf32>`. An encoding behind the type is refused.
pub(super) fn read_tensor(cursor: &mut Cursor<'_>) -> Result<Signed, Error> {
    let (data_type, sizes) = type_and_sizes(cursor)?;
    if cursor.eat(",") {
        refuse_without_layout(cursor.rest())?;
        return Err(cursor.error("`>`: an encoding may be any layout"));
    }
    cursor.expect(">", "`>`")?;
    let (desc, reversed) = strided::signed(data_type, &sizes, None, None)?;
    Ok((desc.into(), reversed))
}

const STATIC: &str = "a number (`?` is known when the program runs)";

/// Reads `4x6xf32`.
fn type_and_sizes(cursor: &mut Cursor<'_>) -> Result<(DataType, Vec<u64>), Error> {
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
    Ok((data_type, sizes))
}

/// Reads the rest of `memref<4x6xf32, strided<[10, 1], offset: 3>, 1>`: a layout and a memory space, which is
/// skipped, may follow the type.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Signed, Error> {
    let (data_type, sizes) = type_and_sizes(cursor)?;
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
            if cursor.eat("affine_map<") {
                strides = Some(affine(cursor, &sizes)?);
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

/// Reads the rest of `affine_map<(d0, d1) -> (d1, d0)>` and returns the strides of this order of the
/// dimensions, the first being the slowest. Every other map is refused.
fn affine(cursor: &mut Cursor<'_>, sizes: &[u64]) -> Result<Vec<i128>, Error> {
    let start = cursor.position();
    fn names<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<&'a str>, Error> {
        cursor.expect("(", "`(`")?;
        cursor.list(")", |cursor| Ok(cursor.word()))
    }
    let from = names(cursor).unwrap_or_default();
    let is_arrow = cursor.eat("->");
    let to = names(cursor).unwrap_or_default();
    let places: Vec<usize> = to.iter().filter_map(|name| from.iter().position(|other| other == name)).collect();
    let is_order = places.len() == to.len() && (0..sizes.len()).all(|place| places.contains(&place));
    if !is_arrow || !is_order || from.len() != sizes.len() || to.len() != sizes.len() || !cursor.eat(">") {
        cursor.move_to(start);
        let reason =
            "an affine map that is no order of the dimensions may be any function: write its strides, `strided<[..]>`";
        return Err(Error::not_expressible("list of strides or tiles", reason));
    }
    let (mut packed, mut strides) = (1_i128, vec![0; sizes.len()]);
    for place in places.into_iter().rev() {
        if let (Some(stride), Some(&size)) = (strides.get_mut(place), sizes.get(place)) {
            *stride = packed;
            packed = packed.saturating_mul(size.into());
        }
    }
    Ok(strides)
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
            forms::skip_value(cursor);
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

/// Reads the rest of `#tpu.tiled<(8,128)(2,1),[2,1]>`: XLA's tiles, and the strides of whole tiles along each
/// dimension. Only tiles in row-major order are read, because the compiler of TPUs makes no others.
fn tiles(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    let (mut tiles, mut first) = (Vec::new(), Vec::new());
    while cursor.eat("(") {
        let at = cursor.position();
        let tile = cursor.list(")", |cursor| cursor.number_i64("the size of a tile"))?;
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

pub(super) fn write(strided: &Strided) -> Result<String, Error> {
    let (data_type, desc) = (strided.data_type, &strided.desc);
    if data_type.bits() < 8 {
        let reason = "elements of less than a byte have no strides there";
        return Err(Error::not_expressible(Notation::Mlir.noun(), reason));
    }
    let (sizes, strides, base) = (desc.sizes(), desc.strides(), desc.base_offset());
    let packed = BufferTensorDesc::packed(data_type, sizes)?.with_canonical_strides();
    let layout = match (packed.strides() == strides, base) {
        (true, 0) => String::new(),
        (_, 0) => format!(", strided<{strides:?}>"),
        _ => format!(", strided<{strides:?}, offset: {base}>"),
    };
    Ok(format!("memref<{}{}{layout}>", dimensions(sizes), mlir_name(data_type)))
}

fn dimensions(sizes: &[u64]) -> String {
    sizes.iter().map(|size| format!("{size}x")).collect()
}

/// Writes a row-major array with tiles as MLIR's `memref` in the compiler of TPUs.
pub(super) fn write_tiles(shape: &ArrayShape) -> Result<String, Error> {
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
    let name = mlir_name(shape.data_type());
    let dimensions = dimensions(shape.sizes());
    Ok(format!("memref<{dimensions}{name}, #tpu.tiled<{tiles},[{}]>>", joined(&strides)))
}

fn mlir_name(data_type: DataType) -> String {
    let name = data_type.to_string();
    match (name.split_at(1), data_type) {
        (_, DataType::Pred) => "i1".into(),
        (_, DataType::C64) => "complex<f32>".into(),
        (_, DataType::C128) => "complex<f64>".into(),
        (("s", bits), _) => format!("i{bits}"),
        (("u", bits), _) => format!("ui{bits}"),
        (("f", rest), _) => format!("f{}", rest.to_ascii_uppercase()),
        _ => name,
    }
}

//! JAX's `Layout` (`jax.experimental.layout`), with the type and the sizes in front: XLA's tiles under other
//! names.

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::tiled::{ArrayShape, Layout, MAX_TILE_ENTRIES, Tile};

use super::{Notation, forms, type_and_sizes};
use crate::numbers::tuple;

pub(super) fn is_layout(text: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// The beginnings. The first two have a sharding behind the layout.
const BEGINNINGS: [&str; 4] =
    ["Format(layout=Layout(", "Layout(device_local_layout=DeviceLocalLayout(", "Layout(", "DeviceLocalLayout("];

/// Reads `Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)`, also
/// inside `Format(layout=.., sharding=..)`, whose sharding changes no place of an array. JAX before 0.7
/// prints `DeviceLocalLayout(major_to_minor=.., _tiling=.., _sub_byte_element_size_in_bits=..)`.
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    let beginning = BEGINNINGS.iter().position(|beginning| cursor.eat(beginning));
    let is_format = beginning.is_some_and(|row| row < 2);
    let shape = read_fields(cursor, data_type, sizes)?;
    if is_format {
        if cursor.eat(",") {
            cursor.expect("sharding=", "`sharding=`")?;
            forms::skip_value(cursor);
        }
        cursor.expect(")", "`)`")?;
    }
    Ok(shape)
}

/// Takes a comma and a key, which older versions begin with `_`.
fn eat_key(cursor: &mut Cursor<'_>, key: &str) -> bool {
    cursor.eat(",") && (cursor.eat(key) || cursor.eat(&format!("_{key}")))
}

fn read_fields(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    cursor.expect("major_to_minor=", "`major_to_minor=`")?;
    let (at, rank) = (cursor.position(), sizes.len());
    let numbers = tuple(cursor, |cursor| Ok((cursor.position(), cursor.number("a dimension")?)))?;
    let mut order: Vec<usize> = Vec::new();
    for (at, number) in numbers {
        match usize::try_from(number) {
            Ok(dimension) if dimension < rank && !order.contains(&dimension) => order.push(dimension),
            Ok(dimension) if dimension < rank => {
                return Err(cursor.error_at(at, "a dimension that was not named before"));
            }
            _ => return Err(cursor.error_at(at, &format!("a dimension below the rank {rank}"))),
        }
    }
    if order.len() != rank {
        return Err(cursor.error_at(at, &format!("{rank} dimensions, one for each size")));
    }
    order.reverse();
    let (mut tiles, mut bits) = (Vec::new(), 0);
    if eat_key(cursor, "tiling=") && !cursor.eat("None") {
        let at = cursor.position();
        tiles = tuple(cursor, |cursor| Tile::new(&tuple(cursor, |cursor| cursor.number_i64("the size of a tile"))?))?;
        // An empty tile counts as one entry.
        if tiles.iter().map(|tile: &Tile| tile.entries().len().max(1)).sum::<usize>() > MAX_TILE_ENTRIES {
            return Err(cursor.error_at(at, &format!("at most {MAX_TILE_ENTRIES} tile entries in all")));
        }
    }
    if eat_key(cursor, "sub_byte_element_size_in_bits=") {
        let at = cursor.position();
        let number = cursor.number("a number of bits")?;
        bits = u32::try_from(number).map_err(|_| cursor.error_at(at, "a number of bits below 2^32"))?;
    }
    cursor.expect(")", "tiling=, sub_byte_element_size_in_bits= or `)`")?;
    let mut layout = Layout::new(&order)?.with_tiles(&tiles);
    if bits != 0 {
        layout.element_bits = Some(bits);
    }
    ArrayShape::new(data_type, sizes, layout)
}

pub(super) fn write(shape: &ArrayShape) -> Result<String, Error> {
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

//! The reader of what stands before the braces: the type and the sizes.

use crate::checked::{self, Dims, ELEMENTS};
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;

use super::shape::Extent;

/// The most dimensions an array may have in text. XLA sets no limit.
pub const MAX_RANK: usize = 256;

/// `f32[2,3]`: what every layout notation begins with. Dynamic sizes are refused.
pub(crate) fn read_type_and_sizes(cursor: &mut Cursor<'_>) -> Result<(DataType, Dims), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let sizes: Dims = cursor.list("]", |cursor| cursor.number("a size"))?.into_iter().collect();
    check_sizes(cursor, start, &sizes)?;
    Ok((data_type, sizes))
}

/// `f32[2,<=3,?]`: what an XLA shape begins with.
pub(super) fn read_type_and_extents(cursor: &mut Cursor<'_>) -> Result<(DataType, Vec<Extent>), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let extents = cursor.list("]", |cursor| {
        if cursor.eat("?") {
            return Ok(Extent::Unbounded);
        }
        if cursor.eat("<=") { cursor.number("a bound").map(Extent::Bounded) } else { read_size(cursor) }
    })?;
    let sizes: Dims = extents.iter().filter_map(Extent::bound).collect();
    check_sizes(cursor, start, &sizes)?;
    if extents.len() > MAX_RANK {
        return Err(cursor.error_at(start, &format!("at most {MAX_RANK} sizes")));
    }
    Ok((data_type, extents))
}

fn read_size(cursor: &mut Cursor<'_>) -> Result<Extent, Error> {
    cursor.number("a size, `<=` and a bound, or `?`").map(Extent::Static)
}

fn check_sizes(cursor: &mut Cursor<'_>, start: usize, sizes: &[u64]) -> Result<(), Error> {
    if sizes.len() > MAX_RANK {
        return Err(cursor.error_at(start, &format!("at most {MAX_RANK} sizes")));
    }
    let product = checked::product(sizes, ELEMENTS);
    product.map(|_| ()).map_err(|_| cursor.error_at(start, "sizes whose product is below 2^64"))
}

/// XLA prints type names in lower case; its documents also write them in upper case.
pub(super) fn read_type(cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
    let start = cursor.position();
    let name = cursor.word();
    let lower = name.to_ascii_lowercase();
    let spelling = if name == name.to_ascii_uppercase() { &lower } else { name };
    DataType::from_xla_name(spelling).ok_or_else(|| cursor.error_at(start, "a data type such as f32, bf16, s8 or pred"))
}

//! The reader of what stands before the braces: the type and the sizes.

use crate::checked::Dims;
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::typed_sizes::{MAX_RANK, check_sizes, read_type};

use super::shape::Extent;

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

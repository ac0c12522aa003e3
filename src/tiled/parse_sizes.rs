//! Reads the type and the sizes, which are in front of the braces of a shape.

use alloc::format;
use alloc::vec::Vec;
use core::str::FromStr;

use crate::checked::Dims;
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::typed_sizes::{MAX_RANK, check_sizes, read_type};

use super::shape::Extent;

/// Reads `f32[2,<=3,?]`, the beginning of an XLA shape.
pub(super) fn read_type_and_extents(cursor: &mut Cursor<'_>) -> Result<(DataType, Vec<Extent>), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let extents = cursor.list("]", read_extent)?;
    let sizes: Dims = extents.iter().filter_map(Extent::bound).collect();
    check_sizes(cursor, start, &sizes)?;
    if extents.len() > MAX_RANK {
        return Err(cursor.error_at(start, &format!("at most {MAX_RANK} sizes")));
    }
    Ok((data_type, extents))
}

fn read_extent(cursor: &mut Cursor<'_>) -> Result<Extent, Error> {
    if cursor.eat("?") {
        return Ok(Extent::Unbounded);
    }
    if cursor.eat("<=") {
        return cursor.number("a bound").map(Extent::Bounded);
    }
    cursor.number("a size, `<=` and a bound, or `?`").map(Extent::Static)
}

impl FromStr for Extent {
    type Err = Error;

    /// Reads the size of a dimension: `5`, `<=5` or `?`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let extent = read_extent(&mut cursor)?;
        cursor.end("nothing more")?;
        Ok(extent)
    }
}

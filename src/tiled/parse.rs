//! Reads shapes. This reader is strict where XLA's reader is loose, and every error points at its column.
//! docs/XLA.md lists the differences.
//!
//! ```text
//! shape  := array | "token[]" | "opaque[]" | "(" [ shape { "," shape } ] ")" | "b(" array ")"
//! array  := type "[" [ extent { "," extent } ] "]" [ layout ]
//! extent := n | "<=" n | "?"
//! ```

use alloc::format;
use alloc::vec::Vec;
use core::str::FromStr;

use smallvec::SmallVec;

use crate::checked::{Dims, Proven};
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::typed_sizes::{MAX_RANK, check_sizes, read_type};

use super::array::ArrayShape;
use super::layout::Layout;
use super::parse_layout::read_layout;
use super::shape::{Extent, Shape, UnboundedArray};

/// The deepest nesting of tuples in a text. A deeper text is refused, because the reader calls itself once
/// for each level and could overflow the stack. XLA's own limit is 32,768.
pub const MAX_TUPLE_DEPTH: usize = 128;

impl FromStr for ArrayShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, read_array)
    }
}

impl FromStr for UnboundedArray {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.parse()? {
            Shape::Unbounded(array) => Ok(array),
            _ => Err(Cursor::new(text).error("an array with a size that is `?`")),
        }
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, |cursor| read_nested(cursor, 0))
    }
}

impl Shape {
    /// Reads a shape at the cursor, in a text that contains more than a shape.
    /// # Errors
    ///
    /// `parse` if no shape is next, and the errors of [`ArrayShape::new`].
    #[cfg(feature = "plan")]
    #[doc(hidden)]
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Shape, Error> {
        read_nested(cursor, 0)
    }
}

fn read_nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, Error> {
    if cursor.peek() == Some(b'(') {
        if depth >= MAX_TUPLE_DEPTH {
            return Err(cursor.error(&format!("tuples nested at most {MAX_TUPLE_DEPTH} deep")));
        }
        cursor.expect("(", "`(`")?;
        return cursor.list(")", |cursor| read_nested(cursor, depth.plus(1))).map(Shape::Tuple);
    }
    let start = cursor.position();
    match cursor.word() {
        word @ ("token" | "opaque") => {
            cursor.expect("[", "`[]`")?;
            cursor.expect("]", "`]`, as there are no sizes here")?;
            Ok(if word == "token" { Shape::Token } else { Shape::Opaque })
        }
        "b" => {
            cursor.expect("(", "`(` and an array")?;
            let array = read_array(cursor)?;
            cursor.expect(")", "`)`")?;
            Ok(Shape::Buffer(array))
        }
        "" => Err(cursor.error_at(start, "a shape: a data type such as f32, `(`, token[], opaque[] or b(")),
        _ => {
            cursor.move_to(start);
            let (data_type, extents) = read_type_and_extents(cursor)?;
            read_after_sizes(cursor, data_type, extents)
        }
    }
}

/// Reads what follows the sizes of an array: a layout or nothing.
///
/// # Errors
///
/// `parse` with the column, and the errors of [`ArrayShape::new`].
pub fn read_after_sizes(cursor: &mut Cursor<'_>, data_type: DataType, extents: Vec<Extent>) -> Result<Shape, Error> {
    let layout = read_optional_layout(cursor, extents.len())?;
    if extents.contains(&Extent::Unbounded) {
        return Ok(Shape::Unbounded(UnboundedArray { data_type, extents, layout }));
    }
    bounded(data_type, &extents, layout).map(Shape::Array)
}

fn read_array(cursor: &mut Cursor<'_>) -> Result<ArrayShape, Error> {
    let start = cursor.position();
    let (data_type, extents) = read_type_and_extents(cursor)?;
    if extents.contains(&Extent::Unbounded) {
        return Err(cursor.error_at(start, "an array with a bound for every size"));
    }
    let layout = read_optional_layout(cursor, extents.len())?;
    bounded(data_type, &extents, layout)
}

fn bounded(data_type: DataType, extents: &[Extent], layout: Layout) -> Result<ArrayShape, Error> {
    let sizes: Dims = extents.iter().filter_map(Extent::bound).collect();
    let dynamic: SmallVec<[bool; 8]> = extents.iter().map(|extent| matches!(extent, Extent::Bounded(_))).collect();
    ArrayShape::new(data_type, &sizes, layout)?.with_dynamic(&dynamic)
}

fn read_optional_layout(cursor: &mut Cursor<'_>, rank: usize) -> Result<Layout, Error> {
    if cursor.peek() == Some(b'{') { read_layout(cursor, rank) } else { Ok(Layout::row_major(rank)) }
}

pub(super) fn read_type_and_extents(cursor: &mut Cursor<'_>) -> Result<(DataType, Vec<Extent>), Error> {
    Ok((read_type(cursor)?, read_extents(cursor)?))
}

/// Reads the sizes of an array at the cursor: `[2,<=3,?]`.
///
/// # Errors
///
/// `parse` with the column, also for more than 256 sizes and for a product past 64 bits.
pub fn read_extents(cursor: &mut Cursor<'_>) -> Result<Vec<Extent>, Error> {
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let extents = cursor.list("]", read_extent)?;
    let sizes: Dims = extents.iter().filter_map(Extent::bound).collect();
    check_sizes(cursor, start, &sizes)?;
    if extents.len() > MAX_RANK {
        return Err(cursor.error_at(start, &format!("at most {MAX_RANK} sizes")));
    }
    Ok(extents)
}

fn read_extent(cursor: &mut Cursor<'_>) -> Result<Extent, Error> {
    if cursor.eat("?") {
        return Ok(Extent::Unbounded);
    }
    if cursor.eat("<=") {
        return cursor.number("a bound").map(Extent::Bounded);
    }
    cursor.number("a size, or `?` if it is known at run time").map(Extent::Static)
}

impl FromStr for Extent {
    type Err = Error;

    /// Reads the size of a dimension: `5`, `<=5` or `?`.
    fn from_str(text: &str) -> Result<Self, Error> {
        Cursor::whole(text, read_extent)
    }
}

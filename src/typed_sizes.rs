//! Reads and writes `f32[2,3]`: the type and the sizes at the start of a layout's text, in both models.

use alloc::format;
use core::fmt::{self, Display, Formatter};

use crate::checked::{self, Dims, ELEMENTS};
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;

/// The most dimensions of an array in a text. A text with more sizes is refused. XLA sets no limit.
pub const MAX_RANK: usize = 256;

/// Reads the data type and the sizes at the cursor: `f32[2,3]`.
///
/// # Errors
///
/// `parse` with the column, also for more than 256 sizes and for a product past 64 bits.
pub fn read_type_and_sizes(cursor: &mut Cursor<'_>) -> Result<(DataType, Dims), Error> {
    let data_type = read_type(cursor)?;
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let sizes: Dims = cursor.list("]", |cursor| cursor.number("a size"))?.into_iter().collect();
    check_sizes(cursor, start, &sizes)?;
    Ok((data_type, sizes))
}

/// Refuses sizes that are too many or too large. The error points at `start`, where the sizes begin.
pub(crate) fn check_sizes(cursor: &mut Cursor<'_>, start: usize, sizes: &[u64]) -> Result<(), Error> {
    if sizes.len() > MAX_RANK {
        return Err(cursor.error_at(start, &format!("at most {MAX_RANK} sizes")));
    }
    let product = checked::product(sizes, ELEMENTS);
    product.map(|_| ()).map_err(|_| cursor.error_at(start, "sizes whose product is below 2^64"))
}

/// The modules whose types have the names that are read here.
const MODULES: [&str; 12] =
    ["torch", "np", "numpy", "jnp", "jax", "ml_dtypes", "tf", "tensorflow", "mx", "mlx", "core", "paddle"];

/// Reads a data type by any of its names: `f32`, `F32`, `i32`, `int32`, `torch.float32`.
///
/// # Errors
///
/// `parse` with the column.
pub fn read_type(cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
    let start = cursor.position();
    let mut name = cursor.word();
    // The name of a module may be in front, as in torch.float16.
    while MODULES.contains(&name) && cursor.eat(".") {
        name = cursor.word();
    }
    name.parse().map_err(|_| cursor.error_at(start, "a data type such as f32, bf16, s8 or pred"))
}

pub(crate) fn write_list(f: &mut Formatter<'_>, items: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    f.write_str("[")?;
    comma_separated(f, items)?;
    f.write_str("]")
}

pub(crate) fn comma_separated(f: &mut Formatter<'_>, items: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

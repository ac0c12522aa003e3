//! A limit as text: numbers with units, truths, lists of types.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::vec::Vec;

use crate::cursor::one_of;
use crate::element::DataType;
use crate::error::Error;

/// A type of a limit, which can be read from a text.
pub(super) trait Field: Sized {
    fn read(text: &str) -> Result<Self, Error>;
}

impl Field for u64 {
    fn read(text: &str) -> Result<u64, Error> {
        read_size(text)
    }
}

impl Field for usize {
    fn read(text: &str) -> Result<usize, Error> {
        read_size(text).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }
}

impl Field for bool {
    fn read(text: &str) -> Result<bool, Error> {
        one_of(text, "a truth", &[false, true], |truth| if truth { "true" } else { "false" })
    }
}

impl<T: Field> Field for Option<T> {
    fn read(text: &str) -> Result<Option<T>, Error> {
        if text == "any" { Ok(None) } else { T::read(text).map(Some) }
    }
}

impl Field for Cow<'static, [DataType]> {
    fn read(text: &str) -> Result<Self, Error> {
        text.split('+').map(str::parse).collect::<Result<Vec<DataType>, Error>>().map(Cow::Owned)
    }
}

/// The units of a size in a text, each with its number of bytes.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Reads a number of bytes: `4096`, `4_194_304`, `4MiB`, `2 GiB`, `64kB` (1000 bytes each).
///
/// The function needs the feature `plan`.
///
/// # Errors
///
/// `parse` if the text is not a number with one of these units, or does not fit 64 bits.
///
/// ```
/// use tensor_layout::upload::read_size;
///
/// assert_eq!((read_size("4MiB")?, read_size("4_194_304")?), (4 << 20, 4 << 20));
/// assert_eq!(read_size("4 potatoes").unwrap_err().column(), Some(3));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn read_size(text: &str) -> Result<u64, Error> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let refuse = |column: usize, expected: &'static str| {
        let found = text
            .get(column..)
            .filter(|rest| !rest.is_empty())
            .map_or("the end of the text".to_owned(), |rest| format!("`{rest}`"));
        Error::parse(text, column.saturating_add(1), expected, found)
    };
    let value = number.replace('_', "").parse::<u64>().ok().filter(|_| !number.starts_with('_'));
    let value = value.ok_or_else(|| refuse(0, "a number of bytes below 2^64, such as 4096, 4_194_304 or 4MiB"))?;
    let blanks = unit.len().saturating_sub(unit.trim_start().len());
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|&(_, factor)| factor);
    let factor =
        factor.ok_or_else(|| refuse(digits.saturating_add(blanks), "KiB, MiB, GiB, TiB, kB, MB, GB, TB or nothing"))?;
    value.checked_mul(factor).ok_or_else(|| refuse(0, "a number of bytes below 2^64"))
}

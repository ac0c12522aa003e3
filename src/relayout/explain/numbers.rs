//! Numbers as text, and lines of text.

use std::fmt::{self, Write};

/// A number of bytes as text. It is exact up to 9,999 bytes and for whole KiB, MiB and GiB, and has one
/// decimal place otherwise.
pub(super) struct Size(pub(super) u64);

impl Size {
    pub(super) fn of(bytes: usize) -> Size {
        Size(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size(bytes) = *self;
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.into_iter().find(|&(unit, _)| bytes >= unit && bytes > 9999) {
            Some((unit, name)) if bytes.is_multiple_of(unit) => {
                write!(f, "{} {name}", bytes.checked_div(unit).unwrap_or(0))
            }
            Some((unit, name)) => {
                let tenths = u128::from(bytes).saturating_mul(10).checked_div(unit.into()).unwrap_or(0);
                write!(f, "{}.{} {name}", tenths.div_euclid(10), tenths.rem_euclid(10))
            }
            None => write!(f, "{bytes} {}", if bytes == 1 { "byte" } else { "bytes" }),
        }
    }
}

/// A count with its noun, in the singular or the plural.
pub(super) fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, one: &str, several: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { several })
}

/// Adds a line to a text. Writing to a `String` does not fail.
pub(super) fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

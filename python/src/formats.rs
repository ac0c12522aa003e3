//! The formats of buffers, as data types.

use tensor_layout::DataType;
use tensor_layout::element::Naming;

/// Returns the type for a format of the module `struct`, with the extensions of PEP 3118.
pub(crate) fn type_of_format(format: &[u8], item: usize) -> Option<DataType> {
    use DataType::*;
    // mlx 0.32 writes the name of a type.
    if let Some(named) = std::str::from_utf8(format).ok().filter(|name| name.len() > 2) {
        let found = DataType::from_name_in(Naming::Numpy, named);
        if let Some(found) = found.filter(|found| usize::try_from(found.bits().div_ceil(8)) == Ok(item)) {
            return Some(found);
        }
    }
    let code = match format {
        [b'>' | b'!', rest @ ..] if item == 1 => rest,
        [b'@' | b'=' | b'<' | b'^', rest @ ..] => rest,
        whole => whole,
    };
    match (code, item) {
        (b"?", 1) => Some(Pred),
        (b"b", 1) => Some(S8),
        (b"B" | b"c", 1) => Some(U8),
        (b"h", 2) => Some(S16),
        (b"H", 2) => Some(U16),
        (b"i" | b"l", 4) => Some(S32),
        (b"I" | b"L", 4) => Some(U32),
        (b"l" | b"q" | b"n", 8) => Some(S64),
        (b"L" | b"Q" | b"N", 8) => Some(U64),
        (b"e", 2) => Some(F16),
        (b"f", 4) => Some(F32),
        (b"d", 8) => Some(F64),
        (b"Zf", 8) => Some(C64),
        (b"Zd", 16) => Some(C128),
        _ => None,
    }
}

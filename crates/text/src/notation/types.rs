//! The names of data types: those of NumPy, which PyTorch and TVM have too, and those of other libraries that
//! print layouts.

use tensor_layout::Error;
use tensor_layout::checked::Proven;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};

use super::Notation;

/// The types of one byte that NumPy's package `ml_dtypes` has and PyTorch lacks.
const NOT_IN_TORCH: [DataType; 3] = [DataType::F8E3M4, DataType::F8E4M3, DataType::F8E4M3B11FNUZ];

pub(super) fn name(data_type: DataType, notation: Notation) -> Result<&'static str, Error> {
    let (by, lacks): (&str, &[DataType]) = match notation {
        Notation::Torch => ("PyTorch", &NOT_IN_TORCH),
        Notation::Tvm => ("TVM", &[DataType::C64, DataType::C128]),
        _ => ("NumPy", &[]),
    };
    let name = data_type.name_in(Naming::Numpy).filter(|_| !lacks.contains(&data_type));
    name.ok_or_else(|| Error::unsupported_data_type(data_type.name_in(Naming::Xla).unwrap_or_default(), by))
}

/// The names that `numpy.dtype` accepts for a type besides its kind and bytes. C's type names have the sizes
/// of 64-bit Linux.
const WORDS: [(&str, &str); 14] = [
    ("|b1", "? b1 bool bool8"),
    ("|i1", "b byte int8"),
    ("|u1", "B ubyte uint8"),
    ("<i2", "h short int16"),
    ("<u2", "H ushort uint16"),
    ("<i4", "i intc int32"),
    ("<u4", "I uintc uint32"),
    ("<i8", "l q p int int_ intp long longlong int64"),
    ("<u8", "L Q P uint uintp ulong ulonglong uint64"),
    ("<f2", "e half float16"),
    ("<f4", "f single float32"),
    ("<f8", "d double float float64"),
    ("<c8", "F csingle complex64"),
    ("<c16", "D cdouble complex complex128"),
];

/// Returns a text of `numpy.dtype` as NumPy writes it into a file on a little-endian CPU, and its data type
/// if there is one.
///
/// ```
/// use tensor_layout::DataType;
/// use tensor_layout_text::numpy_dtype;
///
/// assert_eq!(numpy_dtype("=f4"), ("<f4".into(), Some(DataType::F32)));
/// assert_eq!(numpy_dtype("ubyte"), ("|u1".into(), Some(DataType::U8)));
/// assert_eq!(numpy_dtype("<V2"), ("<V2".into(), None));
/// ```
pub fn numpy_dtype(text: &str) -> (String, Option<DataType>) {
    let body = text.trim_start_matches(['<', '>', '=', '|']);
    let word = WORDS.iter().find(|(_, words)| words.split(' ').any(|word| word == body));
    let exact = match (word, body.as_bytes()) {
        (Some((exact, _)), _) => (*exact).to_owned(),
        (None, [_, b'1']) => format!("|{body}"),
        _ => format!("<{body}"),
    };
    let data_type = DataType::from_name_in(Naming::Npy, &exact).or_else(|| DataType::from_name_in(Naming::Numpy, body));
    (exact, data_type)
}

/// Reads `float32`, `np.float32`, `'float32'`, and of NumPy itself also any other text that [`numpy_dtype`]
/// takes, such as `'<f4'`.
pub(super) fn read_dtype(cursor: &mut Cursor<'_>, is_numpy: bool) -> Result<DataType, Error> {
    let start = cursor.position();
    let rest = cursor.rest();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let (name, taken) = match quote {
        Some(quote) => {
            let name = rest.get(1..).and_then(|rest| rest.split_once(quote)).map_or("", |(name, _)| name);
            (name, name.len().plus(2))
        }
        None => {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '<' | '>' | '|' | '=');
            let name = rest.get(..rest.find(|c| !is_name(c)).unwrap_or(rest.len())).unwrap_or("");
            (name.strip_prefix("np.").or(name.strip_prefix("numpy.")).unwrap_or(name), name.len())
        }
    };
    // `torch.int` has another width than NumPy's `int`. So another library's names are NumPy's full names,
    // such as `int32`.
    let full = name.rsplit_once('.').map_or(name, |(_, full)| full);
    let (exact, found) = match is_numpy && full == name {
        true => numpy_dtype(name),
        false => (String::new(), DataType::from_name_in(Naming::Numpy, full)),
    };
    let swapped = found.is_some() && name.starts_with('>') && exact.starts_with('<');
    let expected = match swapped {
        true => {
            "a little-endian dtype such as '<f4' ('>' is big-endian: swap its bytes first, with `.astype` or `byteswap`)"
        }
        false => "a dtype such as float32, bfloat16 or '<f4'",
    };
    let at = start.plus(taken).minus(full.len()).minus(usize::from(quote.is_some()));
    let data_type = found.filter(|_| !swapped).ok_or_else(|| cursor.error_at(at, expected))?;
    cursor.move_to(start.plus(taken));
    Ok(data_type)
}

/// Returns the type with this name in any of the libraries: PyTorch's truth values are `b8`, MLIR's `i1`, and
/// ONNX, cuDNN and TensorRT have `FLOAT`, `DOUBLE`, `HALF` and `BOOL`.
pub(super) fn element_type(name: &str) -> Option<DataType> {
    match name {
        "b8" | "i1" | "BOOL" | "BOOLEAN" | "boolean" => Some(DataType::Pred),
        "FLOAT" => Some(DataType::F32),
        "DOUBLE" => Some(DataType::F64),
        "HALF" => Some(DataType::F16),
        "si8" | "si16" | "si32" | "si64" | "ui8" | "ui16" | "ui32" | "ui64" => name.replacen('i', "", 1).parse().ok(),
        _ => name.parse().or_else(|_| name.to_ascii_lowercase().parse()).ok(),
    }
}

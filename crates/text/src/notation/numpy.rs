//! NumPy's and PyTorch's description of an array: shape, dtype and *byte* strides.
//!
//! The text has the arguments of NumPy's own constructor, `ndarray(shape=(2,3), dtype=float32,
//! strides=(20,4), offset=40)`. With `buffer=` added, it is an expression of Python. PyTorch's strides
//! (`Tensor.stride()`) are these strides divided by the size of an element. Elements take whole bytes: each
//! element of a sub-byte type such as `int4` takes one byte, as in the `ml_dtypes` package. Source: NumPy's
//! pages on `numpy.ndarray` and its memory layout.

use tensor_layout::checked::{self, BYTES, Dims, Exact};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::map::{IndexMap, Mode};
use tensor_layout::{AnyLayout, BufferTensorDesc, Error};

use super::strided::{Strided, tuple};
use super::{bits_in_words, unsupported};

/// Returns the text of a strided layout, or the reason why NumPy cannot express it.
pub(super) fn text(strided: &Strided) -> Result<String, Error> {
    let refuse = |reason: String| Error::not_expressible("NumPy array", reason);
    let data_type = strided.data_type;
    let name = data_type.name_in(Naming::Numpy).ok_or_else(|| unsupported(data_type, "NumPy"))?;
    let bits = strided.element_bits;
    if bits != data_type.bits().next_multiple_of(8) {
        let own = data_type.bits().next_multiple_of(8);
        return Err(refuse(format!(
            "an element of {data_type} takes {} here, and {own} in NumPy",
            bits_in_words(bits)
        )));
    }
    let bytes = u64::from(bits.div_euclid(8));
    let in_bytes = |elements: u64| checked::mul(elements, bytes, BYTES);
    let strides: Dims = strided.strides.iter().map(|&stride| in_bytes(stride)).collect::<Result<_, _>>()?;
    let mut text = format!("ndarray(shape={}, dtype={name}, strides={}", tuple(&strided.sizes), tuple(&strides));
    if strided.is_part {
        text.push_str(&format!(", offset={}", in_bytes(strided.base)?));
    }
    text.push(')');
    Ok(text)
}

/// Returns the layout of a type below a byte whose elements take the bytes of a descriptor. A descriptor
/// cannot store such an element in a whole byte, so the layout is an index map.
pub(super) fn in_whole_bytes(data_type: DataType, bytes: &BufferTensorDesc) -> Result<AnyLayout, Error> {
    let digits = bytes.sizes().iter().zip(bytes.strides()).map(|(&size, &stride)| vec![Mode::new(size, stride)]);
    let map = IndexMap::from_digits(data_type, bytes.data_type().bits(), &digits.collect::<Vec<_>>())?;
    let map = map.with_base(bytes.base_offset())?;
    Ok(AnyLayout::Mapped(map.in_buffer_of(bytes.span_elements(), bytes.is_part())?))
}

/// Reads `(2, 3)`, `(2,)`, `()`, `[2, 3]`, or a single number, which NumPy reads as one dimension.
pub(super) fn read_tuple<'a, T>(
    cursor: &mut Cursor<'a>,
    number: impl Fn(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let close = match cursor.peek() {
        Some(b'(') => ")",
        Some(b'[') => "]",
        _ => return Ok(vec![number(cursor)?]),
    };
    cursor.expect(if close == ")" { "(" } else { "[" }, "`(`")?;
    let mut numbers = Vec::new();
    while !cursor.eat(close) {
        numbers.push(number(cursor)?);
        if !cursor.eat(",") {
            cursor.expect(close, &format!("`,` or `{close}`"))?;
            break;
        }
    }
    Ok(numbers)
}

/// Reads `float32`, `np.float32`, `'float32'` or `'<f4'`.
pub(super) fn read_type(cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
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
            (name.rsplit_once('.').map_or(name, |(_, name)| name), name.len())
        }
    };
    let found = DataType::from_name_in(Naming::Numpy, name).or_else(|| DataType::from_name_in(Naming::Npy, name));
    let swapped =
        name.strip_prefix('>').is_some_and(|rest| DataType::from_name_in(Naming::Npy, &format!("<{rest}")).is_some());
    let expected = match swapped {
        true => {
            "a little-endian dtype such as '<f4' ('>' is big-endian: swap its bytes first, with `.astype` or `byteswap`)"
        }
        false => "a dtype such as float32, bfloat16 or '<f4'",
    };
    let data_type = found.ok_or_else(|| cursor.error_at(start, expected))?;
    cursor.move_to(start.plus(taken));
    Ok(data_type)
}

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
use super::view_step::signed;
use super::{bits_in_words, unsupported};

/// The words with which a text in NumPy's notation begins.
const BEGINNINGS: [&str; 3] = ["ndarray", "np.ndarray", "numpy.ndarray"];

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

/// Whether the text begins like this notation.
pub(super) fn begins(cursor: &mut Cursor<'_>) -> bool {
    let rest = cursor.rest();
    BEGINNINGS.iter().any(|word| rest.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('(')))
}

/// Reads the layout at the cursor. Keys may come in any order. `strides` and `offset` may be left out.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<AnyLayout, Error> {
    let start = cursor.position();
    for word in BEGINNINGS {
        if cursor.eat(word) {
            break;
        }
    }
    cursor.expect("(", "`(` and the shape")?;
    let (mut shape, mut data_type, mut strides, mut offset) = (None, None, None, None);
    loop {
        let key_at = cursor.position();
        let key = cursor.word();
        if !matches!(key, "shape" | "dtype" | "strides" | "offset") {
            return Err(cursor.error_at(key_at, "shape=, dtype=, strides= or offset="));
        }
        cursor.expect("=", "`=`")?;
        let at = cursor.position();
        let twice = match key {
            "shape" => shape.replace(read_tuple(cursor, |cursor| cursor.number("a size"))?).is_some(),
            "dtype" => data_type.replace(read_type(cursor)?).is_some(),
            "strides" => {
                let number = |cursor: &mut Cursor<'_>| Ok((cursor.position(), signed(cursor)?));
                strides.replace((at, read_tuple(cursor, number)?)).is_some()
            }
            _ => offset.replace((at, cursor.number("an offset in bytes")?)).is_some(),
        };
        if twice {
            return Err(cursor.error_at(key_at, "a key that was not given before"));
        }
        if cursor.eat(")") {
            break;
        }
        cursor.expect(",", "`,` or `)`")?;
    }
    let end = cursor.position();
    let shape = Dims::from(shape.ok_or_else(|| cursor.error_at(start, "an array with shape="))?);
    let data_type = data_type.ok_or_else(|| cursor.error_at(start, "an array with dtype="))?;
    let bytes = u64::from(data_type.bits().next_multiple_of(8).div_euclid(8));
    let elements = |cursor: &mut Cursor<'_>, at: usize, number: u64| {
        let fits = number.is_multiple_of(bytes).then(|| number.checked_div(bytes)).flatten();
        fits.ok_or_else(|| cursor.error_at(at, &format!("multiples of {bytes} bytes, the size of an element")))
    };
    let strides = match strides {
        Some((at, strides)) if strides.len() != shape.len() => {
            return Err(cursor.error_at(at, &format!("{} strides, one for each size", shape.len())));
        }
        Some((at, strides)) => {
            let empty = shape.contains(&0);
            let stride = |(&size, (place, stride)): (&u64, (usize, i128))| match u64::try_from(stride) {
                // The strides of axes of size 1 and of empty tensors are unused, so any number is accepted.
                number if size == 1 || empty => Ok(number.unwrap_or(0).checked_div(bytes).unwrap_or(0)),
                Ok(number) => elements(cursor, at, number),
                Err(_) => Err(cursor.error_at(place, "a stride in bytes (negative strides are not supported)")),
            };
            Some(shape.iter().zip(strides).map(stride).collect::<Result<Dims, _>>()?)
        }
        None => None,
    };
    let base = offset.map(|(at, offset)| elements(cursor, at, offset)).transpose()?;
    cursor.move_to(end);
    layout(data_type, &shape, strides.as_deref(), base)
}

fn layout(data_type: DataType, sizes: &[u64], strides: Option<&[u64]>, base: Option<u64>) -> Result<AnyLayout, Error> {
    let bits = data_type.bits().next_multiple_of(8);
    let placed = |desc: BufferTensorDesc| match base {
        Some(base) => desc.with_base_offset(base),
        None => Ok(desc),
    };
    if bits == data_type.bits() {
        return placed(BufferTensorDesc::new(data_type, sizes, strides)?.with_canonical_strides())
            .map(AnyLayout::Strided);
    }
    // A descriptor cannot store a sub-byte element in a whole byte, so the layout becomes an index map.
    let desc = placed(BufferTensorDesc::new(DataType::U8, sizes, strides)?)?;
    let digits = sizes.iter().zip(desc.strides()).map(|(&size, &stride)| vec![Mode::new(size, stride)]);
    let map = IndexMap::from_digits(data_type, bits, &digits.collect::<Vec<_>>())?.with_base(desc.base_offset())?;
    Ok(AnyLayout::Mapped(map.in_buffer_of(desc.span_elements(), desc.is_part())?))
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
fn read_type(cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
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

//! Reads the notations that are lists of fields with names: NumPy, PyTorch, candle, ndarray, ggml and
//! DirectML's JSON.
//!
//! These texts are sizes and strides under other names. Each notation is a row of [`FORMS`]. Where a library
//! prints more than the layout (a device, ndarray's order flags), the row lists that key, and it is skipped.
//! Every other key is an error. A text without a
//! type has the type in front: `f32 shape=[2, 3], strides=[3, 1]`.
//!
//! | notation | strides count | offset | sources |
//! |---|---|---|---|
//! | NumPy | bytes | `offset` | the arguments of `numpy.ndarray`; each element takes whole bytes, as in `ml_dtypes` |
//! | PyTorch | elements | `storage_offset` | what `torch.fx` graphs and `Tensor.size()` print |
//! | candle | elements | `start_offset` | `Debug` of `Layout` |
//! | ndarray | elements | - | `Debug` of `ArrayBase` |
//! | ggml | bytes, the innermost axis first | - | the fields `ne` and `nb` of `ggml_tensor` |
//! | DirectML | elements | - | DxDispatch's models; the long form `{"Type":..,"Desc":{..}}` too |

use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{BlockType, DataType, Naming};
use tensor_layout::map::Mode;
use tensor_layout::{AnyLayout, BufferTensorDesc, Error, IndexMap, TensorFlags};

use super::Notation;
use super::strided::{self, DIRECTML_DIMENSIONS, Signed};
use crate::numbers::{signed, tuple};

/// How one notation writes the fields.
pub(super) struct Form {
    pub(super) notation: Notation,
    /// How the text begins. A beginning with `=` is the first field.
    begins: &'static [&'static str],
    /// The token after the last field, or nothing.
    close: &'static str,
    fields: &'static [(&'static str, Field)],
    /// The keys that change no place. They and their values are skipped, and every other key is an error.
    skips: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Field {
    Sizes,
    Type,
    Strides,
    Offset,
    Flags,
    Rank,
    TotalSize,
    Alignment,
}

use Field::{Alignment, Flags, Offset, Rank, Sizes, Strides, TotalSize, Type};

const NUMPY: &[(&str, Field)] = &[("shape", Sizes), ("dtype", Type), ("strides", Strides), ("offset", Offset)];

/// The keys of PyTorch that change no place.
const TORCH_SKIPS: &[&str] = &["device", "requires_grad", "pin_memory"];

const TORCH: &[(&str, Field)] = &[("size", Sizes), ("dtype", Type), ("stride", Strides), ("storage_offset", Offset)];

#[rustfmt::skip]
const FORMS: [Form; 9] = [
    Form { notation: Notation::Numpy, begins: &["ndarray(", "np.ndarray(", "numpy.ndarray("], close: ")",
        fields: NUMPY, skips: &[] },
    Form { notation: Notation::Numpy, begins: &["shape=("], close: "", fields: NUMPY, skips: &[] },
    Form { notation: Notation::Torch, begins: &["torch.Size("], close: "", fields: TORCH, skips: TORCH_SKIPS },
    Form { notation: Notation::Torch, begins: &["(torch.Size("], close: ")", fields: TORCH, skips: TORCH_SKIPS },
    Form { notation: Notation::Torch, begins: &["torch.empty_strided("], close: ")", fields: TORCH, skips: TORCH_SKIPS },
    Form { notation: Notation::Candle, begins: &["Layout {"], close: "}",
        fields: &[("shape", Sizes), ("stride", Strides), ("start_offset", Offset)], skips: &[] },
    Form { notation: Notation::Ndarray, begins: &["shape="], close: "",
        fields: &[("shape", Sizes), ("strides", Strides)], skips: &["layout", "ndim"] },
    Form { notation: Notation::Ggml, begins: &["ne="], close: "",
        fields: &[("ne", Sizes), ("nb", Strides)], skips: &[] },
    Form { notation: Notation::Directml, begins: &["{"], close: "}",
        fields: &[("DataType", Type), ("Flags", Flags), ("DimensionCount", Rank), ("Sizes", Sizes), ("Strides", Strides),
            ("TotalTensorSizeInBytes", TotalSize), ("GuaranteedBaseOffsetAlignment", Alignment)], skips: &[] },
];

pub(super) fn form(text: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.begins.iter().any(|beginning| text.starts_with(beginning)))
}

/// The fields that have been read so far. Numbers that are checked later have their column.
#[derive(Default)]
struct Fields {
    data_type: Option<DataType>,
    sizes: Option<Vec<u64>>,
    strides: Option<(usize, Vec<(usize, i128)>)>,
    offset: Option<(usize, i128)>,
    flags: Option<TensorFlags>,
    rank: Option<(usize, u64)>,
    total: Option<u64>,
    alignment: Option<u32>,
}

impl Form {
    fn is_json(&self) -> bool {
        self.notation == Notation::Directml
    }

    /// Reads the fields at the cursor, which is at the beginning of the form.
    pub(super) fn read(&self, cursor: &mut Cursor<'_>, data_type: Option<DataType>) -> Result<Signed, Error> {
        let start = cursor.position();
        let mut found = Fields { data_type, ..Fields::default() };
        let beginning = self.begins.iter().find(|beginning| !beginning.contains('=') && cursor.eat(beginning));
        if self.notation == Notation::Torch {
            found.sizes = Some(tuple(cursor, |cursor| cursor.number("a size"))?);
            if beginning.is_some_and(|beginning| beginning.ends_with("Size(")) {
                cursor.expect(")", "`)`")?;
            }
            cursor.eat(",");
            if cursor.peek() == Some(b'(') {
                found.strides = Some(strides(cursor)?);
                cursor.eat(",");
            }
        }
        self.fields(cursor, &mut found, false)?;
        self.layout(cursor, start, found)
    }

    /// Reads fields such as `shape=[2, 3], strides=[3, 1]`, in any order, up to the closing token.
    fn fields(&self, cursor: &mut Cursor<'_>, found: &mut Fields, is_inner: bool) -> Result<(), Error> {
        let is_json = self.is_json();
        while if self.close.is_empty() { cursor.peek().is_some() } else { !cursor.eat(self.close) } {
            let at = cursor.position();
            let mut key = if is_json { string(cursor)? } else { cursor.word() };
            if matches!(key, "const" | "dynamic") {
                key = cursor.word();
            }
            let is_field = !is_json && cursor.eat("=") || cursor.eat(":");
            if !is_field && !key.is_empty() {
                return Err(cursor.error(if is_json { "`:`" } else { "`=`" }));
            }
            let value = cursor.position();
            let field = self.fields.iter().find(|(name, _)| is_field && *name == key).map(|(_, field)| *field);
            let twice = match (field, key) {
                // A member that is null counts as left out.
                (Some(_), _) if is_json && cursor.eat("null") => false,
                (Some(Type), _) => found.data_type.replace(self.data_type(cursor)?).is_some(),
                (Some(Sizes | Strides), _) if is_json && cursor.peek() != Some(b'[') => {
                    return Err(cursor.error("`[` and numbers"));
                }
                (Some(Sizes), _) => found.sizes.replace(tuple(cursor, |cursor| self.size(cursor))?).is_some(),
                (Some(Strides), _) => found.strides.replace(strides(cursor)?).is_some(),
                (Some(Offset), _) => found.offset.replace((value, signed(cursor)?)).is_some(),
                (Some(Rank), _) => found.rank.replace((value, cursor.number("a number of dimensions")?)).is_some(),
                (Some(TotalSize), _) => found.total.replace(cursor.number("a size in bytes")?).is_some(),
                (Some(Alignment), _) => {
                    let bytes = u32::try_from(cursor.number("an alignment in bytes")?);
                    let bytes = bytes.map_err(|_| cursor.error_at(value, "an alignment in bytes below 2^32"))?;
                    found.alignment.replace(bytes).is_some()
                }
                (Some(Flags), _) => found.flags.replace(flags(cursor)?).is_some(),
                (None, "Type") if is_json && !is_inner => {
                    if !matches!(string(cursor)?, "DML_TENSOR_TYPE_BUFFER" | "BUFFER") {
                        return Err(cursor.error_at(value, "DML_TENSOR_TYPE_BUFFER"));
                    }
                    false
                }
                (None, "Desc") if is_json && !is_inner => {
                    cursor.expect("{", "`{`")?;
                    self.fields(cursor, found, true)?;
                    false
                }
                (None, key) if is_field && self.skips.contains(&key) => {
                    skip_value(cursor);
                    false
                }
                _ => return Err(cursor.error_at(at, &self.names())),
            };
            if twice {
                let noun = if is_json { "member" } else { "key" };
                return Err(cursor.error_at(at, &format!("a {noun} that was not given before")));
            }
            if !cursor.eat(",") && !self.close.is_empty() {
                return cursor.expect(self.close, &format!("`,` or `{}`", self.close));
            }
        }
        Ok(())
    }

    /// Returns the layout of the fields, from the lowest address on, and leaves the cursor where it is.
    fn layout(&self, cursor: &mut Cursor<'_>, start: usize, found: Fields) -> Result<Signed, Error> {
        let (end, is_json) = (cursor.position(), self.is_json());
        let mut missing = |field: Field| match field {
            Type if !is_json => cursor.error_at(start, "a type in front, as in `f32 shape=[2]`, or dtype="),
            field => cursor.error_at(start, &format!("{} with {}", self.noun(), self.name_of(field))),
        };
        let mut sizes = found.sizes.ok_or_else(|| missing(Sizes))?;
        let data_type = found.data_type.ok_or_else(|| missing(Type))?;
        let rank = sizes.len();
        if is_json && (rank == 0 || rank > DIRECTML_DIMENSIONS) {
            return Err(cursor.error_at(start, &format!("a tensor of 1 to {DIRECTML_DIMENSIONS} dimensions")));
        }
        if let Some((at, _)) = found.rank.filter(|&(_, count)| u64::try_from(rank) != Ok(count)) {
            return Err(cursor.error_at(at, &format!("{rank}, the number of sizes")));
        }
        // NumPy stores an element of a type below a byte in a whole byte.
        let bits = data_type.bits().next_multiple_of(8);
        let is_in_bytes = matches!(self.notation, Notation::Numpy | Notation::Ggml);
        let unit = if is_in_bytes { i128::from(bits.div_euclid(8)) } else { 1 };
        let mut elements = |at: usize, number: i128, size: u64| match number.checked_rem(unit) {
            Some(0) if !is_json || u32::try_from(number).is_ok() => Ok(number.divided_by(unit)),
            // The strides of axes of size 1 and of empty tensors are unused, so any number is accepted.
            _ if size <= 1 => Ok(0),
            _ if is_json => Err(cursor.error_at(at, "a stride below 2^32")),
            _ => Err(cursor.error_at(at, &format!("multiples of {unit} bytes, the size of an element"))),
        };
        let least = sizes.iter().copied().min().filter(|&size| size == 0);
        let offset = found.offset.map(|(at, offset)| elements(at, offset, u64::MAX)).transpose()?;
        let mut strides: Option<Vec<i128>> = match found.strides {
            Some((at, strides)) if strides.len() != rank => {
                return Err(cursor.error_at(at, &format!("{rank} strides, one for each size")));
            }
            Some((_, strides)) => {
                let pairs = sizes.iter().zip(strides);
                Some(
                    pairs
                        .map(|(&size, (at, stride))| elements(at, stride, least.unwrap_or(size)))
                        .collect::<Result<_, _>>()?,
                )
            }
            None => None,
        };
        if self.notation == Notation::Ggml {
            sizes.reverse();
            strides.iter_mut().for_each(|strides| strides.reverse());
        }
        cursor.move_to(end);
        let is_widened = is_in_bytes && bits != data_type.bits();
        let stored = if is_widened { DataType::U8 } else { data_type };
        let offset = offset.filter(|&offset| offset != 0 || self.notation == Notation::Numpy);
        let (mut desc, reversed) = strided::signed(stored, &sizes, strides.as_deref(), offset)?;
        if is_widened {
            return Ok((in_whole_bytes(data_type, &desc)?, reversed));
        }
        desc = desc
            .with_flags(found.flags.unwrap_or_default())
            .with_base_offset_alignment(found.alignment.unwrap_or(0))?;
        let desc = found.total.map_or(Ok(desc.clone()), |total| desc.with_total_size_in_bytes(total))?;
        Ok((desc.into(), reversed))
    }

    fn noun(&self) -> &'static str {
        if self.is_json() { "an object" } else { "a layout" }
    }

    fn name_of(&self, field: Field) -> String {
        let name = self.fields.iter().find(|(_, other)| *other == field).map_or("", |(name, _)| name);
        format!("{name}{}", if self.is_json() { "" } else { "=" })
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.fields.iter().map(|(_, field)| self.name_of(*field)).collect();
        let (last, others) = names
            .split_last()
            .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
        format!("{others} or {last}")
    }

    fn size(&self, cursor: &mut Cursor<'_>) -> Result<u64, Error> {
        let what = if self.is_json() { "a size from 1 to 2^32 - 1" } else { "a size" };
        let (at, size) = (cursor.position(), cursor.number(what)?);
        let fits = !self.is_json() || size >= 1 && u32::try_from(size).is_ok();
        if fits { Ok(size) } else { Err(cursor.error_at(at, what)) }
    }

    fn data_type(&self, cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
        if !self.is_json() {
            return numpy_type(cursor);
        }
        let (at, found) = (cursor.position(), DataType::from_name_in(Naming::Directml, string(cursor)?));
        found.ok_or_else(|| cursor.error_at(at, "a data type of DirectML such as FLOAT32"))
    }
}

/// Skips a value up to the comma or the bracket that ends it: `device(type='cuda', index=0)`, `Cc (0x5)`.
pub(super) fn skip_value(cursor: &mut Cursor<'_>) {
    let (mut depth, mut quote, start, rest) = (0_i64, None, cursor.position(), cursor.rest());
    let is_end = |c: char| {
        let is_end = depth == 0 && quote.is_none() && matches!(c, ',' | ')' | ']' | '}' | '>');
        match c {
            '\'' | '"' if quote.is_none_or(|open| open == c) => quote = if quote.is_none() { Some(c) } else { None },
            '(' | '[' | '{' | '<' => depth = depth.plus(1),
            ')' | ']' | '}' | '>' => depth = depth.minus(1),
            _ => {}
        }
        is_end
    };
    cursor.move_to(start.plus(rest.find(is_end).unwrap_or(rest.len())));
}

/// Reads a list of strides. The list and each stride have their columns.
fn strides(cursor: &mut Cursor<'_>) -> Result<(usize, Vec<(usize, i128)>), Error> {
    Ok((cursor.position(), tuple(cursor, |cursor| Ok((cursor.position(), signed(cursor)?)))?))
}

fn flags(cursor: &mut Cursor<'_>) -> Result<TensorFlags, Error> {
    let (at, name) = (cursor.position(), string(cursor)?);
    match name.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(name) {
        "NONE" => Ok(TensorFlags::None),
        "OWNED_BY_DML" => Ok(TensorFlags::OwnedByDirectml),
        _ => Err(cursor.error_at(at, "the flag NONE or OWNED_BY_DML")),
    }
}

/// Reads a JSON string. No name needs an escape, so escapes are not decoded.
fn string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    let start = cursor.position();
    let inner = cursor.rest().strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(inner, _)| inner);
    let inner = inner.ok_or_else(|| cursor.error_at(start, "a string in double quotes"))?;
    cursor.move_to(start.plus(inner.len()).plus(2));
    Ok(inner)
}

/// The words that `numpy.dtype` takes for a type besides its kind and bytes. Those of C are the sizes of
/// 64-bit Linux.
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

/// Reads `float32`, `np.float32`, `'float32'`, `'<f4'` or any other text that [`numpy_dtype`] takes.
fn numpy_type(cursor: &mut Cursor<'_>) -> Result<DataType, Error> {
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
    // `torch.int` is not NumPy's `int`: of other modules the full names alone are read.
    let (exact, found) = match name.rsplit_once('.') {
        Some((_, full)) => (String::new(), DataType::from_name_in(Naming::Numpy, full)),
        None => numpy_dtype(name),
    };
    let swapped = found.is_some() && name.starts_with('>') && exact.starts_with('<');
    let expected = match swapped {
        true => {
            "a little-endian dtype such as '<f4' ('>' is big-endian: swap its bytes first, with `.astype` or `byteswap`)"
        }
        false => "a dtype such as float32, bfloat16 or '<f4'",
    };
    let data_type = found.filter(|_| !swapped).ok_or_else(|| cursor.error_at(start, expected))?;
    cursor.move_to(start.plus(taken));
    Ok(data_type)
}

/// Returns the layout of a type below a byte whose elements take the bytes of a descriptor. A descriptor
/// cannot store such an element in a whole byte, so the layout is an index map.
fn in_whole_bytes(data_type: DataType, bytes: &BufferTensorDesc) -> Result<AnyLayout, Error> {
    let digits = bytes.sizes().iter().zip(bytes.strides()).map(|(&size, &stride)| vec![Mode::new(size, stride)]);
    let map = IndexMap::from_digits(data_type, bytes.data_type().bits(), &digits.collect::<Vec<_>>())?;
    let map = map.with_base(bytes.base_offset())?;
    Ok(AnyLayout::Mapped(map.in_buffer_of(bytes.span_elements(), bytes.is_part())?))
}

/// Returns the text `q4_0[3, 64]:[36, 18]` of a tensor of blocks that ggml prints as `q4_0 ne=[64, 3] nb=[18,
/// 36]`. `None` for another text.
pub(super) fn ggml_blocks(cursor: &mut Cursor<'_>, block_type: BlockType) -> Result<Option<String>, Error> {
    if !cursor.eat("ne=") {
        return Ok(None);
    }
    let mut sizes = tuple(cursor, |cursor| cursor.number("a size"))?;
    cursor.eat(",");
    cursor.expect("nb=", "`nb=`")?;
    let mut strides = tuple(cursor, |cursor| cursor.number("a stride in bytes"))?;
    cursor.end("nothing more")?;
    sizes.reverse();
    strides.reverse();
    Ok(Some(format!("{block_type}{sizes:?}:{strides:?}")))
}

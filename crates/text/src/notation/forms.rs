//! Forms: texts that are a list of fields under fixed words, as NumPy, PyTorch, candle, ndarray, ggml and the
//! tools around them print them. Each has a row in [`FORMS`]; the writer follows the rows with a text.
//!
//! | notation | strides count | offset | sources |
//! |---|---|---|---|
//! | NumPy | bytes | `offset` | arguments of `numpy.ndarray`; elements take whole bytes, as in `ml_dtypes` |
//! | PyTorch | elements | `storage_offset` | what `torch.fx` graphs and `Tensor.size()` print |
//! | candle | elements | `start_offset` | `Debug` of `Layout` |
//! | ndarray | elements | - | `Debug` of `ArrayBase` |
//! | ggml | bytes, the innermost axis first | - | `ne` and `nb` of `ggml_tensor`, llama.cpp's log |
//! | TVM | elements | `elem_offset` | the printer of TVMScript, `BufferAttrs` |
//! | sizes and strides | elements | - | what cuDNN's frontend, Halide and RKNN print |
//!
//! Where a library prints more than the layout (a device, ndarray's order flags), the row lists that key, and
//! it is skipped. Every other key is an error. A text without a type has the type in front: `f32 shape=[2,
//! 3], strides=[3, 1]`.

use tensor_layout::checked::{self, BYTES, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{BlockType, DataType};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{AnyLayout, BufferTensorDesc, Error, IndexMap};

use super::Notation;
use super::form_rows::Field::{self, Axes, Extents, Offset, Only, Pitch, Sizes, Strides, Type};
use super::form_rows::Front::{Name, Of, Token, Until, Value};
use super::form_rows::{FORMS, Form};
use super::strided::{self, Signed, Strided};
use super::types::{self, element_type};
use crate::numbers::{python, signed, tuple};

pub(super) fn form(text: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.begins.iter().any(|beginning| text.starts_with(beginning)))
}

/// Writes a layout by the first row of the notation that can express it.
pub(super) fn write(notation: Notation, strided: &Strided) -> Result<String, Error> {
    let is_at_start = strided.desc.base_offset() == 0;
    let mut rows = FORMS.iter().filter(|form| form.notation == notation && !form.text.is_empty());
    let form = rows.find(|form| is_at_start || form.text.contains("offset"));
    form.map_or_else(|| Err(Error::not_expressible(notation.noun(), "it has no offset")), |form| form.write(strided))
}

pub(super) enum Described {
    One(Signed),
    Blocks(BlockTensorDesc),
}

/// The fields that have been read so far. Numbers that are checked later have their column.
#[derive(Default)]
struct Fields {
    is_numpy: bool,
    data_type: Option<DataType>,
    /// The type of ggml's blocks in place of a data type.
    block_type: Option<BlockType>,
    sizes: Option<Vec<u64>>,
    strides: Option<(usize, Vec<(usize, i128)>)>,
    offset: Option<(usize, i128)>,
    axes: Option<String>,
    pitch: Option<(usize, u64)>,
}

impl Fields {
    /// Reads the value of a field at the cursor, and returns whether the field was given before.
    fn read(&mut self, field: Field, cursor: &mut Cursor<'_>) -> Result<bool, Error> {
        let at = cursor.position();
        Ok(match field {
            Type => {
                let is_class = cursor.eat("<class ");
                let read = read_type(cursor, self.is_numpy)?;
                if is_class {
                    cursor.expect(">", "`>`")?;
                }
                match read {
                    (Some(data_type), _) => self.data_type.replace(data_type).is_some(),
                    (None, block_type) => core::mem::replace(&mut self.block_type, block_type).is_some(),
                }
            }
            Sizes => self.sizes.replace(read_list(cursor, |cursor| cursor.number("a size"))?).is_some(),
            Strides if cursor.eat("None") => false,
            Strides => {
                let strides = read_list(cursor, |cursor| Ok((cursor.position(), signed(cursor)?)))?;
                self.strides.replace((at, strides)).is_some()
            }
            Offset => self.offset.replace((at, signed(cursor)?)).is_some(),
            Extents => {
                let axes = read_list(cursor, |cursor| {
                    cursor.expect("[", "`[` and the minimum, extent and stride of an axis")?;
                    cursor.expect("0", "the minimum 0, because indices of a layout begin at 0")?;
                    cursor.expect(",", "`,` and an extent")?;
                    let size = cursor.number("an extent")?;
                    cursor.expect(",", "`,` and a stride")?;
                    let stride = (cursor.position(), signed(cursor)?);
                    cursor.expect("]", "`]`").map(|()| (size, stride))
                })?;
                let (sizes, strides) = axes.into_iter().rev().unzip();
                self.sizes = Some(sizes);
                self.strides.replace((at, strides)).is_some()
            }
            Axes => match cursor.word() {
                axes @ ("NHWC" | "NCHW" | "UNDEFINED") => self.axes.replace(axes.to_owned()).is_some(),
                _ => return Err(cursor.error_at(at, "NHWC, NCHW or UNDEFINED (rknn.NC1HWC2 names another)")),
            },
            Pitch => self.pitch.replace((at, cursor.number("the distance of rows")?)).is_some(),
            Only(value) => {
                cursor.expect(value, &format!("{value}, because any other value is not read")).map(|()| false)?
            }
        })
    }

    /// Computes the strides of a tensor whose rows are `w_stride` elements apart.
    fn pitched(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        let Some((at, pitch)) = self.pitch.filter(|&(_, pitch)| pitch != 0) else { return Ok(()) };
        let (sizes, axes) = (self.sizes.clone().unwrap_or_default(), self.axes.as_deref().unwrap_or_default());
        let width = axes.find('W').filter(|_| axes.len() == sizes.len());
        let Some((width, _)) = width.and_then(|width| Some((width, sizes.get(width).filter(|&&size| size <= pitch)?)))
        else {
            return Err(
                cursor.error_at(at, "0, or a distance of rows that is at least the size of the axis `W` of `fmt`")
            );
        };
        let (mut packed, mut strides) = (1_i128, vec![(at, 0); sizes.len()]);
        for (axis, (&size, stride)) in sizes.iter().zip(&mut strides).enumerate().rev() {
            stride.1 = packed;
            packed = packed.saturating_mul(i128::from(if axis == width { pitch } else { size }));
        }
        self.strides = Some((at, strides));
        Ok(())
    }
}

/// Reads a type as the library writes it: `"HALF"`, `INT8`, `f16`, `q4_0`. NumPy's short names count bytes,
/// `i8` is an int64 and `f16` a float128, and those of the others bits.
fn read_type(cursor: &mut Cursor<'_>, is_numpy: bool) -> Result<(Option<DataType>, Option<BlockType>), Error> {
    let at = cursor.position();
    let quote = cursor.eat("\"");
    let _ = cursor.eat("data_type.");
    let word = cursor.word();
    let read = (element_type(word), word.parse().ok());
    let is_whole = (!quote || cursor.eat("\"")) && read != (None, None) && cursor.peek() != Some(b'.');
    let end = cursor.position();
    if is_numpy || !is_whole {
        cursor.move_to(at);
        match types::read_dtype(cursor, is_numpy) {
            Ok(data_type) => return Ok((Some(data_type), None)),
            Err(error) if !is_whole || word == "f16" => return Err(error),
            Err(_) => cursor.move_to(end),
        }
    }
    Ok(read)
}

/// Reads a tuple, ggml's `{3, 2}`, PyTorch's `torch.Size([2, 3])`, NumPy's `array([2, 3], dtype=int32)` or
/// gguf-dump's `3, 2`.
fn read_list<'a, T>(
    cursor: &mut Cursor<'a>,
    number: impl Fn(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if cursor.eat("{") {
        return cursor.list("}", number);
    }
    let is_array = cursor.eat("array(");
    let is_size = is_array || cursor.eat("torch.Size(");
    let is_digit = |c: char| c.is_ascii_digit();
    let is_bare = cursor.rest().starts_with(is_digit);
    let mut numbers = tuple(cursor, &number)?;
    while is_bare && cursor.rest().strip_prefix(',').is_some_and(|rest| rest.trim_start().starts_with(is_digit)) {
        cursor.eat(",");
        numbers.push(number(cursor)?);
    }
    if is_size {
        let _ = is_array && cursor.eat(", dtype=int32");
        cursor.expect(")", "`)`")?;
    }
    Ok(numbers)
}

impl Form {
    pub(super) fn says_type(&self, text: &str) -> bool {
        let says = |&(key, field): &(&str, Field)| field == Type && text.contains(&format!("{key}{}", self.assign));
        self.front.iter().any(|front| matches!(front, Of(Type))) || self.keys.iter().any(says)
    }

    /// Whether strides and offsets count bytes. Elements below a byte then take a byte each.
    fn is_in_bytes(&self) -> bool {
        matches!(self.notation, Notation::Numpy | Notation::Ggml)
    }

    /// Reads the fields at the cursor, which is at the beginning of the form.
    pub(super) fn read(&self, cursor: &mut Cursor<'_>, data_type: Option<DataType>) -> Result<Described, Error> {
        let start = cursor.position();
        let mut found = Fields { data_type, is_numpy: self.notation == Notation::Numpy, ..Fields::default() };
        self.begins.iter().find(|beginning| !beginning.contains(['=', '\'', '"']) && cursor.eat(beginning));
        for part in self.front {
            let (at, rest) = (cursor.position(), cursor.rest());
            match part {
                Token(token) => cursor.expect(token, &format!("`{token}`"))?,
                Until(token) => match rest.find(token) {
                    Some(end) => cursor.move_to(at.plus(end).plus(token.len())),
                    None => return Err(cursor.error(&format!("`{}`", token.trim()))),
                },
                Value => skip_value(cursor),
                Name if matches!(cursor.peek(), Some(b'\'' | b'"')) => skip_value(cursor),
                Name => drop(cursor.word()),
                Of(Sizes | Strides) if !matches!(cursor.peek(), Some(b'(' | b'[' | b'{' | b'0'..=b'9')) => {}
                Of(Type) if self.notation == Notation::Tvm && cursor.peek() != Some(b'"') => {}
                Of(field) if found.read(*field, cursor)? => {
                    return Err(cursor.error_at(at, "a type that was not given before"));
                }
                Of(_) => {}
            }
            cursor.eat(",");
        }
        self.keys(cursor, &mut found)?;
        found.pitched(cursor)?;
        if let (Some(block_type), Some(mut sizes)) = (found.block_type, found.sizes.clone()) {
            sizes.reverse();
            return Ok(Described::Blocks(BlockTensorDesc::new(block_type, &sizes, None)?));
        }
        self.layout(cursor, start, found).map(Described::One)
    }

    /// Reads fields such as `shape=[2, 3], strides=[3, 1]`, in any order, and the closing token.
    fn keys(&self, cursor: &mut Cursor<'_>, found: &mut Fields) -> Result<(), Error> {
        let (assign, close) = (self.assign, self.close);
        let quote = assign.get(..1).filter(|quote| matches!(*quote, "'" | "\"")).unwrap_or_default();
        if self.keys.is_empty() {
            return cursor.expect(close, &format!("`{close}`"));
        }
        while if close.is_empty() { cursor.peek().is_some() } else { !cursor.eat(close) } {
            if !quote.is_empty() {
                cursor.expect(quote, &format!("`{quote}` and a key"))?;
            }
            let (at, rest) = (cursor.position(), cursor.rest());
            let skipped = self
                .skips
                .iter()
                .find(|key| rest.strip_prefix(**key).is_some_and(|rest| rest.trim_start().starts_with(assign)));
            if let Some(key) = skipped {
                cursor.move_to(at.plus(key.len()));
            }
            let key = skipped.copied().unwrap_or_else(|| cursor.word());
            if !key.is_empty() {
                cursor.expect(assign, &format!("`{assign}`"))?;
            }
            match (self.keys.iter().find(|(name, _)| *name == key), skipped) {
                (Some((_, field)), _) if found.read(*field, cursor)? => {
                    return Err(cursor.error_at(at, "a key that was not given before"));
                }
                (Some(_), _) => {}
                (None, Some(_)) => skip_value(cursor),
                (None, None) => {
                    let name = |(name, _): &(&str, Field)| format!("{quote}{name}{assign}");
                    let names: Vec<String> = self.keys.iter().map(name).collect();
                    let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
                    return Err(cursor.error_at(at, &format!("{} or {last}", others.join(", "))));
                }
            }
            if !cursor.eat(",") && !close.is_empty() {
                return cursor.expect(close, &format!("`,` or `{close}`"));
            }
        }
        Ok(())
    }

    /// Returns the layout of the fields, from the lowest address on, and leaves the cursor where it is.
    fn layout(&self, cursor: &mut Cursor<'_>, start: usize, found: Fields) -> Result<Signed, Error> {
        let end = cursor.position();
        let Some(mut sizes) = found.sizes else {
            let key = self.keys.iter().find(|(_, field)| *field == Sizes).map_or("sizes", |(key, _)| key);
            return Err(cursor.error_at(start, &format!("a layout with {key}{}", self.assign)));
        };
        let default = (self.notation == Notation::Tvm).then_some(DataType::F32);
        let Some(data_type) = found.data_type.or(default) else {
            return Err(cursor.error_at(start, "a type in front, as in `f32 shape=[2]`, or dtype="));
        };
        let bits = data_type.bits().next_multiple_of(8);
        let unit = if self.is_in_bytes() { i128::from(bits.div_euclid(8)) } else { 1 };
        let mut elements = |at: usize, number: i128, size: u64| match number.checked_rem(unit) {
            Some(0) => Ok(number.divided_by(unit)),
            // The strides of axes of size 1 and of empty tensors are unused, so any number is accepted.
            _ if size <= 1 => Ok(0),
            _ => Err(cursor.error_at(at, &format!("multiples of {unit} bytes, the size of an element"))),
        };
        let is_empty = sizes.contains(&0);
        let offset = found.offset.map(|(at, offset)| elements(at, offset, u64::MAX)).transpose()?;
        let mut strides: Option<Vec<i128>> = match found.strides {
            Some((at, strides)) if strides.len() != sizes.len() => {
                return Err(cursor.error_at(at, &format!("{} strides, one for each size", sizes.len())));
            }
            Some((_, strides)) => {
                let pairs = sizes.iter().zip(strides);
                let all = pairs.map(|(&size, (at, stride))| elements(at, stride, if is_empty { 0 } else { size }));
                Some(all.collect::<Result<_, _>>()?)
            }
            None => None,
        };
        if self.notation == Notation::Ggml {
            sizes.reverse();
            strides.iter_mut().for_each(|strides| strides.reverse());
        }
        cursor.move_to(end);
        self.check(data_type, sizes.len())?;
        let is_widened = self.is_in_bytes() && bits != data_type.bits();
        let stored = if is_widened { DataType::U8 } else { data_type };
        let offset = offset.filter(|&offset| offset != 0 || matches!(self.notation, Notation::Numpy | Notation::Tvm));
        let (desc, reversed) = strided::signed(stored, &sizes, strides.as_deref(), offset)?;
        Ok((if is_widened { in_whole_bytes(data_type, &desc)? } else { desc.into() }, reversed))
    }

    /// Refuses a type or a rank that the library does not have.
    fn check(&self, data_type: DataType, rank: usize) -> Result<(), Error> {
        let refuse = |reason: &'static str| Err(Error::not_expressible(self.notation.noun(), reason));
        match self.notation {
            Notation::Ggml if !(1..=4).contains(&rank) => refuse("ggml has 1 to 4 axes"),
            Notation::Numpy | Notation::Strides => Ok(()),
            _ if data_type.bits() < 8 => refuse("elements of less than a byte have no strides there"),
            _ => Ok(()),
        }
    }

    fn write(&self, strided: &Strided) -> Result<String, Error> {
        let Strided { data_type, desc } = strided;
        self.check(*data_type, desc.rank())?;
        let unit = if self.is_in_bytes() { u64::from(data_type.bits().div_ceil(8)) } else { 1 };
        let in_units = |elements: &u64| checked::mul(*elements, unit, BYTES);
        let (mut sizes, base) = (desc.sizes().to_vec(), in_units(&desc.base_offset())?);
        let mut strides = desc.strides().iter().map(in_units).collect::<Result<Vec<_>, _>>()?;
        if self.notation == Notation::Ggml {
            sizes.reverse();
            strides.reverse();
        }
        let mut text = self.text.to_owned();
        if text.contains("{dtype}") {
            text = text.replace("{dtype}", types::name(*data_type, self.notation)?);
        }
        let key = self.keys.iter().find(|(_, field)| *field == Offset).filter(|_| desc.is_part());
        let offset = key.map_or_else(String::new, |(key, _)| format!(", {key}={base}"));
        let values = [
            ("{type}", data_type.to_string()),
            ("{(sizes)}", python(&sizes)),
            ("{[sizes]}", format!("{sizes:?}")),
            ("{(strides)}", python(&strides)),
            ("{[strides]}", format!("{strides:?}")),
            ("{offset}", base.to_string()),
            ("{, offset=}", offset),
        ];
        Ok(values.iter().fold(text, |text, (name, value)| text.replace(name, value)))
    }
}

/// Skips a value up to the comma or the bracket that ends it: `device(type='cuda', index=0)`, `Cc (0x5)`.
pub(super) fn skip_value(cursor: &mut Cursor<'_>) {
    let (mut depth, mut quote, start, rest) = (0_i64, None, cursor.position(), cursor.rest());
    let is_end = |c: char| {
        let is_end = depth == 0 && quote.is_none() && matches!(c, ',' | ')' | ']' | '}' | '>');
        match c {
            '\'' | '"' if quote.is_none_or(|open| open == c) => quote = if quote.is_none() { Some(c) } else { None },
            '(' | '[' | '{' | '<' if quote.is_none() => depth = depth.plus(1),
            ')' | ']' | '}' | '>' if quote.is_none() => depth = depth.minus(1),
            _ => {}
        }
        is_end
    };
    cursor.move_to(start.plus(rest.find(is_end).unwrap_or(rest.len())));
}

/// Returns the layout of a type below a byte whose elements take the bytes of a descriptor. A descriptor
/// cannot store such an element in a whole byte, so the layout is an index map.
fn in_whole_bytes(data_type: DataType, bytes: &BufferTensorDesc) -> Result<AnyLayout, Error> {
    let digits = bytes.sizes().iter().zip(bytes.strides()).map(|(&size, &stride)| vec![(size, stride)]);
    let map = IndexMap::from_digits(data_type, bytes.data_type().bits(), &digits.collect::<Vec<_>>())?;
    let map = map.with_base(bytes.base_offset())?.with_physical_elements(bytes.span_elements())?;
    Ok(AnyLayout::Mapped(map.with_gap_owner(bytes.gap_owner())))
}

/// Reads the rest of ggml's print of a tensor of blocks: `ne=[64, 3] nb=[18, 36]` of `q4_0`.
pub(super) fn ggml_blocks(cursor: &mut Cursor<'_>, block_type: BlockType) -> Result<BlockTensorDesc, Error> {
    let mut sizes = tuple(cursor, |cursor| cursor.number("a size"))?;
    cursor.eat(",");
    cursor.expect("nb=", "`nb=`")?;
    let mut strides = tuple(cursor, |cursor| cursor.number("a stride in bytes"))?;
    sizes.reverse();
    strides.reverse();
    BlockTensorDesc::new(block_type, &sizes, Some(&strides))
}

/// Writes a tensor of blocks with ggml's own numbers, which [`ggml_blocks`] reads.
pub(crate) fn ggml_text_of_blocks(blocks: &BlockTensorDesc) -> Result<String, Error> {
    let refuse = |reason: &'static str| Err(Error::not_expressible(Notation::Ggml.noun(), reason));
    match blocks.sizes().len() {
        _ if blocks.bytes().is_part() => return refuse("ggml's print has no offset"),
        1..=4 => {}
        _ => return refuse("ggml has 1 to 4 axes"),
    }
    let [sizes, strides] =
        [blocks.sizes(), blocks.strides()].map(|numbers| numbers.iter().rev().copied().collect::<Vec<u64>>());
    Ok(format!("{} ne={sizes:?} nb={strides:?}", blocks.block_type()))
}

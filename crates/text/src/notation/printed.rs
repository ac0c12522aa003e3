//! Layouts as other libraries print them: PyTorch, JAX, MLIR, ndarray, candle, ggml and TVM.
//!
//! Most of these texts are sizes and strides under other names, and some leave out the type. The type, and
//! for JAX the sizes as well, are then written in front: `f32 shape=[2, 3], strides=[3, 1]`. Where a library
//! prints more than the layout (a device, a memory space, ndarray's order flags), that part is skipped.
//!
//! | notation | strides count | offset | sources |
//! |---|---|---|---|
//! | PyTorch | elements | `storage_offset` | what `torch.fx` graphs and `Tensor.size()` print |
//! | JAX | tiles, as XLA's | - | `jax.experimental.layout.Layout` |
//! | MLIR | elements | `offset:` | the built-in dialect's `memref` and `strided` |
//! | ndarray | elements | - | `Debug` of `ArrayBase` |
//! | candle | elements | `start_offset` | `Debug` of `Layout` |
//! | ggml | bytes, the innermost axis first | - | the fields `ne` and `nb` of `ggml_tensor` |
//! | TVM | blocks | - | `tvm.tir.layout` |

use tensor_layout::checked::{self, BYTES, Exact};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::tiled::{ArrayShape, Layout};
use tensor_layout::{AnyLayout, BufferTensorDesc, Error, IndexMap};

use super::numpy::{in_whole_bytes, read_tuple, read_type};
use super::onednn::ABSTRACT;
use super::strided::{Strided, list, tuple};
use super::view_step::signed;
use super::{Notation, onednn, unsupported};

/// A layout that was read, and the axes that run backwards: their strides are negative in the text.
pub(super) type Signed = (AnyLayout, Vec<usize>);

/// The beginnings of texts that no strides or tiles describe, and the reason.
const NO_LAYOUT: [(&str, &str); 6] = [
    ("S<", SWIZZLE),
    ("Sw<", SWIZZLE),
    ("Swizzle<", SWIZZLE),
    ("#blocked", TRITON),
    ("#ttg.blocked", TRITON),
    ("affine_map<", "an affine map may be any function: write its strides, `strided<[..]>`"),
];
const SWIZZLE: &str = "a swizzle combines bits of the offset by XOR, which strides and tiles cannot";
const TRITON: &str = "Triton's encoding divides a tensor among threads, and says nothing about memory";

/// The texts that are lists of fields: the beginning, the closing token, the names of sizes, strides, offset.
const FIELDS: [Fields; 9] = [
    (Notation::Numpy, "ndarray(", ")", ["shape", "strides", "offset"]),
    (Notation::Numpy, "np.ndarray(", ")", ["shape", "strides", "offset"]),
    (Notation::Numpy, "numpy.ndarray(", ")", ["shape", "strides", "offset"]),
    (Notation::Torch, "torch.Size(", "", ["", "stride", "storage_offset"]),
    (Notation::Torch, "(torch.Size(", ")", ["", "stride", "storage_offset"]),
    (Notation::Torch, "torch.empty_strided(", ")", ["size", "stride", ""]),
    (Notation::Candle, "Layout {", "}", ["shape", "stride", "start_offset"]),
    (Notation::Ndarray, "shape=", "", ["shape", "strides", ""]),
    (Notation::Ggml, "ne=", "", ["ne", "nb", ""]),
];
type Fields = (Notation, &'static str, &'static str, [&'static str; 3]);

/// Whether a text has a layout but no type, which must be written in front of it: `(8,2):(1,8)`,
/// `shape=[2, 3], strides=[3, 1]`.
///
/// ```
/// use tensor_layout_text::{Notated, lacks_type};
///
/// assert!(lacks_type("(8,2):(1,8)") && !lacks_type("f32(8,2):(1,8)"));
/// assert_eq!("f32 (8,2):(1,8)".parse::<Notated>()?.to_string(), "f32(8,2):(1,8)");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn lacks_type(text: &str) -> bool {
    let text = text.trim_start();
    let is_cute =
        text.starts_with('(') && text.trim_start_matches(['(', '_', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let fields = text.get(fields_start(text)..).unwrap_or(text);
    let in_text = FIELDS.iter().any(|(_, beginning, ..)| fields.starts_with(beginning)) && !text.contains("dtype");
    in_text || is_cute && text.contains(':') || text.starts_with("Layout(")
}

/// Returns where the fields of ndarray's text begin, after its elements: `[[1, 2]], shape=[1, 2]`.
fn fields_start(text: &str) -> usize {
    text.find("], shape=[").filter(|_| text.starts_with('[')).map_or(0, |end| end.plus("], ".len()))
}

/// Reads the layout of a text in one of these notations. `None` for a text in none of them.
pub(super) fn read(text: &str) -> Result<Option<(Notation, Signed)>, Error> {
    // Most texts are of the library's own notations, and are told apart by what follows their sizes.
    if let Some((_, after)) = text.split_once(']').filter(|(head, _)| !head.contains(['(', '=', '{', '<'])) {
        let after = after.trim_start();
        if after.is_empty() || after.starts_with('{') || after.starts_with(":[") {
            return Ok(None);
        }
    }
    let mut cursor = Cursor::new(text);
    let data_type = element_type(cursor.word());
    if data_type.is_none() {
        cursor.move_to(0);
    }
    let start = fields_start(cursor.rest()).plus(cursor.position());
    cursor.move_to(start);
    let rest = cursor.rest();
    refuse_without_layout(rest)?;
    let read = if let Some(row) = FIELDS.iter().find(|(_, beginning, ..)| rest.starts_with(beginning)) {
        (row.0, fields(&mut cursor, data_type, row)?)
    } else if cursor.eat("memref<") {
        (Notation::Mlir, memref(&mut cursor)?)
    } else if lacks_type(text) {
        let expected = "a type in front, as in `f32 (8,2):(1,8)` or `bf16[16,256] Layout(..)`";
        return Err(cursor.error_at(0, expected));
    } else {
        let Some(data_type) = data_type.filter(|_| cursor.eat("[")) else { return Ok(None) };
        let Ok(sizes) = cursor.list("]", |cursor| cursor.number("a size")) else { return Ok(None) };
        match cursor.peek() {
            Some(b'[') => {
                let strides = read_tuple(&mut cursor, signed)?;
                // A device such as `cuda:0` may follow, and says nothing about the layout.
                cursor.word();
                if cursor.eat(":") {
                    cursor.number("the number of a device")?;
                }
                let (desc, reversed) = strided(data_type, &sizes, Some(&strides), None)?;
                (Notation::Torch, (desc.into(), reversed))
            }
            Some(b'L') if cursor.eat("Layout(") => {
                (Notation::Jax, (jax(&mut cursor, data_type, &sizes)?.into(), Vec::new()))
            }
            Some(b':') => {
                cursor.eat(":");
                let start = cursor.position();
                let Some(onednn) = tvm_as_onednn(cursor.word()) else { return Ok(None) };
                let shape = onednn::read_tag(&mut Cursor::new(&onednn), data_type, &sizes).map_err(|_| {
                    cursor.error_at(start, "a layout of TVM with a letter for each size, such as NCHW4c")
                })?;
                (Notation::Tvm, (shape.into(), Vec::new()))
            }
            _ => return Ok(None),
        }
    };
    cursor.end("nothing more")?;
    Ok(Some(read))
}

fn no_layout(reason: String) -> Error {
    Error::not_expressible("list of strides or tiles", reason)
}

fn refuse_without_layout(text: &str) -> Result<(), Error> {
    match NO_LAYOUT.iter().find(|(beginning, _)| text.starts_with(beginning)) {
        Some((beginning, reason)) => {
            let name = text.split_inclusive('>').next().filter(|_| *reason == SWIZZLE).unwrap_or(beginning);
            Err(no_layout(format!("`{name}`: {reason}")))
        }
        None => Ok(()),
    }
}

/// Returns the type with this name in any of the libraries: PyTorch's truth values are `b8`, MLIR's `i1`.
fn element_type(name: &str) -> Option<DataType> {
    match name {
        "b8" | "i1" => Some(DataType::Pred),
        "si8" | "si16" | "si32" | "si64" | "ui8" | "ui16" | "ui32" | "ui64" => name.replacen('i', "", 1).parse().ok(),
        _ => name.parse().or_else(|_| name.to_ascii_lowercase().parse()).ok(),
    }
}

/// Returns the tensor of these sizes and of strides in elements, packed without strides, and the axes that
/// run backwards. `offset` is the place of index 0 of all axes. Without it the buffer begins at the lowest
/// address.
fn strided(
    data_type: DataType,
    sizes: &[u64],
    strides: Option<&[i128]>,
    offset: Option<i128>,
) -> Result<(BufferTensorDesc, Vec<usize>), Error> {
    let (desc, reversed, first) = match strides {
        Some(strides) => {
            let signed = BufferTensorDesc::from_signed(data_type, sizes, strides)?;
            (signed.desc.with_canonical_strides(), signed.reversed, signed.first)
        }
        None => (BufferTensorDesc::packed(data_type, sizes)?, Vec::new(), 0),
    };
    let Some(offset) = offset else { return Ok((desc, reversed)) };
    let lowest = offset.minus(i128::from(first));
    let base = u64::try_from(lowest).map_err(|_| {
        let bytes = lowest.unsigned_abs().saturating_mul(data_type.bits().into()).div_ceil(8);
        let counted = if bytes == 1 { "byte" } else { "bytes" };
        Error::not_expressible("layout", format!("an element would be stored {bytes} {counted} before its buffer"))
    })?;
    Ok((desc.with_base_offset(base)?, reversed))
}

/// Reads fields such as `shape=[2, 3], strides=[3, 1]`, in any order. Fields of no meaning for the layout are
/// skipped, except by NumPy's text, which has none.
fn fields(
    cursor: &mut Cursor<'_>,
    mut data_type: Option<DataType>,
    &(notation, beginning, close, [sizes_key, strides_key, offset_key]): &Fields,
) -> Result<Signed, Error> {
    let start = cursor.position();
    let (mut sizes, mut strides, mut offset) = (None, None, None);
    let size = |cursor: &mut Cursor<'_>| cursor.number("a size");
    if !beginning.ends_with('=') {
        cursor.eat(beginning);
    }
    if notation == Notation::Torch {
        sizes = Some(read_tuple(cursor, size)?);
        if beginning.ends_with("Size(") {
            cursor.expect(")", "`)`")?;
        }
        cursor.eat(",");
        if cursor.peek() == Some(b'(') {
            strides = Some((cursor.position(), read_tuple(cursor, signed)?));
            cursor.eat(",");
        }
    }
    while if close.is_empty() { cursor.peek().is_some() } else { !cursor.eat(close) } {
        let at = cursor.position();
        let mut key = cursor.word();
        if matches!(key, "const" | "dynamic") {
            key = cursor.word();
        }
        let is_field = cursor.eat("=") || cursor.eat(":");
        let value = cursor.position();
        let is_skipped = notation != Notation::Numpy && !matches!(cursor.peek(), Some(b'[' | b'('));
        let twice = match key {
            _ if !is_field && !key.is_empty() => return Err(cursor.error("`=`")),
            "dtype" => data_type.replace(read_type(cursor)?).is_some(),
            _ if is_field && key == sizes_key => sizes.replace(read_tuple(cursor, size)?).is_some(),
            _ if is_field && key == strides_key => strides.replace((value, read_tuple(cursor, signed)?)).is_some(),
            _ if is_field && key == offset_key => offset.replace((value, signed(cursor)?)).is_some(),
            _ if is_field && is_skipped => {
                // Flags of ndarray end in a number in parentheses: `layout=Cc (0x5)`.
                let (rest, ends) = (cursor.rest(), if close.is_empty() { &[','][..] } else { &[',', ')', '}'] });
                cursor.move_to(value.plus(rest.find(ends).unwrap_or(rest.len())));
                false
            }
            _ => return Err(cursor.error_at(at, &format!("{sizes_key}=, dtype=, {strides_key}= or {offset_key}="))),
        };
        if twice {
            return Err(cursor.error_at(at, "a key that was not given before"));
        }
        if !cursor.eat(",") && !close.is_empty() {
            cursor.expect(close, &format!("`,` or `{close}`"))?;
            break;
        }
    }
    let (end, mut missing) = (cursor.position(), |what: &str| cursor.error_at(start, what));
    let mut sizes: Vec<u64> = sizes.ok_or_else(|| missing(&format!("a layout with {sizes_key}=")))?;
    let data_type = data_type.ok_or_else(|| missing("a type in front, as in `f32 shape=[2]`, or dtype="))?;
    // NumPy stores an element of a type below a byte in a whole byte.
    let bits = data_type.bits().next_multiple_of(8);
    let is_in_bytes = matches!(notation, Notation::Numpy | Notation::Ggml);
    let unit = if is_in_bytes { i128::from(bits.div_euclid(8)) } else { 1 };
    let mut elements = |at: usize, number: i128| match number.checked_rem(unit) {
        Some(0) => Ok(number.divided_by(unit)),
        _ => Err(cursor.error_at(at, &format!("multiples of {unit} bytes, the size of an element"))),
    };
    let offset = offset.map(|(at, offset)| elements(at, offset)).transpose()?;
    let mut strides: Option<Vec<i128>> = match strides {
        None => None,
        Some((at, strides)) if strides.len() != sizes.len() => {
            return Err(cursor.error_at(at, &format!("{} strides, one for each size", sizes.len())));
        }
        Some((at, strides)) => {
            // The strides of axes of size 1 and of empty tensors are unused, so any number is accepted.
            let is_empty = sizes.contains(&0);
            let stride = |(&size, stride): (&u64, i128)| match size {
                0 | 1 => Ok(stride.divided_by(unit)),
                _ if is_empty => Ok(stride.divided_by(unit)),
                _ => elements(at, stride),
            };
            Some(sizes.iter().zip(strides).map(stride).collect::<Result<_, _>>()?)
        }
    };
    if notation == Notation::Ggml {
        sizes.reverse();
        strides.iter_mut().for_each(|strides| strides.reverse());
    }
    cursor.move_to(end);
    let is_widened = is_in_bytes && bits != data_type.bits();
    let stored = if is_widened { DataType::U8 } else { data_type };
    let offset = offset.filter(|&offset| offset != 0 || notation == Notation::Numpy);
    let (desc, reversed) = strided(stored, &sizes, strides.as_deref(), offset)?;
    Ok((if is_widened { in_whole_bytes(data_type, &desc)? } else { desc.into() }, reversed))
}

/// Returns the text `q4_0[3, 64]:[36, 18]` of a tensor of blocks that ggml prints as `q4_0 ne=[64, 3] nb=[18,
/// 36]`. `None` for another text.
pub(super) fn ggml_blocks(text: &str) -> Result<Option<String>, Error> {
    let mut cursor = Cursor::new(text);
    let block_type = cursor.word();
    if !cursor.eat("ne=") {
        return Ok(None);
    }
    let mut sizes = read_tuple(&mut cursor, |cursor| cursor.number("a size"))?;
    cursor.eat(",");
    cursor.expect("nb=", "`nb=`")?;
    let mut strides = read_tuple(&mut cursor, |cursor| cursor.number("a stride in bytes"))?;
    cursor.end("nothing more")?;
    sizes.reverse();
    strides.reverse();
    Ok(Some(format!("{block_type}{sizes:?}:{strides:?}")))
}

/// Reads the rest of `memref<4x6xf32, strided<[10, 1], offset: 3>, 1>`. The memory space at the end is
/// skipped.
fn memref(cursor: &mut Cursor<'_>) -> Result<Signed, Error> {
    const STATIC: &str = "a number (`?` is known when the program runs)";
    let mut sizes = Vec::new();
    while cursor.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'?') {
        sizes.push(cursor.number(STATIC)?);
        cursor.expect("x", "`x` after a size")?;
    }
    let at = cursor.position();
    let mut name = cursor.word().to_owned();
    if name == "complex" && cursor.eat("<") {
        name = if cursor.word() == "f32" { "c64" } else { "c128" }.to_owned();
        cursor.expect(">", "`>`")?;
    }
    let data_type = element_type(&name).filter(|data_type| data_type.bits() >= 8);
    let data_type = data_type.ok_or_else(|| {
        cursor.error_at(
            at,
            "a type of whole bytes such as f32 (how smaller ones and `index` are stored is the target's choice)",
        )
    })?;
    let (mut strides, mut offset) = (None, None);
    while cursor.eat(",") {
        if cursor.eat("strided<") {
            cursor.expect("[", "`[` and the strides")?;
            let number = |cursor: &mut Cursor<'_>| {
                if cursor.peek() == Some(b'?') { Err(cursor.error(STATIC)) } else { signed(cursor) }
            };
            strides = Some(cursor.list("]", number)?);
            if cursor.eat(",") {
                cursor.expect("offset", "`offset:`")?;
                cursor.expect(":", "`:`")?;
                offset = Some(number(cursor)?);
            }
            cursor.expect(">", "`>`")?;
            continue;
        }
        refuse_without_layout(cursor.rest())?;
        let (mut depth, start, rest) = (0_u64, cursor.position(), cursor.rest());
        let end = rest.find(|c| match c {
            '<' => {
                depth = depth.plus(1);
                false
            }
            '>' if depth > 0 => {
                depth = depth.saturating_sub(1);
                false
            }
            c => depth == 0 && (c == ',' || c == '>'),
        });
        cursor.move_to(start.plus(end.unwrap_or(rest.len())));
    }
    cursor.expect(">", "`,` or `>`")?;
    let (desc, reversed) = strided(data_type, &sizes, strides.as_deref(), offset.filter(|&offset| offset != 0))?;
    Ok((desc.into(), reversed))
}

/// Reads the rest of `Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)),
/// sub_byte_element_size_in_bits=0)`, as the text that XLA has for the same layout.
fn jax(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<ArrayShape, Error> {
    cursor.expect("major_to_minor=", "`major_to_minor=`")?;
    let mut order = read_tuple(cursor, |cursor| cursor.number("a dimension"))?;
    order.reverse();
    let (mut tiles, mut bits) = (Vec::new(), 0);
    if cursor.eat(",") && cursor.eat("tiling=") && !cursor.eat("None") {
        tiles = read_tuple(cursor, |cursor| read_tuple(cursor, |cursor| cursor.number("the size of a tile")))?;
    }
    if cursor.eat(",") && cursor.eat("sub_byte_element_size_in_bits=") {
        bits = cursor.number("a number of bits")?;
    }
    cursor.expect(")", "tiling=, sub_byte_element_size_in_bits= or `)`")?;
    let tiles: String = tiles.iter().map(|tile| list(tile).replace('[', "(").replace(']', ")")).collect();
    let tiles = if tiles.is_empty() { tiles } else { format!("T{tiles}") };
    let bits = if bits == 0 { String::new() } else { format!("E({bits})") };
    let colon = if tiles.is_empty() && bits.is_empty() { "" } else { ":" };
    let order = list(&order);
    format!("{}{{{}{colon}{tiles}{bits}}}", super::type_and_sizes(data_type, sizes), order.trim_matches(['[', ']']))
        .parse()
}

/// Returns oneDNN's tag for a layout of TVM, which writes every axis with a capital letter: `NCHW4c` is
/// `nChw4c`. `None` for a tag that is oneDNN's too, and for a text that is no layout of TVM.
fn tvm_as_onednn(tag: &str) -> Option<String> {
    let (axes, blocks) = tag.split_at(tag.find(|c: char| c.is_ascii_digit())?);
    let is_blocked = |axis: char| blocks.contains(axis.to_ascii_lowercase());
    let is_tvm = axes.chars().all(|axis| axis.is_ascii_uppercase()) && !axes.chars().all(is_blocked);
    let lower = |axis: char| if is_blocked(axis) { axis } else { axis.to_ascii_lowercase() };
    is_tvm.then(|| axes.chars().map(lower).collect::<String>() + blocks)
}

/// Returns the text of a strided layout in one of the notations that are sizes and strides.
pub(super) fn text(notation: Notation, strided: &Strided) -> Result<String, Error> {
    let Strided { data_type, sizes, strides, base, .. } = strided;
    let (sizes, strides) = (&sizes[..], &strides[..]);
    let refuse = |reason: String| Err(Error::not_expressible(notation.title(), reason));
    if *base != 0 && !matches!(notation, Notation::Mlir | Notation::Candle | Notation::Torch) {
        return refuse(format!("it begins {base} elements into its buffer, and this text has no offset"));
    }
    if data_type.bits() < 8 {
        return refuse("elements of less than a byte have no strides there".into());
    }
    Ok(match notation {
        Notation::Torch => {
            let name = data_type.name_in(Naming::Numpy).filter(|_| !NOT_IN_TORCH.contains(data_type));
            let name = name.ok_or_else(|| unsupported(*data_type, "PyTorch"))?;
            match base {
                0 => format!("torch.empty_strided({}, {}, dtype=torch.{name})", tuple(sizes), tuple(strides)),
                _ => format!("{data_type} torch.Size({sizes:?}) stride={} storage_offset={base}", tuple(strides)),
            }
        }
        Notation::Ndarray => format!("{data_type} shape={sizes:?}, strides={strides:?}"),
        Notation::Candle => {
            format!("{data_type} Layout {{ shape: {sizes:?}, stride: {strides:?}, start_offset: {base} }}")
        }
        Notation::Ggml if !(1..=4).contains(&sizes.len()) => return refuse("ggml has 1 to 4 axes".into()),
        Notation::Ggml => {
            let bytes = u64::from(data_type.bits().div_euclid(8));
            let bytes = strides.iter().rev().map(|&stride| checked::mul(stride, bytes, BYTES));
            let sizes: Vec<&u64> = sizes.iter().rev().collect();
            format!("{data_type} ne={sizes:?} nb={:?}", bytes.collect::<Result<Vec<_>, _>>()?)
        }
        _ => {
            let sizes_text: String = sizes.iter().map(|size| format!("{size}x")).collect();
            let packed = BufferTensorDesc::packed(*data_type, sizes)?.with_canonical_strides();
            let layout = match (packed.strides() == strides, base) {
                (true, 0) => String::new(),
                (_, 0) => format!(", strided<{strides:?}>"),
                _ => format!(", strided<{strides:?}, offset: {base}>"),
            };
            format!("memref<{sizes_text}{}{layout}>", mlir_name(*data_type))
        }
    })
}

/// The types of a byte that NumPy's package `ml_dtypes` has and PyTorch has not.
const NOT_IN_TORCH: [DataType; 3] = [DataType::F8E3M4, DataType::F8E4M3, DataType::F8E4M3B11FNUZ];

fn mlir_name(data_type: DataType) -> String {
    let name = data_type.to_string();
    match (name.split_at(1), data_type) {
        (_, DataType::Pred) => "i1".into(),
        (_, DataType::C64) => "complex<f32>".into(),
        (_, DataType::C128) => "complex<f64>".into(),
        (("s", bits), _) => format!("i{bits}"),
        (("u", bits), _) => format!("ui{bits}"),
        (("f", rest), _) => format!("f{}", rest.to_ascii_uppercase()),
        _ => name,
    }
}

/// Returns JAX's text of a layout that XLA has.
pub(super) fn jax_text(shape: &ArrayShape) -> Result<String, Error> {
    let (layout, sizes) = (shape.layout(), super::type_and_sizes(shape.data_type(), shape.sizes()));
    let numbers =
        |numbers: Vec<String>| format!("({}{})", numbers.join(", "), if numbers.len() == 1 { "," } else { "" });
    let bits = layout.element_bits.filter(|&bits| bits != shape.data_type().bits().next_multiple_of(8)).unwrap_or(0);
    let mut plain = Layout::new(layout.minor_to_major())?.with_tiles(layout.tiles());
    plain.element_bits = layout.element_bits;
    let tiles: Vec<String> = layout.tiles().iter().map(ToString::to_string).collect();
    if *layout != plain || tiles.iter().any(|tile| tile.contains('*')) {
        let reason = "JAX has the order of the dimensions, tiles without `*` and the bits of an element alone";
        return Err(Error::not_expressible(Notation::Jax.title(), reason));
    }
    let tile = |tile: &String| numbers(tile.trim_matches(['(', ')']).split(',').map(str::to_owned).collect());
    let tiles = tiles.iter().map(tile).collect();
    let order = layout.minor_to_major().iter().rev().map(usize::to_string).collect();
    Ok(format!(
        "{sizes} Layout(major_to_minor={}, tiling={}, sub_byte_element_size_in_bits={bits})",
        numbers(order),
        numbers(tiles)
    ))
}

/// Returns TVM's text of a layout that has a tag of oneDNN. TVM has at most one block of each axis.
pub(super) fn tvm_text(map: &IndexMap) -> Result<String, Error> {
    let refuse = |reason: &'static str| Err(Error::not_expressible(Notation::Tvm.title(), reason));
    let tag = onednn::tag(map)?;
    let blocks = tag.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = match map.sizes().len() {
        4 => "NCHW",
        5 => "NCDHW",
        _ => ABSTRACT,
    };
    let letters = letters.to_ascii_uppercase();
    if blocks.char_indices().any(|(at, axis)| axis.is_ascii_alphabetic() && blocks.find(axis) != Some(at)) {
        return refuse("an axis has blocks in blocks, and TVM names each axis once");
    }
    if map.physical_elements() != map.element_count() {
        return refuse("its last block is not full");
    }
    let axis = |letter: char| letters.chars().nth(ABSTRACT.find(letter.to_ascii_lowercase())?);
    let outer = tag.chars().take_while(char::is_ascii_alphabetic).filter_map(axis);
    let inner = blocks
        .chars()
        .filter_map(|c| if c.is_ascii_digit() { Some(c) } else { axis(c).map(|axis| axis.to_ascii_lowercase()) });
    Ok(format!("{}:{}", super::type_and_sizes(map.data_type(), map.sizes()), outer.chain(inner).collect::<String>()))
}

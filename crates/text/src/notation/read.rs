//! The reader of layouts: the word at the front decides which notation a text has, and the rest is handed on
//! with the cursor.

use tensor_layout::checked::{Dims, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{BlockType, DataType, Naming};
use tensor_layout::plan::{
    read_blocks_after_type, read_extents, read_layout_after_sizes, read_strides_or_order, read_type,
};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::tiled::{Extent, Shape};
use tensor_layout::{AnyLayout, AxisOrder, BufferTensorDesc, Error, ToIndexMap};

use super::forms::Described;
use super::no_layout::refuse_without_layout;
use super::types::{self, element_type};
use super::{
    Notation, composed, cute, directml, forms, jax, memref, onednn, strided, to_notation, triton, type_and_sizes,
};
use crate::kv::KvCache;
use crate::named::NamedLayout;
use crate::numbers::{list, signed, tuple};
use crate::swizzle;

pub(crate) enum Read {
    /// One layout, from the lowest address on, and the axes that run backwards. `text` is kept for an axis
    /// order and a tag, because one layout may have several of them.
    One {
        layout: AnyLayout,
        notation: Notation,
        text: Option<String>,
        reversed: Vec<usize>,
    },
    Blocks(BlockTensorDesc),
    Named(NamedLayout),
    Cache(KvCache),
    /// A tuple, a token, or an array without a bound for every size.
    Shape(Shape),
}

impl Read {
    fn one(layout: impl Into<AnyLayout>, notation: Notation) -> Read {
        Read::One { layout: layout.into(), notation, text: None, reversed: Vec::new() }
    }

    fn signed((layout, reversed): (AnyLayout, Vec<usize>), notation: Notation) -> Read {
        Read::One { layout, notation, text: None, reversed }
    }
}

/// Reads a text that is one layout and nothing more.
pub(crate) fn read_whole(cursor: &mut Cursor<'_>) -> Result<Read, Error> {
    let (mut read, after) = read(cursor)?;
    if cursor.eat("+") {
        read = moved(read, cursor)?;
    }
    if cursor.eat("xor<") {
        read = swizzled(read, cursor)?;
    }
    let end = cursor.position();
    let _ = cursor.eat(",") || cursor.eat(";");
    let second = cursor.position();
    if cursor.peek().is_some() && self::read(cursor).is_ok() {
        return Err(cursor.error_at(second, "nothing more, because a text is one value and the second begins here"));
    }
    cursor.move_to(end);
    cursor.end(after)?;
    Ok(read)
}

/// Reads what begins with the type and sizes of one array: a layout of XLA, strides, an axis order or a tag.
pub(crate) fn read_array(cursor: &mut Cursor<'_>) -> Result<Read, Error> {
    let data_type = read_type(cursor)?;
    let extents = read_extents(cursor)?;
    let (read, after) = after_sizes(cursor, data_type, extents)?;
    cursor.end(after)?;
    Ok(read)
}

/// Reads the offset behind `+`, in elements, at which a layout begins in its buffer.
fn moved(read: Read, cursor: &mut Cursor<'_>) -> Result<Read, Error> {
    let start = cursor.position();
    let base = cursor.number("the offset of the first element, in elements")?;
    let (layout, notation, text, reversed) = match read {
        Read::One { layout, notation, text, reversed } => (layout, notation, text, reversed),
        Read::Named(named) => (named.to_index_map()?.into(), Notation::Named, Some(named.to_string()), Vec::new()),
        _ => return Err(cursor.error_at(start, "an offset behind the layout of one array alone")),
    };
    let map = layout.to_index_map()?;
    if map.base() > 0 || layout.as_descriptor().is_some_and(BufferTensorDesc::is_part) {
        return Err(cursor.error_at(start, "one offset"));
    }
    let text = text.map_or_else(|| to_notation(layout, notation), Ok)?;
    Ok(Read::One { layout: map.with_base(base)?.into(), notation, text: Some(format!("{text}+{base}")), reversed })
}

/// Reads the suffix of a swizzle behind a layout.
fn swizzled(read: Read, cursor: &mut Cursor<'_>) -> Result<Read, Error> {
    let start = cursor.position();
    let (layout, notation) = match read {
        Read::One { layout, notation, reversed, .. } if reversed.is_empty() => (layout, notation),
        Read::Named(named) => (named.to_index_map()?.into(), Notation::Named),
        _ => return Err(cursor.error_at(start, "a layout of one array that runs forwards in front of `xor<`")),
    };
    let map = layout.to_index_map()?;
    let (swizzle, bits) = (swizzle::read(cursor, map.element_bits())?, map.element_bits());
    let own = if notation == Notation::Named { None } else { to_notation(layout, notation).ok() };
    let swizzled = map.with_swizzle(&swizzle)?;
    let text = own.map(|own| own + &swizzle::suffix(swizzled.swizzle(), bits));
    Ok(Read::One { layout: swizzled.into(), notation, text, reversed: Vec::new() })
}

const NOTHING: &str = "nothing more";

/// Reads the layout at the cursor, and returns it with what may follow it, for the error of a text that goes
/// on.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<(Read, &'static str), Error> {
    refuse_without_layout(cursor.rest())?;
    skip_name(cursor);
    // Graphs of PyTorch print the text in quotes, with strides if they are asked for, and the call that makes
    // the value behind it.
    if cursor.eat("\"") {
        let (read, _) = unquoted(cursor)?;
        let is_cut = cursor.text().get(..cursor.position()).is_some_and(|text| text.ends_with(']'));
        if is_cut && matches!(read, Read::One { notation: Notation::Xla, .. }) {
            return Err(cursor.error("`[` and the strides, as `print_readable(include_stride=True)` prints them"));
        }
        cursor.expect("\"", "`\"`")?;
        if cursor.eat("= torch.ops.") {
            cursor.move_to(cursor.text().len());
        }
        return Ok((read, NOTHING));
    }
    unquoted(cursor)
}

/// Skips the name of a value, as programs print it: `arg0_1: `, `buf0 = `, `%arg0: `, `buf0.layout = `, and
/// `"lm_head.weight":` in front of the `{` of a safetensors header; `8:  1536 ` in front of the `|` of a
/// line of gguf-dump.
fn skip_name(cursor: &mut Cursor<'_>) {
    let (start, rest) = (cursor.position(), cursor.rest());
    let numbers = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | ' '));
    if numbers.starts_with('|') {
        return cursor.move_to(start.plus(rest.len()).minus(numbers.len()));
    }
    let end = match rest.strip_prefix('"').and_then(|rest| rest.find("\":")) {
        Some(end) => end.plus(2),
        None => rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '%')).unwrap_or(0),
    };
    let after = rest.get(end..).unwrap_or_default();
    let sign = [": ", " = ", ":{"].into_iter().find(|sign| end > 0 && after.starts_with(sign));
    if let Some(sign) = sign.filter(|_| forms::form(rest).is_none()) {
        cursor.move_to(start.plus(end).plus(sign.trim_end_matches('{').len()));
    }
}

fn unquoted(cursor: &mut Cursor<'_>) -> Result<(Read, &'static str), Error> {
    let (start, rest, word) = (cursor.position(), cursor.rest(), cursor.word());
    if let Some(data_type) = element_type(word).filter(|_| cursor.peek() != Some(b':')) {
        return typed(cursor, word, data_type);
    }
    cursor.move_to(start);
    if rest.starts_with("kv:") {
        return Ok((Read::Cache(KvCache::read(cursor)?), NOTHING));
    }
    if let Some(read) = without_type(cursor, None)? {
        return Ok((read, NOTHING));
    }
    if let Some(verbose) = onednn::read_verbose(cursor)? {
        let end = cursor.position();
        cursor.move_to(verbose.tag);
        let mut read = tag(cursor, verbose.data_type, &verbose.sizes)?;
        if let Some(strides) = verbose.strides {
            let desc = BufferTensorDesc::new(verbose.data_type, &verbose.sizes, Some(&strides))?;
            read = Read::one(desc, Notation::Strides);
        }
        cursor.move_to(end);
        return Ok((read, NOTHING));
    }
    if lacks_type(rest) {
        return Err(cursor.error("a type in front, as in `f32 (8,2):(1,8)` or `bf16[16,256] Layout(..)`"));
    }
    // A name is followed by `:`, and a type is followed by sizes, even if one bracket is missing.
    let name = rest.split(['[', ']', '{', '}', '(', ')']).next().unwrap_or_default();
    // CuTe's layout of one dimension has a number there: `f32 8:2`.
    let is_cute = |name: &str| name.contains(' ') && name.ends_with(|c: char| c.is_ascii_digit());
    if let Some((name, _)) = name.split_once(':').filter(|(name, _)| !is_cute(name)) {
        ask_the_driver(name)?;
        return Ok((Read::Named(NamedLayout::read(cursor)?), NOTHING));
    }
    let word = cursor.word();
    if rest.starts_with('(') || matches!(word, "token" | "opaque") || word == "b" && cursor.peek() == Some(b'(') {
        cursor.move_to(start);
        return Ok((Read::Shape(Shape::read(cursor)?), NOTHING));
    }
    let data_type = match word.parse::<BlockType>() {
        Ok(block_type) => {
            let blocks = if cursor.eat("ne=") {
                forms::ggml_blocks(cursor, block_type)?
            } else {
                if cursor.rest().starts_with("[ ") {
                    refuse_sizes_of_ggml(cursor, word)?;
                }
                read_blocks_after_type(cursor, block_type)?
            };
            return Ok((Read::Blocks(blocks), "nothing more, or `:` and the strides in bytes"));
        }
        Err(_) => {
            ask_the_driver(word)?;
            cursor.move_to(start);
            read_type(cursor)?
        }
    };
    typed(cursor, word, data_type)
}

/// Reads what follows a type.
fn typed(cursor: &mut Cursor<'_>, word: &str, data_type: DataType) -> Result<(Read, &'static str), Error> {
    let (start, rest) = (cursor.position(), cursor.rest());
    if rest.starts_with('[') {
        // An array of ndarray is printed with its values in front.
        let is_array = |end: &usize| !rest.get(..*end).unwrap_or_default().contains('(');
        let Some(end) = rest.find("], shape=[").filter(is_array) else {
            if rest.starts_with("[ ") {
                refuse_sizes_of_ggml(cursor, word)?;
            }
            return after_type(cursor, word, data_type);
        };
        cursor.move_to(start.plus(end).plus("], ".len()));
    }
    if let Some(map) = composed::read(cursor, data_type)? {
        return Ok((Read::one(map, Notation::CuTe), NOTHING));
    }
    if let Some((map, reversed)) = composed::read_tensor_layouts(cursor, data_type)? {
        return Ok((Read::signed((map.into(), reversed), Notation::CuTe), NOTHING));
    }
    if let Some(read) = without_type(cursor, Some(data_type))? {
        return Ok((read, NOTHING));
    }
    if cursor.peek().is_some_and(|byte| byte == b'(' || byte.is_ascii_digit()) {
        let (map, reversed) = cute::read(cursor, data_type)?;
        return Ok((Read::signed((map.into(), reversed), Notation::CuTe), NOTHING));
    }
    after_type(cursor, word, data_type)
}

/// Reads a form that has its type inside or in front of it. `None` if the text is no form.
fn without_type(cursor: &mut Cursor<'_>, data_type: Option<DataType>) -> Result<Option<Read>, Error> {
    let (start, rest) = (cursor.position(), cursor.rest());
    refuse_without_layout(rest)?;
    if data_type.is_none()
        && let Some((map, reversed)) = composed::read_tensor(cursor)?
    {
        return Ok(Some(Read::signed((map.into(), reversed), Notation::CuTe)));
    }
    Ok(Some(if let Some(form) = forms::form(rest) {
        match form.read(cursor, data_type)? {
            Described::One(layout) => Read::signed(layout, form.notation),
            Described::Blocks(blocks) => Read::Blocks(blocks),
        }
    } else if cursor.eat("memref<") {
        Read::signed(memref::read(cursor)?, Notation::Mlir)
    } else if !rest.starts_with("tensor<ptr<") && cursor.eat("tensor<") {
        Read::signed(memref::read_tensor(cursor)?, Notation::Mlir)
    } else if data_type.is_none() && cursor.eat("!ttg.memdesc<") {
        Read::one(triton::read_memdesc(cursor)?, Notation::Strides)
    } else if data_type.is_none() && cursor.eat("{") {
        Read::one(directml::read(cursor, start)?, Notation::Directml)
    } else {
        return Ok(None);
    }))
}

/// Reads sizes, and the layout that follows them.
fn after_type(cursor: &mut Cursor<'_>, word: &str, data_type: DataType) -> Result<(Read, &'static str), Error> {
    let extents = read_extents(cursor)?;
    refuse_without_layout(cursor.rest())?;
    let read = match (cursor.peek(), fixed(&extents)) {
        // Behind a long name, `float32[2][3]`, spox prints each size in brackets.
        (Some(b'['), Some(sizes)) if DataType::from_name_in(Naming::Numpy, word).is_none() => {
            let strides = tuple(cursor, signed)?;
            skip_device(cursor)?;
            let (desc, reversed) = strided::signed(data_type, &sizes, Some(&strides), None)?;
            // A type that PyTorch lacks has no text of PyTorch's.
            let notation = types::name(data_type, Notation::Torch).map_or(Notation::Strides, |_| Notation::Torch);
            Read::signed((desc.into(), reversed), notation)
        }
        (next, Some(sizes)) if next == Some(b'#') || triton::is_shared(cursor.rest()) => {
            Read::one(triton::read(cursor, data_type, &sizes)?, Notation::Strides)
        }
        (Some(b'L' | b'F' | b'D'), Some(sizes)) if jax::is_layout(cursor.rest()) => {
            Read::one(jax::read(cursor, data_type, &sizes)?, Notation::Jax)
        }
        _ => return after_sizes(cursor, data_type, extents),
    };
    Ok((read, NOTHING))
}

/// Returns the sizes if all are numbers.
fn fixed(extents: &[Extent]) -> Option<Dims> {
    let size = |extent: &Extent| match extent {
        Extent::Static(size) => Some(*size),
        _ => None,
    };
    extents.iter().map(size).collect()
}

/// Reads a layout of XLA, strides, an axis order or a tag behind the sizes.
fn after_sizes(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
    extents: Vec<Extent>,
) -> Result<(Read, &'static str), Error> {
    if let (Some(b':'), Some(sizes)) = (cursor.peek(), fixed(&extents)) {
        cursor.eat(":");
        if cursor.peek() != Some(b'[') {
            return Ok((tag(cursor, data_type, &sizes)?, NOTHING));
        }
        let desc = read_strides_or_order(cursor, data_type, &sizes)?;
        return Ok((Read::one(desc, Notation::Strides), "nothing more, or `+` and a base offset in elements"));
    }
    let next = cursor.peek();
    let read = match read_layout_after_sizes(cursor, data_type, extents)? {
        Shape::Array(array) => Read::one(array, Notation::Xla),
        other => Read::Shape(other),
    };
    const AFTER: &str = "`{` and an XLA layout, `:` and strides or an axis order, or nothing more";
    Ok((read, if next == Some(b'{') { NOTHING } else { AFTER }))
}

/// Reads an axis order, a tag of oneDNN or a layout of TVM.
fn tag(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<Read, Error> {
    let start = cursor.position();
    let word = cursor.word();
    ask_the_driver(word)?;
    let order = word.parse::<AxisOrder>();
    let has_blocks = word.contains(|c: char| c.is_ascii_digit());
    let head = type_and_sizes(data_type, sizes);
    if let Some(tag) = onednn::tag_of_tvm(word) {
        let shape = onednn::read_tag(&mut Cursor::new(&tag), data_type, sizes);
        let expected = "a layout of TVM with a letter for each size, such as NCHW4c";
        let layout = shape.map_err(|_| cursor.error_at(start, expected))?.into();
        let text = Some(format!("{head}:{word}"));
        return Ok(Read::One { layout, notation: Notation::Tvm, text, reversed: Vec::new() });
    }
    cursor.move_to(start);
    let (layout, notation, spelling) = match order {
        Ok(order) if !has_blocks => {
            let desc = read_strides_or_order(cursor, data_type, sizes)?;
            (AnyLayout::from(desc), Notation::AxisOrder, order.to_string())
        }
        order => {
            let shape = onednn::read_tag(cursor, data_type, sizes).map_err(|error| match order {
                Err(reason) if !has_blocks => {
                    let orders = format!("an axis order such as NHWC ({reason})");
                    cursor.error_at(start, &format!("strides in brackets, {orders} or a oneDNN tag such as nChw16c"))
                }
                _ => error,
            })?;
            (shape.into(), Notation::OneDnn, word.to_owned())
        }
    };
    Ok(Read::One { layout, notation, text: Some(format!("{head}:{spelling}")), reversed: Vec::new() })
}

/// The devices of PyTorch (`c10/core/DeviceType.h`).
const DEVICES: &str = "cpu cuda mkldnn opengl opencl ideep hip fpga maia xla mps vulkan metal xpu meta hpu ve lazy ipu \
                       mtia privateuseone npu";

/// Skips a device such as `cuda:0`, which says nothing about the layout.
fn skip_device(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let start = cursor.position();
    match cursor.word() {
        "" => return Ok(()),
        word if !DEVICES.split(' ').any(|device| device == word) => {
            return Err(cursor.error_at(start, "a device of PyTorch such as cuda:0, or nothing more"));
        }
        _ => {}
    }
    if cursor.eat(":") {
        cursor.number("the number of a device")?;
    }
    Ok(())
}

/// Refuses `f16 [ 11008, 4096, 1, 1 ]`, as llama.cpp prints sizes with the innermost size first. The cursor
/// is behind the type. `f32 [2,3]` is XLA's.
fn refuse_sizes_of_ggml(cursor: &mut Cursor<'_>, type_name: &str) -> Result<(), Error> {
    let start = cursor.position();
    if !cursor.text().get(..start).is_some_and(|before| before.ends_with(' ')) {
        return Ok(());
    }
    cursor.eat("[");
    let sizes = cursor.list("]", |cursor| cursor.number("a size"));
    if let Some(mut sizes) = sizes.ok().filter(|sizes| sizes.len() > 1 && cursor.peek().is_none()) {
        let last = list(&sizes);
        sizes.reverse();
        let expected = format!(
            "{type_name}{} if the innermost size is first, as llama.cpp prints sizes, or {type_name}{last} if it is last",
            list(&sizes)
        );
        return Err(cursor.error_at(start, &expected));
    }
    cursor.move_to(start);
    Ok(())
}

/// Whether a text has a layout but no type, which must be written in front of it: `(8,2):(1,8)`,
/// `shape=[2, 3], strides=[3, 1]`.
///
/// ```
/// use tensor_layout_text::{Layout, lacks_type};
///
/// assert!(lacks_type("(8,2):(1,8)") && !lacks_type("f32(8,2):(1,8)"));
/// assert_eq!("f32 (8,2):(1,8)".parse::<Layout>()?.to_string(), "f32(8,2):(1,8)");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn lacks_type(text: &str) -> bool {
    let text = text.trim_start();
    let is_cute =
        text.starts_with('(') && text.trim_start_matches(['(', '_', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let of_rank_1 = text.split_once(':').is_some_and(|(size, stride)| [size, stride].into_iter().all(is_number));
    let start = text.find("], shape=[").filter(|_| text.starts_with('[')).map_or(0, |end| end.plus("], ".len()));
    let is_form = text.get(start..).and_then(forms::form).is_some_and(|form| !form.says_type(text));
    is_form
        || is_cute && text.contains(':')
        || of_rank_1
        || jax::is_layout(text)
        || triton::is_shared(text)
        || COMPOSED.iter().chain(&composed::POINTERS).any(|begins| text.starts_with(begins))
}

/// Whether a text is digits and nothing else, as the size and the stride of CuTe's `8:2` are.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.trim_end().bytes().all(|byte| byte.is_ascii_digit())
}

/// How texts of composed layouts begin.
const COMPOSED: [&str; 6] = ["S<", "Sw<", "(Swizzle(", "ComposedLayout(", "T.TileLayout(", "Tensor<0x"];

/// The opaque layouts of Direct3D 12's linear algebra and of VK_NV_cooperative_vector, without underscores.
const OPAQUE: [&str; 4] = ["muloptimal", "outerproductoptimal", "inferencingoptimal", "trainingoptimal"];

/// Refuses the layouts of matrices that only a driver knows.
fn ask_the_driver(word: &str) -> Result<(), Error> {
    let name: String = word.to_ascii_lowercase().chars().filter(char::is_ascii_alphabetic).collect();
    if !OPAQUE.iter().any(|opaque| name.trim_end_matches("nv").ends_with(opaque)) {
        return Ok(());
    }
    let reason = format!(
        "{word} is opaque, and its size and places differ from driver to driver: ask the driver \
         (GetLinearAlgebraMatrixConversionDestinationInfo of Direct3D 12, vkConvertCooperativeVectorMatrixNV of Vulkan)"
    );
    Err(Error::not_expressible("size or stride", reason))
}

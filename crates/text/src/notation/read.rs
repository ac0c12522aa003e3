//! Reads a layout: the beginning of the text, and then what follows the sizes, distinguish the notations.

use core::str::FromStr;

use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{BlockType, DataType, Naming};
use tensor_layout::plan::read_type_and_sizes;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{AnyLayout, AxisOrder, Error};

use crate::kv::KvCache;
use crate::named::NamedLayout;

use super::fields;
use super::{Notated, Notation, cute, onednn, printed, strided, text_in, type_and_sizes};
use crate::numbers::{signed, tuple};

impl FromStr for Notated {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match read_signed(text)? {
            (notated, reversed) if reversed.is_empty() => Ok(notated),
            _ => {
                let expected = "strides of 0 or more (negative strides are not supported here)";
                Err(Cursor::new(text).error_at(text.find('-').unwrap_or(0), expected))
            }
        }
    }
}

/// Reads a layout whose strides may be negative, as NumPy, CuTe, MLIR and ndarray write them. Returns the
/// layout from the lowest address on, and the axes that run backwards.
///
/// # Errors
///
/// The errors of a text that is no layout, and `not_expressible` if an element would be stored before the
/// buffer.
///
/// ```
/// let (layout, reversed) = tensor_layout_text::read_signed("f32(2,3):(-3,1)")?;
/// assert_eq!((layout.to_string().as_str(), reversed), ("f32(2,3):(3,1)", vec![0]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn read_signed(text: &str) -> Result<(Notated, Vec<usize>), Error> {
    if text.trim_start().starts_with("kv:") {
        return Ok((text.parse::<KvCache>()?.try_into()?, Vec::new()));
    }
    text.split(':').try_for_each(ask_the_driver)?;
    refuse_sizes_of_ggml(text)?;
    let mut cursor = Cursor::new(text);
    let word = cursor.word();
    let data_type = printed::element_type(word);
    if data_type.is_none() {
        cursor.move_to(0);
    }
    let start = fields_start(cursor.rest()).plus(cursor.position());
    cursor.move_to(start);
    let rest = cursor.rest();
    printed::refuse_without_layout(rest)?;
    let form = fields::form(rest).filter(|form| data_type.is_none() || form.notation != Notation::Directml);
    let (notation, (layout, reversed)) = if let Some(form) = form {
        (form.notation, form.read(&mut cursor, data_type)?)
    } else if cursor.eat("memref<") {
        (Notation::Mlir, printed::memref(&mut cursor)?)
    } else if lacks_type(text) {
        let expected = "a type in front, as in `f32 (8,2):(1,8)` or `bf16[16,256] Layout(..)`";
        return Err(cursor.error_at(0, expected));
    } else if text.split([']', '[', '{', '(', ')']).next().is_some_and(|name| name.contains(':')) {
        // A name is followed by `:`, and a type is followed by sizes, even if one bracket is missing.
        return Ok((text.parse::<NamedLayout>()?.try_into()?, Vec::new()));
    } else if let Some(data_type) = DataType::from_name_in(Naming::Xla, word).filter(|_| rest.starts_with('(')) {
        let (map, reversed) = cute::read(&mut cursor, data_type)?;
        (Notation::CuTe, (map.into(), reversed))
    } else if let Ok(block_type) = word.parse::<BlockType>() {
        let mut cursor = Cursor::new(text);
        cursor.word();
        let ggml = fields::ggml_blocks(&mut cursor, block_type)?;
        return Ok((ggml.as_deref().unwrap_or(text).parse::<BlockTensorDesc>()?.into(), Vec::new()));
    } else {
        return after_sizes(text);
    };
    cursor.end("nothing more")?;
    Ok((Notated::new(notation, text_in(&layout, notation)?, layout), reversed))
}

/// Reads a text that begins with a type and sizes, by what follows them.
fn after_sizes(text: &str) -> Result<(Notated, Vec<usize>), Error> {
    let mut cursor = Cursor::new(text);
    let read = read_type_and_sizes(&mut cursor).or_else(|error| {
        cursor.move_to(0);
        let data_type = printed::element_type(cursor.word()).filter(|_| cursor.eat("[")).ok_or(error)?;
        Ok::<_, Error>((data_type, cursor.list("]", |cursor| cursor.number("a size"))?.into()))
    });
    let Ok((data_type, sizes)) = read else { return own(text) };
    let (notation, canonical, (layout, reversed)) = match cursor.peek() {
        Some(b'[') => {
            let strides = tuple(&mut cursor, signed)?;
            skip_device(&mut cursor)?;
            let (desc, reversed) = strided::signed(data_type, &sizes, Some(&strides), None)?;
            (Notation::Torch, None, (desc.into(), reversed))
        }
        Some(b'L') if cursor.eat("Layout(") => {
            (Notation::Jax, None, (printed::jax(&mut cursor, data_type, &sizes)?.into(), Vec::new()))
        }
        Some(b':') if cursor.eat(":") && cursor.peek() != Some(b'[') => {
            let start = cursor.position();
            let word = cursor.word();
            let order = word.parse::<AxisOrder>();
            let has_blocks = word.contains(|c: char| c.is_ascii_digit());
            let head = type_and_sizes(data_type, &sizes);
            if let Some(tag) = onednn::tag_of_tvm(word) {
                let expected = "a layout of TVM with a letter for each size, such as NCHW4c";
                let shape = onednn::read_tag(&mut Cursor::new(&tag), data_type, &sizes);
                let shape = shape.map_err(|_| cursor.error_at(start, expected))?;
                (Notation::Tvm, None, (shape.into(), Vec::new()))
            } else if let Some(order) = order.as_ref().ok().filter(|_| !has_blocks) {
                (Notation::AxisOrder, Some(format!("{head}:{order}")), (text.parse()?, Vec::new()))
            } else {
                cursor.move_to(start);
                let shape = onednn::read_tag(&mut cursor, data_type, &sizes).map_err(|error| match order {
                    Err(reason) if !has_blocks => cursor.error_at(
                        start,
                        &format!(
                            "strides in brackets, an axis order such as NHWC ({reason}) or a oneDNN tag such as nChw16c"
                        ),
                    ),
                    _ => error,
                })?;
                (Notation::OneDnn, Some(format!("{head}:{word}")), (shape.into(), Vec::new()))
            }
        }
        _ => return own(text),
    };
    cursor.end("nothing more")?;
    let canonical = canonical.map_or_else(|| text_in(&layout, notation), Ok)?;
    Ok((Notated::new(notation, canonical, layout), reversed))
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

/// Refuses `f16 [ 11008, 4096, 1, 1 ]`, as llama.cpp prints sizes with the innermost size first. `f32 [2,3]`
/// is XLA's.
fn refuse_sizes_of_ggml(text: &str) -> Result<(), Error> {
    let mut cursor = Cursor::new(text);
    let type_name = cursor.word();
    let (start, is_apart) = (cursor.position(), cursor.rest().starts_with("[ "));
    if type_name.is_empty() || !is_apart || !cursor.eat("[") {
        return Ok(());
    }
    let Ok(mut sizes) = cursor.list("]", |cursor| cursor.number("a size")) else { return Ok(()) };
    if cursor.end("").is_err() || sizes.len() < 2 {
        return Ok(());
    }
    let as_written = type_and_name(type_name, &sizes);
    sizes.reverse();
    let expected = format!(
        "{} if the innermost size is first, as llama.cpp prints sizes, or {as_written} if it is last",
        type_and_name(type_name, &sizes)
    );
    Err(cursor.error_at(start, &expected))
}

fn type_and_name(type_name: &str, sizes: &[u64]) -> String {
    format!("{type_name}{}", crate::numbers::list(sizes))
}

fn own(text: &str) -> Result<(Notated, Vec<usize>), Error> {
    let layout = match text.parse()? {
        AnyLayout::Strided(desc) => desc.into(),
        AnyLayout::Tiled(shape) => shape.into(),
        AnyLayout::Mapped(_) => unreachable!("an index map has no text of its own"),
    };
    Ok((layout, Vec::new()))
}

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
    let form = fields::form(text.get(fields_start(text)..).unwrap_or(text));
    let is_form = form.is_some_and(|form| form.notation != Notation::Directml) && !text.contains("dtype");
    is_form || is_cute && text.contains(':') || text.starts_with("Layout(")
}

fn fields_start(text: &str) -> usize {
    text.find("], shape=[").filter(|_| text.starts_with('[')).map_or(0, |end| end.plus("], ".len()))
}

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

//! Reads a layout: first the type and the sizes, then the text that distinguishes the notations.

use core::str::FromStr;

use tensor_layout::cursor::Cursor;
use tensor_layout::element::{BlockType, DataType, Naming};
use tensor_layout::plan::{StorageRule, read_type_and_sizes};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{AnyLayout, AxisOrder, Error};

use crate::kv::KvCache;
use crate::named::NamedLayout;

use super::{Notated, Notation, cute, directml, onednn, printed, text_in, type_and_sizes};

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
    if let Some((notation, (layout, reversed))) = printed::read(text)? {
        let text = text_in(&layout, notation)?;
        return Ok((Notated { layout, notation, text, rule: StorageRule::NONE, blocks: None }, reversed));
    }
    // A name is followed by `:`, and a type is followed by sizes, even if one bracket is missing.
    if text.split([']', '[', '{', '(', ')']).next().is_some_and(|name| name.contains(':')) {
        return Ok((text.parse::<NamedLayout>()?.try_into()?, Vec::new()));
    }
    let mut cursor = Cursor::new(text);
    let data_type = DataType::from_name_in(Naming::Xla, cursor.word());
    if let Some(data_type) = data_type.filter(|_| cursor.peek() == Some(b'(')) {
        let (map, reversed) = cute::read(&mut cursor, data_type)?;
        return Ok((at_end(&mut cursor, AnyLayout::Mapped(map), Notation::CuTe, None)?, reversed));
    }
    Ok((Notated::forwards(text)?, Vec::new()))
}

impl Notated {
    /// Reads a text whose notation has no negative strides.
    fn forwards(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        if cursor.peek() == Some(b'{') {
            let layout = AnyLayout::Strided(directml::read(&mut cursor)?);
            return at_end(&mut cursor, layout, Notation::Directml, None);
        }
        if cursor.word().parse::<BlockType>().is_ok() {
            let ggml = printed::ggml_blocks(text)?;
            return Ok(ggml.as_deref().unwrap_or(text).parse::<BlockTensorDesc>()?.into());
        }
        cursor.move_to(0);
        let Ok((data_type, sizes)) = read_type_and_sizes(&mut cursor) else { return own(text) };
        if !cursor.eat(":") {
            return own(text);
        }
        if cursor.peek() == Some(b'[') {
            return own(text);
        }
        // An axis order such as `NHWC`, or a oneDNN tag. A tag has digits for its blocks (`nChw16c`), or
        // letters that no axis order has (`ldnc`, or more than 8 letters).
        let start = cursor.position();
        let word = cursor.word();
        let order = word.parse::<AxisOrder>();
        let has_blocks = word.contains(|c: char| c.is_ascii_digit());
        match order {
            Ok(order) if !has_blocks => {
                let text_in_order = format!("{}:{order}", type_and_sizes(data_type, &sizes));
                Ok(Notated { notation: Notation::AxisOrder, text: text_in_order, ..own(text)? })
            }
            order => {
                cursor.move_to(start);
                match onednn::read_tag(&mut cursor, data_type, &sizes) {
                    Ok(shape) => {
                        let text = format!("{}:{word}", type_and_sizes(data_type, &sizes));
                        at_end(&mut cursor, AnyLayout::Tiled(shape), Notation::OneDnn, Some(text))
                    }
                    Err(error) if has_blocks => Err(error),
                    Err(_) => {
                        let reason = order.err().map(|error| error.to_string()).unwrap_or_default();
                        let expected = format!(
                            "strides in brackets, an axis order such as NHWC ({reason}) or a oneDNN tag such as nChw16c"
                        );
                        Err(cursor.error_at(start, &expected))
                    }
                }
            }
        }
    }
}

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

/// The opaque layouts of Direct3D 12's linear algebra and of VK_NV_cooperative_vector, without underscores.
const OPAQUE: [&str; 4] = ["muloptimal", "outerproductoptimal", "inferencingoptimal", "trainingoptimal"];

/// Reads one of the library's own notations.
fn own(text: &str) -> Result<Notated, Error> {
    Ok(match text.parse()? {
        AnyLayout::Strided(desc) => desc.into(),
        AnyLayout::Tiled(shape) => shape.into(),
        AnyLayout::Mapped(_) => unreachable!("an index map has no text of its own"),
    })
}

/// Returns the layout, after a check that the text ends at the cursor. `text` is its canonical form, if
/// writing the layout would not give it.
fn at_end(
    cursor: &mut Cursor<'_>,
    layout: AnyLayout,
    notation: Notation,
    text: Option<String>,
) -> Result<Notated, Error> {
    cursor.end("nothing more")?;
    let text = text.map_or_else(|| text_in(&layout, notation), Ok)?;
    Ok(Notated { layout, notation, text, rule: StorageRule::NONE, blocks: None })
}

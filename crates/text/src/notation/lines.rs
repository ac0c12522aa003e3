//! One layout in every notation.

use core::fmt;

use tensor_layout::{AnyLayout, ArrayShape, Error, IndexMap, ToIndexMap};

use crate::named::names_of;
use crate::spell::{to_xla, to_xla_exact};
use crate::swizzle::{composed_text, suffix};

use super::strided::{Strided, axis_order, axis_orders};
use super::{Notation, cute, directml, forms, jax, memref, onednn, type_and_sizes};
use crate::numbers::list;

/// One line of [`all_notations`]: a layout in one notation, or the reason why the notation cannot express it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The notation of this line.
    pub notation: Notation,
    /// The text of the layout, which [`Layout`](crate::Layout) reads back, or the reason why the notation has
    /// no text for it.
    pub text: Result<String, Error>,
}

impl Line {
    /// The reason why there is no text, as half a sentence without the name of the notation.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let error = self.text.as_ref().err()?;
        Some(if error.code() == "not_expressible" { error.found().to_owned() } else { error.to_string() })
    }
}

impl fmt::Display for Line {
    /// Writes `CuTe               f32(2,3):(5,1)`, or the reason after `no: `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18} ", self.notation.title())?;
        match (&self.text, self.reason()) {
            (Ok(text), _) => f.write_str(text),
            (Err(_), reason) => write!(f, "no: {}", reason.unwrap_or_default()),
        }
    }
}

/// Returns the layout in every notation of [`Notation::LISTED`]: one line each, with the text or the reason
/// why there is none. If axes of size 1 allow several axis orders in use, each order has a line. Each name of
/// the layout has a line too, unless the layout is row-major and packed.
///
/// [`Layout`](crate::Layout) reads every text back to the same layout: the same type and sizes, the same
/// width of elements, and the same offset for each element. XLA's notation, oneDNN's tags and DirectML's JSON
/// include the end of the buffer. In the other notations the buffer ends after the last element. Only XLA's
/// notation has memory spaces (`S(n)`), and only DirectML's has flags and alignments.
///
/// ```
/// use tensor_layout::ArrayShape;
///
/// let shape: ArrayShape = "f32[2,3]{1,0:T(5)}".parse()?;
/// let lines: Vec<String> = tensor_layout_text::all_notations(&shape).iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "XLA                f32[2,3]{1,0:T(5)}",
///     "sizes and strides  f32[2,3]:[5,1]",
///     "axis order         no: axis 0 takes steps of 5 elements, and packed after axis 1 it would take 3",
///     "oneDNN tag         f32[2,3]:aB5b",
///     "CuTe               f32(2,3):(5,1)",
///     "NumPy              ndarray(shape=(2,3), dtype=float32, strides=(20,4))",
///     "DirectML           {\"DataType\":\"FLOAT32\",\"Sizes\":[2,3],\"Strides\":[5,1],\"TotalTensorSizeInBytes\":40}",
/// ]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn all_notations(layout: impl Into<AnyLayout>) -> Vec<Line> {
    lines_in(layout.into(), Notation::LISTED)
}

fn lines_in(layout: AnyLayout, notations: &[Notation]) -> Vec<Line> {
    let writer = Writer::of(layout);
    notations.iter().flat_map(|&notation| writer.lines(notation)).collect()
}

/// Returns the layout in the notation of its kind. An index map is written in the shortest notation that can
/// express it, at worst in CuTe's. Where that notation has no offset, `+12` follows its text: the layout
/// begins 12 elements into its buffer.
///
/// # Errors
///
/// `not_expressible` if no notation can express the layout.
///
/// ```
/// use tensor_layout::{ArrayShape, BufferTensorDesc, ToIndexMap};
/// use tensor_layout_text::to_text;
///
/// assert_eq!(to_text("f32[2,3]:[5,1]".parse::<BufferTensorDesc>()?)?, "f32[2,3]:[5,1]");
/// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(to_text(map.reshape(&[2, 8, 2, 128])?)?, "f32[2,8,2,128]:[2048,128,1024,1]");
/// assert_eq!(to_text(map.permute(&[1, 0])?)?, "f32[256,16]{0,1:T(8,128)}");
/// assert_eq!(to_text(map.slice(&[8..16, 0..128])?)?, "f32[8,128]:[128,1]+2048");
/// assert_eq!(to_text(map.slice(&[8..16, 0..200])?)?, "f32[8,200]{1,0:T(8,128)}+2048");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn to_text(layout: impl Into<AnyLayout>) -> Result<String, Error> {
    match layout.into() {
        AnyLayout::Strided(desc) => Ok(desc.to_string()),
        AnyLayout::Tiled(shape) => Ok(shape.to_string()),
        AnyLayout::Mapped(map) if map.swizzle().is_some() => {
            let (plain, swizzle) = map.apart_from_swizzle();
            Ok(to_text(plain)? + &suffix(swizzle.as_ref(), map.element_bits()))
        }
        layout => {
            let base = layout.to_index_map().ok().map(|map| map.base()).filter(|&base| base > 0);
            let writer = Writer::of(layout);
            let text = writer.text(Notation::Strides).or_else(|_| writer.text(Notation::Xla));
            // CuTe's notation has a stride for each digit of a dimension, so it can express gaps inside a
            // dimension.
            let text = text.or_else(|_| writer.text(Notation::CuTe));
            text.or_else(|error| match (writer.map, base) {
                (Ok(map), Some(base)) => Ok(format!("{}+{base}", to_text(map.with_base(0)?)?)),
                _ => Err(error),
            })
        }
    }
}

/// Returns the lines of a layout for some notations. The line of its own notation is the text `own`.
pub(crate) fn lines_of(layout: AnyLayout, notations: &[Notation], own: Option<(Notation, String)>) -> Vec<Line> {
    let mut lines = lines_in(layout, notations);
    let Some((notation, own)) = own else { return lines };
    let Some(place) = lines.iter().position(|line| line.notation == notation) else { return lines };
    // The order that was read comes first, before the layout's other axis orders.
    if notation == Notation::AxisOrder {
        lines.retain(|line| line.text.as_ref() != Ok(&own));
    } else {
        lines.remove(place);
    }
    lines.insert(place, Line { notation, text: Ok(own) });
    lines
}

/// Returns the layout in one notation; see [`all_notations`].
///
/// # Errors
///
/// `not_expressible` or `unsupported_data_type` if the notation cannot express the layout.
/// `overflow` if a number does not fit its integer type.
///
/// ```
/// use tensor_layout::ArrayShape;
/// use tensor_layout_text::{to_notation, Notation};
///
/// let shape: ArrayShape = "f32[3,100]{1,0:T(8,128)}".parse()?;
/// assert_eq!(to_notation(&shape, Notation::Strides)?, "f32[3,100]:[128,1]");
/// let error = to_notation(&"f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?, Notation::Strides).unwrap_err();
/// assert!(error.to_string().contains("dimension 0 is cut into digits of 2 x 2"), "{error}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn to_notation(layout: impl Into<AnyLayout>, notation: Notation) -> Result<String, Error> {
    let layout = layout.into();
    match &layout {
        AnyLayout::Mapped(map) if map.swizzle().is_some() => swizzled(map, notation),
        _ => Writer::of(layout).text(notation),
    }
}

/// Writes a swizzled map: with the suffix in sizes and strides, and composed in CuTe's notation.
fn swizzled(map: &IndexMap, notation: Notation) -> Result<String, Error> {
    let (plain, swizzle) = map.apart_from_swizzle();
    let words = || swizzle.as_ref().map(|swizzle| swizzle.in_words(map.element_bits())).unwrap_or_default();
    let refuse = || Error::not_expressible(notation.noun(), words());
    match notation {
        Notation::Strides => Ok(to_notation(plain, notation)? + &suffix(swizzle.as_ref(), map.element_bits())),
        Notation::CuTe => composed_text(map, &cute::text(&plain)?).ok_or_else(refuse),
        _ => Err(refuse()),
    }
}

struct Writer {
    layout: AnyLayout,
    map: Result<IndexMap, Error>,
    /// The layout with one stride for each dimension, or the reason why it has none.
    strided: Result<Strided, String>,
}

impl Writer {
    fn of(layout: AnyLayout) -> Writer {
        let map = layout.to_index_map();
        let strided = match &map {
            Ok(map) => Strided::of(&layout, map),
            Err(error) => Err(error.to_string()),
        };
        Writer { layout, map, strided }
    }

    /// Returns the lines of one notation: one line, or one for each name and for each axis order.
    fn lines(&self, notation: Notation) -> Vec<Line> {
        let text = self.text(notation);
        let mut texts = match (notation, &text, &self.strided) {
            (Notation::Named, ..) => return self.names().map(|name| Line { notation, text: Ok(name) }).collect(),
            (Notation::AxisOrder, Ok(_), Ok(Strided { desc, .. })) => {
                let head = type_and_sizes(desc.data_type(), desc.sizes());
                axis_orders(desc).into_iter().map(|order| Ok(format!("{head}:{order}"))).collect()
            }
            _ => Vec::new(),
        };
        texts.retain(|other| *other != text);
        core::iter::once(text).chain(texts).map(|text| Line { notation, text }).collect()
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let known = self.map.as_ref().map(names_of).unwrap_or_default();
        known.into_iter().filter(|known| known.axes.is_none()).map(|known| known.to_string())
    }

    fn text(&self, notation: Notation) -> Result<String, Error> {
        if let Ok(map) = &self.map
            && map.swizzle().is_some()
        {
            return swizzled(map, notation);
        }
        if let (Notation::Xla, AnyLayout::Tiled(shape)) = (notation, &self.layout) {
            return Ok(shape.to_string());
        }
        let refuse = |reason: String| Error::not_expressible(notation.noun(), reason);
        let map = self.map.as_ref().map_err(Clone::clone)?;
        notation.check(map).map_err(refuse)?;
        match notation {
            Notation::Mlir if self.strided.is_err() && matches!(self.layout, AnyLayout::Tiled(_)) => {
                memref::write_tiles(&self.xla(map)?)
            }
            Notation::Xla => Ok(self.xla(map)?.to_string()),
            Notation::OneDnn => Ok(format!("{}:{}", type_and_sizes(map.data_type(), map.sizes()), onednn::tag(map)?)),
            Notation::Tvm if self.strided.is_err() => onednn::tvm_text(map),
            Notation::CuTe => cute::text(map),
            Notation::Jax => jax::write(&self.xla(map)?),
            Notation::Named => {
                let reason = "no name in the table has these places and this size";
                self.names().next().ok_or_else(|| refuse(reason.into()))
            }
            _ => strided_text(self.strided.as_ref().map_err(|reason| refuse(reason.clone()))?, notation),
        }
    }

    fn xla(&self, map: &IndexMap) -> Result<ArrayShape, Error> {
        let raised = |desc| to_xla(desc).map(|raised| raised.shape);
        match (&self.layout, &self.strided) {
            (AnyLayout::Tiled(shape), _) => Ok(shape.clone()),
            (AnyLayout::Strided(desc), _) => raised(desc),
            // Equal offsets are enough for this text. It may describe a buffer with another end.
            (_, Ok(Strided { desc, .. })) if map.element_bits() == map.data_type().bits() => {
                to_xla_exact(map).or_else(|error| raised(desc).map_err(|_| error))
            }
            _ => to_xla_exact(map),
        }
    }
}

/// Returns the text in a notation that is sizes and strides, or an order of the axes.
fn strided_text(strided: &Strided, notation: Notation) -> Result<String, Error> {
    let Strided { data_type, desc } = strided;
    match notation {
        Notation::Directml => directml::write(strided),
        Notation::Mlir => memref::write(strided),
        Notation::AxisOrder => {
            let order = axis_order(desc).map_err(|reason| Error::not_expressible(notation.noun(), reason))?;
            Ok(format!("{}:{order}", type_and_sizes(*data_type, desc.sizes())))
        }
        Notation::Strides => {
            let base = if desc.is_part() { format!("+{}", desc.base_offset()) } else { String::new() };
            Ok(format!("{}:{}{base}", type_and_sizes(*data_type, desc.sizes()), list(desc.strides())))
        }
        _ => forms::write(notation, strided),
    }
}

//! Reads a layout of any kind.

use core::str::FromStr;

use smallvec::SmallVec;
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::{Code, read_type_and_sizes};
use tensor_layout::strided::Integer;
use tensor_layout::tiled::Shape;
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, Error};

use crate::kv::Pages;
use crate::notation::{Notation, Read, ViewStep, array_of_onednn_tag, read_array, read_whole};
use crate::numbers::{list, read_list};

use super::frame::Frame;
use super::view::written;
use super::{Layout, Plane, Role, Whole, Written};

/// The word between the planes. No notation of a single plane has it.
const WITH: &str = " with ";

/// What begins each step from a layout to a view of it, as in `q8_0[4,64] --slice 0:2,:`.
const OPTION: &str = " --";

/// The words around the axes that run backwards, where no notation has negative strides for a layout.
pub(super) const AXES: &str = ", axes ";
pub(super) const BACKWARDS: &str = " backwards";

impl Layout {
    /// Reads a layout of XLA, sizes and strides, an axis order, or a tag of oneDNN, with the type and sizes
    /// in front. Other notations are refused. A program that reads by this function and not by `parse` links
    /// no other reader, which makes it smaller.
    ///
    /// # Errors
    ///
    /// `parse` for another text, and the errors of such a layout.
    ///
    /// ```
    /// use tensor_layout_text::Layout;
    ///
    /// let tag = Layout::from_array_text("f32[2,35,9,9]:nChw16c")?;
    /// assert_eq!(tag, "f32[2,35,9,9]:nChw16c".parse()?);
    /// assert_eq!(Layout::from_array_text("kv:BNHC:f16[B=2,N=4,H=2,C=8]").unwrap_err().code(), "parse");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn from_array_text(text: &str) -> Result<Layout, Error> {
        let mut cursor = Cursor::new(text);
        match read_array(&mut cursor)? {
            Read::One { layout, notation, text, reversed } => Ok(Layout::of_one(layout, notation, text, reversed)),
            Read::Shape(shape) => Ok(shape.into()),
            _ => Err(cursor.error_at(0, "the type and sizes of one array")),
        }
    }

    fn of_one(layout: AnyLayout, notation: Notation, text: Option<String>, reversed: Vec<usize>) -> Layout {
        let text = text.filter(|_| reversed.is_empty());
        Layout::of(Plane { reversed, ..Plane::one(layout, notation, text) })
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Layout, Error> {
        // Nearly every text is one layout and nothing more.
        let has_words = [OPTION, WITH, BACKWARDS].iter().any(|words| text.contains(words));
        if has_words { Layout::with_words(text) } else { Layout::of_front(text) }
    }
}

impl Layout {
    /// Reads a text with words behind a layout: scales, axes that run backwards, options of the command
    /// `view`.
    fn with_words(text: &str) -> Result<Layout, Error> {
        let mut options = text.split(OPTION);
        let source = Layout::without_options(options.next().unwrap_or_default())?;
        let (mut view, mut steps) = (source.clone(), Vec::new());
        for option in options {
            let (name, argument) = option.split_once(' ').unwrap_or((option, ""));
            for step in ViewStep::read_all_on(name, argument, view.sizes())? {
                steps.extend(written(&step, view.sizes()));
                view = view.viewed_by(&step)?;
            }
        }
        Ok(if steps.is_empty() { source } else { view.with_steps(&source, steps) })
    }

    /// Reads a text without options of the command `view`.
    fn without_options(text: &str) -> Result<Layout, Error> {
        if text.contains(WITH) {
            return with_scales(text);
        }
        if let Some((layout, axes)) = text.trim_end().strip_suffix(BACKWARDS).and_then(|text| text.rsplit_once(AXES)) {
            // A second list is refused, so a long text is not read to any depth.
            if layout.trim_end().ends_with(BACKWARDS) {
                let mut cursor = Cursor::new(text);
                cursor.eat(layout);
                return Err(cursor.error("the end, after one list of axes that run backwards"));
            }
            let axes = read_list(axes, "an axis that runs backwards")?;
            let axes = axes.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
            return Layout::without_options(layout)?.view(&ViewStep::Reverse(axes));
        }
        Layout::of_front(text)
    }

    /// Reads a text that the word at its front decides.
    fn of_front(text: &str) -> Result<Layout, Error> {
        let mut cursor = Cursor::new(text);
        match cursor.rest() {
            rest if rest.starts_with("frame.") => {
                let frame = Frame::read(&mut cursor)?;
                cursor.end("nothing more")?;
                frame.try_into()
            }
            rest if rest.starts_with("kv") && Pages::begins(rest) => {
                let pages = Pages::read(&mut cursor)?;
                cursor.end("nothing more")?;
                pages.try_into()
            }
            _ => match read_whole(&mut cursor)? {
                Read::One { layout, notation, text, reversed } => Ok(Layout::of_one(layout, notation, text, reversed)),
                Read::Blocks(blocks) => Ok(blocks.into()),
                Read::Named(named) => named.try_into(),
                Read::Cache(cache) => Ok(cache.into()),
                Read::Shape(shape) => Ok(shape.into()),
            },
        }
    }
}

impl Layout {
    /// Returns the layout of a tensor of these sizes that a tag of oneDNN names, as the text
    /// `f32[35,16,3,3]:OIhw16i16o` does. Sizes stay in the order of the tag's letters without blocks.
    ///
    /// # Errors
    ///
    /// `parse` for a tag that is none or that has other axes, and the errors of a descriptor of these sizes.
    ///
    /// ```
    /// use tensor_layout::DataType;
    /// use tensor_layout_text::Layout;
    ///
    /// let weights = Layout::from_onednn_tag(DataType::F32, &[35, 16, 3, 3], "OIhw16i16o")?;
    /// assert_eq!(weights.whole()?.physical_size_in_bytes(), 48 * 16 * 9 * 4);
    /// assert_eq!(weights.to_string(), "f32[35,16,3,3]:OIhw16i16o");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn from_onednn_tag<T: Integer>(data_type: DataType, sizes: &[T], tag: &str) -> Result<Layout, Error> {
        let desc = BufferTensorDesc::packed(data_type, sizes)?;
        // The tag is not read as a part of a text, so that a program that needs only tags links no other
        // reader.
        let shape = array_of_onednn_tag(data_type, desc.sizes(), tag)?;
        let text = format!("{data_type}{}:{tag}", list(desc.sizes()));
        Ok(Layout::of_one(shape.into(), Notation::OneDnn, Some(text), Vec::new()))
    }
}

/// Reads `f4e2m1fn[128,320] with f8e8m0fnu per 32`. `per` says how many values of the last axis have one
/// scale, or, as `[128,128]`, of each axis; `per tensor` is one scale for all, `per channel` one for each
/// index of the first axis, and `per token` or `per row` one for each row. Scales without sizes have one for
/// each block.
fn with_scales(whole: &str) -> Result<Layout, Error> {
    let mut texts = whole.split(WITH);
    let first = texts.next().unwrap_or_default();
    let values = plane(first)?;
    if let Some(blocks) = values.blocks() {
        return Err(Error::not_expressible("plane of values", format!("{blocks} has its scales in its blocks")));
    }
    let (sizes, mut planes, mut column) = (values.sizes.clone(), SmallVec::from_iter([values]), first.len());
    for text in texts {
        column = column.saturating_add(WITH.len());
        let Some((layout, per)) = text.rsplit_once(" per ") else {
            return Err(Cursor::new(whole).error_at(column, "the layout of scales, ` per ` and a number of values"));
        };
        let per = match per.trim() {
            "tensor" => sizes.iter().map(|&size| size.max(1)).collect(),
            word @ ("channel" | "token" | "row") => {
                let per = |(axis, &size): (usize, &u64)| match word {
                    "channel" => {
                        if axis == 0 {
                            1
                        } else {
                            size.max(1)
                        }
                    }
                    _ => {
                        if axis.saturating_add(1) == sizes.len() {
                            size.max(1)
                        } else {
                            1
                        }
                    }
                };
                sizes.iter().enumerate().map(per).collect()
            }
            list if list.starts_with('[') => read_list(list, "the values of each axis that have one scale")?,
            number => {
                let mut per = vec![1; sizes.len()];
                let number = number.parse().ok().zip(per.last_mut()).map(|(number, last)| *last = number);
                let at = column.saturating_add(layout.len()).saturating_add(" per ".len());
                number.ok_or_else(|| {
                    Cursor::new(whole)
                        .error_at(at, "a number such as 32, [1,32], `tensor`, `channel`, `token` or `row`")
                })?;
                per
            }
        };
        let layout = if layout.contains(['[', '(', '{']) {
            layout.to_owned()
        } else {
            let count = |(size, per): (&u64, &u64)| size.div_ceil((*per).max(1)).to_string();
            let counts: Vec<String> = sizes.iter().zip(&per).map(count).collect();
            format!("{layout}[{}]", counts.join(","))
        };
        column = column.saturating_add(text.len());
        let scales = plane(&layout)?;
        check_scales(&sizes, &scales, &per)?;
        planes.push(Plane { role: Role::Scales { per }, ..scales });
    }
    Ok(Layout { planes, of: None })
}

/// Refuses scales that are not one for each block of values.
fn check_scales(sizes: &[u64], scales: &Plane, per: &[u64]) -> Result<(), Error> {
    for length in [per.len(), scales.sizes.len()] {
        if length != sizes.len() {
            let reason = format!("the values have {} axes, and the scales or their block {length}", sizes.len());
            return Err(Error::not_expressible("plane of scales", reason));
        }
    }
    for (axis, ((&size, &per), &scales)) in sizes.iter().zip(per).zip(&scales.sizes).enumerate() {
        if per == 0 {
            return Err(Error::out_of_limits("the block of a scale", 0, 1, u64::MAX));
        }
        if size.div_ceil(per) != scales {
            return Err(Code::SizeMismatch.on_axis(axis, scales, size.div_ceil(per)));
        }
    }
    Ok(())
}

/// Reads a plane. A type and sizes alone are a packed tensor.
fn plane(text: &str) -> Result<Plane, Error> {
    let mut cursor = Cursor::new(text);
    let read: Layout = match read_type_and_sizes(&mut cursor) {
        Ok((data_type, sizes)) if cursor.end("").is_ok() => BufferTensorDesc::packed(data_type, &sizes)?.into(),
        _ => text.parse()?,
    };
    let kind = match read.of.as_deref() {
        None | Some(Whole::View(..)) => "",
        Some(Whole::Frame(_)) => "a frame",
        Some(Whole::Pages(_)) => "pages of several fields",
        Some(Whole::Shape(_)) => "a tuple",
    };
    match read.planes.into_iter().next() {
        Some(plane) if kind.is_empty() => Ok(plane),
        _ => Err(Error::not_expressible("plane", format!("{} is {kind}", text.trim()))),
    }
}

impl From<Shape> for Layout {
    /// Returns the arrays of a tuple, and of any other shape the array that it has.
    fn from(shape: Shape) -> Layout {
        if let Shape::Array(array) = shape {
            return array.into();
        }
        let mut planes = SmallVec::new();
        // The shapes that are still to be visited. The next shape is on top.
        let mut stack = vec![(Vec::new(), &shape)];
        while let Some((path, shape)) = stack.pop() {
            let mut plane = match shape {
                Shape::Tuple(inner) => {
                    for (index, element) in inner.iter().enumerate().rev() {
                        stack.push(([path.as_slice(), &[index]].concat(), element));
                    }
                    continue;
                }
                Shape::Array(array) => Plane::one(array.clone().into(), Notation::Xla, None),
                Shape::Buffer(array) => Plane::one(array.clone().into(), Notation::Xla, Some(shape.to_string())),
                other => Plane { written: Written::Shape(other.clone()), ..Plane::default() },
            };
            plane.role = Role::Element { path };
            planes.push(plane);
        }
        Layout::with(planes, Whole::Shape(shape))
    }
}

//! `Rule`: the layout that a command line asks for, without the type and the sizes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::tiled::{self, Tile, TpuGeneration};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error};

use crate::Layout;
use crate::named::{NamedLayout, full_name};
use crate::numbers::list;

/// What `--to` of the command line takes: a layout without the type and the sizes, which each tensor has.
///
/// ```
/// use tensor_layout::DataType;
/// use tensor_layout_text::rule::Rule;
///
/// let rule: Rule = "nhwc".parse()?;
/// assert_eq!(rule.layout(DataType::F16, &[1, 3, 2, 2]).unwrap().to_string(), "f16[1,3,2,2]:NHWC");
/// assert!("ncwh:".parse::<Rule>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Row-major order, without padding.
    Packed,
    /// The layout that a TPU compiler picks by default: an order of the dimensions, and tiles.
    Tpu(TpuGeneration),
    /// Row-major order, with the tiles that a TPU compiler picks for such an array.
    TpuRowMajor(TpuGeneration),
    /// NHWC for tensors of rank 4. Other tensors are packed in row-major order.
    Nhwc,
    /// Row-major order with these tiles, for every tensor.
    Tiles(Vec<Tile>),
    /// An axis order or a oneDNN tag. Tensors of another rank are refused.
    Order(String),
    /// A layout with a name. Tensors that the name does not allow are refused.
    Named(String),
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Rule, String> {
        let lower = text.to_ascii_lowercase();
        // `v5e` means `tpu:v5e`.
        if let Ok(generation) = lower.parse() {
            return Ok(Rule::Tpu(generation));
        }
        if let Some(generation) = lower.strip_prefix("tpu:") {
            let (generation, rule): (_, fn(TpuGeneration) -> Rule) = match generation.strip_suffix(":row-major") {
                Some(generation) => (generation, Rule::TpuRowMajor),
                None => (generation, Rule::Tpu),
            };
            if let Some((_, suffix)) = generation.split_once(':') {
                return Err(format!("expected nothing or `:row-major` after the generation, found `:{suffix}`"));
            }
            return generation.parse().map(rule).map_err(|error: Error| error.to_string());
        }
        match text {
            _ if lower == "packed" => return Ok(Rule::Packed),
            _ if lower == "nhwc" => return Ok(Rule::Nhwc),
            _ if is_order(text) => return Ok(Rule::Order(text.to_owned())),
            _ if !text.starts_with("T(") => {
                return full_name(text).map(Rule::Named).map_err(|error| {
                    let nearest = if error.column().is_some() { error.expected().into() } else { error.to_string() };
                    format!(
                        "expected tpu:v5e or tpu:v5e:row-major (v2 to v7x), nhwc, packed, tiles such as T(8,128)(2,1), an axis \
                         order or oneDNN tag such as OIhw16i16o, or {nearest}"
                    )
                });
            }
            _ => {}
        }
        let shape: ArrayShape = format!("u8[1]{{0:{text}}}").parse().map_err(|error| sentence(&error, text))?;
        let plain = tiled::Layout::new(&[0]).map_err(|error| error.to_string())?.with_tiles(shape.layout().tiles());
        if plain != *shape.layout() {
            return Err("expected tiles only, such as T(8,128)(2,1)".into());
        }
        Ok(Rule::Tiles(shape.layout().tiles().to_vec()))
    }
}

/// Returns the layout that a rule of `model --to` gives a tensor: `tpu:v5e`, `nhwc`, `packed`, tiles such as
/// `T(8,128)(2,1)`, an axis order, a oneDNN tag, or the name of a layout.
///
/// # Errors
///
/// `parse` if there is no such rule. If the rule does not fit the tensor, the
/// error says why.
///
/// ```
/// use tensor_layout::DataType;
///
/// let layout = tensor_layout_text::rule::layout_by_rule("tpu:v5e", DataType::BF16, &[300, 500])?;
/// assert_eq!(layout.to_string(), "bf16[300,500]{1,0:T(8,128)(2,1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn layout_by_rule(rule: &str, data_type: DataType, sizes: &[u64]) -> Result<Layout, Error> {
    let refuse = |expected| Error::parse(rule.to_owned(), 1, expected, format!("`{rule}`"));
    let read = rule.parse::<Rule>().map_err(|sentence| match sentence.strip_prefix("expected ") {
        Some(expected) => refuse(expected.to_owned()),
        None => refuse(format!("a rule, but {sentence}")),
    });
    read?.layout(data_type, sizes)
}

/// Returns the layout that a text means. The text is a layout, or a rule for a tensor with the type and the
/// sizes of `other`.
///
/// # Errors
///
/// The error of the text as a layout, if it is neither, and the reason why a rule does not fit.
pub fn layout_or_rule(text: &str, other: &str) -> Result<Layout, Error> {
    let error = match text.parse() {
        Ok(layout) => return Ok(layout),
        Err(error) => error,
    };
    let (Ok(rule), Ok(other)) = (text.parse::<Rule>(), other.parse::<Layout>()) else { return Err(error) };
    if let Some(pages) = other.pages() {
        let reason =
            format!("`{text}` orders the axes of one plane: write other pages, or packed for these without padding");
        return match rule {
            Rule::Packed => pages.packed()?.try_into(),
            _ => Err(Error::not_expressible("page", reason)),
        };
    }
    if let Some(frame) = other.frame().filter(|_| other.planes().len() > 1) {
        let reason =
            format!("`{text}` orders the axes of one plane: write another frame, or packed for the planes of this one");
        return match rule {
            Rule::Packed => frame.in_planes().try_into(),
            _ => Err(Error::not_expressible("frame", reason)),
        };
    }
    let (values, sizes) = (other.values(), other.sizes());
    let data_type = values.parts().first().map(|part| part.map.data_type());
    match (values.blocks(), rule, data_type) {
        (Some(blocks), Rule::Named(name), _) => NamedLayout::of_blocks(&name, blocks)?.try_into(),
        (Some(blocks), Rule::Packed, _) => Ok(BlockTensorDesc::packed(blocks.block_type(), blocks.sizes())?.into()),
        (Some(blocks), ..) => {
            let reason = format!("`{text}` orders elements, and {blocks} has blocks: write the strides of its blocks");
            Err(Error::not_expressible("tensor of blocks", reason))
        }
        (None, Rule::Named(name), Some(data_type)) => NamedLayout::new(&name, data_type, sizes)?.try_into(),
        (None, rule, Some(data_type)) => rule.layout(data_type, sizes),
        (None, _, None) => Err(error),
    }
}

/// Reads a generation of TPUs: `v5e`, in letters of either case.
///
/// # Errors
///
/// `parse` if there is no such generation.
pub fn tpu_generation(text: &str) -> Result<TpuGeneration, Error> {
    text.to_ascii_lowercase().parse()
}

fn is_order(text: &str) -> bool {
    let letters: BTreeSet<char> =
        text.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let ones = vec!["1"; letters.len()].join(",");
    text.chars().all(|c| c.is_ascii_alphanumeric()) && format!("u8[{ones}]:{text}").parse::<Layout>().is_ok()
}

/// Writes the error as a sentence, with its column in the text that was typed. The parser saw this text after
/// `u8[1]{0:`.
fn sentence(error: &Error, text: &str) -> String {
    let Some(column) = error.column() else { return error.to_string() };
    let column = column.saturating_sub("u8[1]{0:".len()).max(1);
    // A column past the end of the text is in what `from_str` appended.
    let found = if column > text.chars().count() { "the end" } else { error.found() };
    format!("column {column} of `{text}`: expected {}, found {found}", error.expected())
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Packed => f.write_str("packed"),
            Rule::Tpu(generation) => write!(f, "tpu:{generation}"),
            Rule::TpuRowMajor(generation) => write!(f, "tpu:{generation}:row-major"),
            Rule::Nhwc => f.write_str("nhwc"),
            Rule::Tiles(tiles) => {
                f.write_str("T")?;
                tiles.iter().try_for_each(|tile| tile.fmt(f))
            }
            Rule::Order(text) | Rule::Named(text) => f.write_str(text),
        }
    }
}

impl Rule {
    /// Returns the layout that the rule gives a tensor.
    ///
    /// # Errors
    ///
    /// The reason why the rule does not fit this type or these sizes.
    pub fn layout(&self, data_type: DataType, sizes: &[u64]) -> Result<Layout, Error> {
        let in_order = |order: &str| format!("{data_type}{}:{order}", list(sizes)).parse();
        let shape = match self {
            Rule::Nhwc if sizes.len() == 4 => return in_order("NHWC"),
            Rule::Packed | Rule::Nhwc => return Ok(BufferTensorDesc::packed(data_type, sizes)?.into()),
            Rule::Order(text) => return in_order(text),
            Rule::Named(name) => return NamedLayout::new(name, data_type, sizes)?.try_into(),
            Rule::Tpu(generation) => ArrayShape::row_major(data_type, sizes)?.with_tpu_layout(*generation)?,
            Rule::TpuRowMajor(generation) => ArrayShape::row_major(data_type, sizes)?.with_tpu_tiles(*generation)?,
            Rule::Tiles(tiles) => {
                let mut layout = tiled::Layout::row_major(sizes.len()).with_tiles(tiles);
                if data_type.bits() < 8 {
                    layout.element_bits = Some(data_type.bits());
                }
                ArrayShape::new(data_type, sizes, layout)?
            }
        };
        Ok(shape.into())
    }

    /// Returns the repacked form of a tensor of blocks, if the rule is the name of one. Every other rule
    /// leaves blocks packed, and the remark says so.
    ///
    /// # Errors
    ///
    /// The reason why these blocks have no such form.
    pub fn blocks(&self, blocks: &BlockTensorDesc) -> Result<(Option<NamedLayout>, Option<&'static str>), Error> {
        match self {
            Rule::Named(name) => Ok((Some(NamedLayout::of_blocks(name, blocks)?), None)),
            Rule::Packed => Ok((None, None)),
            _ => Ok((None, Some("stay packed, because they are stored in blocks"))),
        }
    }

    /// Returns a remark on a tensor of this rank if the rule does not change it.
    #[must_use]
    pub fn exception(&self, rank: usize) -> Option<&'static str> {
        (*self == Rule::Nhwc && rank != 4).then_some("stay packed, because their rank is not 4")
    }
}

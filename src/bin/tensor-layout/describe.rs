//! `describe`: everything about a layout.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::bridge::{Lowering, Split, lower, lower_map};
use tensor_layout::notation::{AnyLayout, Notated, Notation};
use tensor_layout::{Error, IndexMap, LayoutClass, ToIndexMap};

use crate::index_text::write_list;
use crate::output::{Object, Output, Stop, Verdict, each_line};
use crate::table::{long_bytes, percent_wasted};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layouts, or `-` to read one a line from standard input.
    #[arg(required = true, value_name = "LAYOUT")]
    layouts: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let mut first = true;
    let mut one = |layout: &str, output: &mut Output| {
        match Description::of(layout) {
            Ok(description) if output.is_json() => output.line(description.object())?,
            Ok(description) => {
                let gap = if std::mem::take(&mut first) { "" } else { "\n" };
                output.line(format_args!("{gap}{}", description.text()))?;
            }
            Err(error) => return output.refuse(layout, &error),
        }
        Ok(Verdict::Well)
    };
    let mut verdict = Verdict::Well;
    for layout in &arguments.layouts {
        verdict = verdict.and(match layout.as_str() {
            "-" => each_line(output, &mut one)?,
            layout => one(layout, output)?,
        });
    }
    Ok(verdict)
}

/// What a layout becomes in the language of sizes and strides.
pub(crate) struct Lowered {
    /// `strided`, `split` or `index_map`.
    pub(crate) name: &'static str,
    /// For an Affine layout.
    pub(crate) strides: Option<Vec<u64>>,
    pub(crate) split: Option<Split>,
    /// Why it is not strided.
    pub(crate) reason: Option<String>,
}

impl Lowered {
    pub(crate) fn of(layout: &AnyLayout, map: &IndexMap) -> Result<Lowered, Error> {
        let lowering = match layout {
            AnyLayout::Tiled(shape) => lower(shape)?,
            AnyLayout::Strided(desc) => {
                let strides = Some(desc.strides().to_vec());
                return Ok(Lowered { name: "strided", strides, split: None, reason: None });
            }
            _ => lower_map(map.clone())?,
        };
        let name = lowering.name();
        Ok(match lowering {
            Lowering::Strided(desc) => {
                Lowered { name, strides: Some(desc.strides().to_vec()), split: None, reason: None }
            }
            Lowering::Split(split) => {
                let reason = Some(why_split(&split));
                Lowered { name, strides: None, split: Some(split), reason }
            }
            Lowering::IndexMap { reason, .. } => {
                let strides = map.strides().map(|strides| strides.to_vec());
                Lowered { name, strides, split: None, reason: Some(reason) }
            }
            _ => Lowered { name, strides: None, split: None, reason: None },
        })
    }
}

/// Which dimension is cut into which digits: `dimension 0 is cut into 2 x 2 and dimension 1 into 3 x 2`.
fn why_split(split: &Split) -> String {
    let mut parts: Vec<String> = Vec::new();
    for dim in 0..split.logical_sizes.len() {
        let axes = split.dims.iter().zip(split.desc.sizes()).filter(|&(&of, _)| of == dim);
        let digits: Vec<String> = axes.map(|(_, size)| size.to_string()).collect();
        if digits.len() > 1 {
            let verb = if parts.is_empty() { "is cut " } else { "" };
            parts.push(format!("dimension {dim} {verb}into digits of {}", digits.join(" x ")));
        }
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A layout and what there is to say about it.
struct Description<'a> {
    input: &'a str,
    layout: Notated,
    map: IndexMap,
    lowered: Lowered,
    min_size_in_bytes: u64,
}

/// DirectML's rule on the places of the elements: whole bytes, rounded up to a multiple of 4.
pub(crate) fn min_size_in_bytes(map: &IndexMap) -> Result<u64, Error> {
    let bits = u128::from(map.min_elements()?) * u128::from(map.element_bits());
    let bytes = bits.div_ceil(8).next_multiple_of(4);
    u64::try_from(bytes).map_err(|_| Error::Overflow { quantity: "the size in bytes", bits: 64 })
}

impl<'a> Description<'a> {
    fn of(input: &'a str) -> Result<Description<'a>, Error> {
        let layout: Notated = input.parse()?;
        let map = layout.to_index_map()?;
        let lowered = Lowered::of(layout.layout(), &map)?;
        let min_size_in_bytes = min_size_in_bytes(&map)?;
        Ok(Description { input, layout, map, lowered, min_size_in_bytes })
    }

    fn object(&self) -> Object {
        let (map, lowered) = (&self.map, &self.lowered);
        let split = lowered.split.as_ref().map_or(
            Value::Null,
            |split| json!({ "sizes": split.desc.sizes(), "strides": split.desc.strides(), "dims": split.dims }),
        );
        Object::default()
            .with("input", self.input)
            .with("notation", self.layout.notation().name())
            .with("canonical", self.layout.to_string())
            .with("data_type", map.data_type().xla_name())
            .with("sizes", map.sizes())
            .with("logical_elements", map.logical_elements())
            .with("physical_elements", map.physical_elements())
            .with("min_size_in_bytes", self.min_size_in_bytes)
            .with("physical_size_in_bytes", map.physical_size_in_bytes())
            .with("class", map.class().name())
            .with("lowering", lowered.name)
            .with("strides", lowered.strides.clone())
            .with("split", split)
            .with("reason", lowered.reason.clone())
            .with("element_bits", map.element_bits())
            .with("base_offset", map.base())
    }

    fn text(&self) -> String {
        let (map, lowered) = (&self.map, &self.lowered);
        let (logical, physical) = (map.logical_elements(), map.physical_elements());
        let notation = match self.layout.notation() {
            Notation::Xla => "XLA",
            Notation::Strides => "sizes and strides",
            Notation::AxisOrder => "axis order",
            Notation::OneDnn => "oneDNN tag",
            Notation::CuTe => "CuTe",
            other => other.name(),
        };
        let bits = map.element_bits();
        let sizes = if map.sizes().is_empty() { "none: one element".into() } else { write_list(map.sizes()) };
        let mut lines = vec![
            self.layout.to_string(),
            format!("  notation   {notation}"),
            format!("  sizes      {sizes}, {} in {bits} bits an element", map.data_type()),
            format!("  elements   {logical} in room for {physical}: {}", padding(logical, physical)),
            format!("  memory     {} in all", long_bytes(map.physical_size_in_bytes())),
            format!("             {} is DirectML's minimum", long_bytes(self.min_size_in_bytes)),
            format!("  class      {}", class_sentence(map.class())),
        ];
        let base = if map.base() > 0 { format!(", from element {} on", map.base()) } else { String::new() };
        match (&lowered.split, &lowered.strides) {
            (Some(split), _) => {
                lines.push(format!("  lowers to  sizes   {}", write_list(split.desc.sizes())));
                lines.push(format!("             strides {}", write_list(split.desc.strides())));
                let dims: Vec<String> = split.dims.iter().map(usize::to_string).collect();
                lines.push(format!("             dims    [{}], the dimension each axis is a digit of", dims.join(",")));
            }
            (None, Some(strides)) if lowered.name == "strided" => {
                lines.push(format!("  lowers to  strides {}{base}", write_list(strides)));
            }
            _ => lines.push("  lowers to  no strides: the index map says where elements lie".into()),
        }
        if let Some(reason) = &lowered.reason {
            lines.push(format!("  because    {reason}"));
        }
        lines.join("\n")
    }
}

fn padding(logical: u64, physical: u64) -> String {
    if physical == logical {
        "no padding".into()
    } else if physical > logical {
        format!("{} ({}) padding", physical.saturating_sub(logical), percent_wasted(logical, physical))
    } else {
        "elements share places".into()
    }
}

fn class_sentence(class: LayoutClass) -> &'static str {
    match class {
        LayoutClass::Affine => "affine: one stride for each dimension",
        LayoutClass::Split => "split: each dimension is a row of digits, each with its stride",
        LayoutClass::RaggedSplit => "ragged_split: digits that do not divide each other",
        LayoutClass::Fused => "fused: some dimensions can only be placed together",
        LayoutClass::Irreducible => "irreducible: evaluated tile by tile",
        other => other.name(),
    }
}

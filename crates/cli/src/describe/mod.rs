//! `describe`: everything about a layout, or about each element of a tuple.

mod array;
#[cfg(feature = "hlo")]
mod operation;
mod tuple;

use clap::Args;
use serde_json::json;
use tensor_layout::tiled::{Shape, TpuGeneration};
use tensor_layout::{AnyLayout, Error, ToIndexMap};
use tensor_layout_text::layout::Part;
use tensor_layout_text::named::NamedLayout;
use tensor_layout_text::{Notated, Notation, Scaled, lacks_type, read_signed};

use crate::output::{Output, Stop, Texts, Verdict, each_text, refused};
use crate::rule::tpu_generation;
use crate::scaled;
use crate::table::{counted, write_list};

use array::Description;
use tuple::TupleDescription;

pub(crate) use array::{bits_in_words, min_size_in_bytes};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layouts, or `-` to read one from each line of standard input. XLA tuples are described element by
    /// element. An operation of HLO is described with its operands, and may take several lines.
    #[arg(required = true, value_name = "LAYOUT")]
    layouts: Vec<String>,
    /// Print only this notation: xla, strides, order, onednn, cute, numpy, directml, named, or as a library
    /// prints it: torch, jax, mlir, ndarray, candle, ggml or tvm.
    #[arg(long = "as", value_name = "NOTATION")]
    only: Option<Notation>,
    /// For bare sizes such as f32[13,1], use the layout that a TPU compiler picks: v2, v3, v4, v5e, v5p, v6e
    /// or v7x.
    #[arg(long, value_name = "GENERATION", value_parser = tpu_generation)]
    tpu: Option<TpuGeneration>,
    /// With `-`, also look up the names that each layout has, which takes much longer than the rest.
    #[arg(long)]
    known_as: bool,
}

#[cfg(feature = "hlo")]
const TEXTS: Texts = operation::TEXTS;
#[cfg(not(feature = "hlo"))]
const TEXTS: Texts = (|_| false, |_, _| false);

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let mut first = true;
    let mut one = |text: &str, with_names: bool, output: &mut Output| {
        let json = output.is_json();
        let layout = |text: &str| {
            read(text, arguments.tpu).and_then(|input| describe(text, input, (arguments.only, with_names), json))
        };
        #[cfg(feature = "hlo")]
        let described = match operation::read(text) {
            Some(operation) => operation.and_then(|operation| operation::describe(text, &operation, json, layout)),
            None => layout(text),
        };
        #[cfg(not(feature = "hlo"))]
        let described = layout(text);
        let described = described.map_err(refused(text))?;
        let gap = if std::mem::take(&mut first) || output.is_json() || arguments.only.is_some() { "" } else { "\n" };
        output.line(format_args!("{gap}{described}"))?;
        Ok(Verdict::Well)
    };
    let mut verdict = Verdict::Well;
    for layout in &arguments.layouts {
        let answer = match layout.as_str() {
            "-" => each_text(output, &TEXTS, |text, output| one(text, arguments.known_as, output)),
            layout => one(layout, true, output),
        };
        verdict = verdict.and(output.settle(answer)?);
    }
    Ok(verdict)
}

enum Input {
    /// A layout, and the axes that run backwards.
    Layout(Notated, Vec<usize>),
    /// A named layout of several parts, which no single index map describes.
    Parts(NamedLayout),
    /// Values with scales in planes of their own.
    Scaled(Scaled),
    /// A tuple, or a shape without elements or without a size.
    Shape(Shape),
}

fn read(text: &str, tpu: Option<TpuGeneration>) -> Result<Input, Error> {
    if let Some(scaled) = scaled::read(text) {
        return Ok(Input::Scaled(scaled?));
    }
    // A text in braces states a layout, which `--tpu` does not replace.
    let tpu = tpu.filter(|_| !text.contains('{'));
    let error = match read_signed(text) {
        Ok((layout, reversed)) => {
            let picked = match (layout.layout(), tpu) {
                (AnyLayout::Tiled(shape), Some(tpu)) if layout.notation() == Notation::Xla => {
                    shape.clone().with_tpu_layout(tpu)?
                }
                _ => return Ok(Input::Layout(layout, reversed)),
            };
            return Ok(Input::Layout(picked.into(), reversed));
        }
        Err(error) => error,
    };
    if let Ok(named) = text.parse::<NamedLayout>() {
        return Ok(Input::Parts(named));
    }
    match text.parse::<Shape>() {
        Ok(shape) => Ok(Input::Shape(match tpu {
            Some(tpu) => shape.with_tpu_layout(tpu)?,
            None => shape,
        })),
        // If the text begins like a shape of XLA, the error of reading it as a shape is returned.
        Err(_) if lacks_type(text) => Err(error),
        Err(shape) if ["(", "token", "opaque", "tuple"].iter().any(|word| text.trim_start().starts_with(word)) => {
            Err(shape)
        }
        Err(_) => Err(error),
    }
}

fn describe(
    text: &str,
    input: Input,
    (only, with_names): (Option<Notation>, bool),
    json: bool,
) -> Result<String, Error> {
    let one_notation = |written: String| match json {
        true => {
            let only = only.map(|only| only.to_string());
            json!({ "type": "text", "input": text, "as": only, "text": written }).to_string()
        }
        false => written,
    };
    match (input, only) {
        (Input::Layout(layout, _), Some(notation)) => layout.text_in(notation).map(one_notation),
        (Input::Layout(layout, reversed), None) => {
            let description = Description::of(layout, reversed, with_names)?;
            Ok(if json { description.object(Some(text)).to_string() } else { description.text() })
        }
        (Input::Scaled(scaled), None) => scaled::describe(text, &scaled, json),
        (Input::Scaled(_), Some(notation)) => {
            Err(Error::not_expressible(notation.noun(), "it has planes of values and of scales, each with a layout"))
        }
        (Input::Parts(named), Some(_)) => named.to_index_map().map(|_| String::new()),
        (Input::Parts(named), None) => Ok(parts(text, &named, json)),
        (Input::Shape(shape), Some(Notation::Xla)) => Ok(one_notation(shape.to_string())),
        (Input::Shape(_), Some(notation)) => {
            let reason = "it is not one array with a size for each dimension, and only XLA's notation has such shapes";
            Err(Error::not_expressible(notation.noun(), reason))
        }
        (Input::Shape(shape), None) => {
            let description = TupleDescription::of(&shape)?;
            Ok(if json { description.object(text).to_string() } else { description.text() })
        }
    }
}

fn parts(text: &str, named: &NamedLayout, json: bool) -> String {
    let (bytes, count) = (named.size_in_bytes(), named.parts.len());
    if json {
        let object = json!({
            "type": "parts", "input": text, "notation": "named", "canonical": named.to_string(),
            "data_type": named.type_name(), "sizes": named.logical_sizes(), "physical_size_in_bytes": bytes,
            "parts": count, "flipped_bits": named.row.flip,
        });
        return object.to_string();
    }
    // The slices of the parts say which indices each has, such as every second element.
    let line = |part: &Part| {
        let slices: Vec<String> = part.indices.iter().map(ToString::to_string).collect();
        let digits =
            tensor_layout_text::text(&part.map).unwrap_or_else(|_| format!("from element {}", part.map.base()));
        format!("\n  part       [{}]: {digits}", slices.join(","))
    };
    let mut lines: String = named.parts.iter().take(4).map(line).collect();
    if count > 4 {
        lines += &format!("\n  part       and {} others", count - 4);
    }
    if named.row.flip != 0 {
        lines += &format!("\n  bits       a copy flips {:#04x} in every byte of the last field", named.row.flip);
    }
    let blocks = named
        .blocks()
        .map(|blocks| format!("\n  bytes      {} of {blocks}", write_list(named.sizes())))
        .unwrap_or_default();
    format!("{named}{blocks}\n  buffer     {} in {}{lines}", counted(bytes, "byte"), counted(count as u64, "part"))
}

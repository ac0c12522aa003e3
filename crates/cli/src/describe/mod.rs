//! `describe`: everything about a layout, or about each element of a tuple.

mod array;
#[cfg(feature = "hlo")]
mod operation;
mod tuple;

use clap::Args;
use serde_json::json;
use tensor_layout::tiled::TpuGeneration;
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{AnyLayout, Error};
use tensor_layout_text::layout::{Plane, Role};
use tensor_layout_text::rule::tpu_generation;
use tensor_layout_text::{Layout, Notation};

use crate::output::{Output, Stop, Texts, Verdict, each_text, refused};
use crate::parts::{name_of, parts_in_words};
use crate::table::{counted, long_bytes, write_list};

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
            read(text, arguments.tpu).and_then(|layout| describe(text, &layout, (arguments.only, with_names), json))
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

fn read(text: &str, tpu: Option<TpuGeneration>) -> Result<Layout, Error> {
    let layout: Layout = text.parse()?;
    // A text in braces states a layout, which `--tpu` does not replace.
    let Some(tpu) = tpu.filter(|_| !text.contains('{')) else { return Ok(layout) };
    match (layout.shape(), layout.any()) {
        (Some(shape), _) => Ok(shape.clone().with_tpu_layout(tpu)?.into()),
        (None, Ok(AnyLayout::Tiled(shape))) if layout.notation() == Notation::Xla => {
            Ok(shape.clone().with_tpu_layout(tpu)?.into())
        }
        _ => Ok(layout),
    }
}

fn describe(
    text: &str,
    layout: &Layout,
    (only, with_names): (Option<Notation>, bool),
    json: bool,
) -> Result<String, Error> {
    if let Some(notation) = only {
        let written = layout.text_in(notation)?;
        let object = || json!({ "type": "text", "input": text, "as": notation.to_string(), "text": written });
        return Ok(if json { object().to_string() } else { written });
    }
    if let Some(shape) = layout.shape() {
        let description = TupleDescription::of(layout, shape)?;
        return Ok(if json { description.object(text).to_string() } else { description.text() });
    }
    match layout.planes() {
        [plane] => match plane.any() {
            Some(layout) => {
                let description = Description::of(plane, layout, with_names)?;
                Ok(if json { description.object(Some(text)).to_string() } else { description.text() })
            }
            None => parts(text, plane, json),
        },
        planes => planes_together(text, layout, planes, json),
    }
}

/// Describes a plane of several parts.
fn parts(text: &str, plane: &Plane, json: bool) -> Result<String, Error> {
    let (bytes, count, sizes) = (plane.size_in_bytes()?, plane.parts().len(), write_list(plane.sizes()));
    let flip = plane.parts().iter().fold(0, |flip, part| flip | part.flip);
    if json {
        let object = json!({
            "type": "parts", "input": text, "notation": "named", "canonical": plane.to_string(),
            "data_type": plane.type_name(), "sizes": plane.sizes(), "physical_size_in_bytes": bytes,
            "parts": count, "flipped_bits": flip,
        });
        return Ok(object.to_string());
    }
    let mut lines = vec![plane.to_string()];
    lines.push(format!("  sizes      {sizes}, {}", plane.type_name()));
    if let Some(blocks) = plane.blocks() {
        lines.push(format!("  bytes      {} of {blocks}", write_list(blocks.bytes().sizes())));
    }
    lines.push(format!("  buffer     {} in {}", counted(bytes, "byte"), counted(count as u64, "part")));
    lines.extend(parts_in_words(plane.parts()));
    if flip != 0 {
        lines.push(format!("  bits       a copy flips {flip:#04x} in every byte of the last field"));
    }
    Ok(lines.join("\n"))
}

/// Describes values with scales, or the planes of a frame: each plane, and all of them in one buffer.
fn planes_together(text: &str, layout: &Layout, planes: &[Plane], json: bool) -> Result<String, Error> {
    let (packed, frame) = (layout.packed(&DeviceLimits::none())?, layout.frame());
    let count: u64 = layout.sizes().iter().product();
    let per = |plane: &Plane| match plane.role() {
        Role::Scales { per } | Role::Component { per, .. } => Some(per.clone()),
        _ => None,
    };
    let others = || frame.iter().flat_map(|frame| frame.format().other.split_whitespace()).collect::<Vec<_>>();
    if json {
        let mut objects = Vec::new();
        for (plane, offset) in planes.iter().zip(&packed.offsets) {
            let bytes = plane.size_in_bytes()?;
            let mut object =
                json!({ "layout": plane.to_string(), "block": per(plane), "bytes": bytes, "offset": offset });
            if frame.is_some() {
                object["name"] = name_of(plane).into();
            }
            objects.push(object);
        }
        let mut object = json!({
            "type": "scaled", "input": text, "canonical": layout.to_string(), "sizes": layout.sizes(),
            "logical_elements": count, "planes": objects, "packed_bytes": packed.len,
        });
        if let Some(frame) = frame {
            object["type"] = "frame".into();
            object["surfaces"] = frame.format().surfaces.into();
            object["other_names"] = others().into();
        }
        return Ok(object.to_string());
    }
    let mut lines = vec![layout.to_string()];
    for plane in planes {
        let by = |per: Vec<u64>| per.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
        let per = per(plane).filter(|per| frame.is_none() || per.iter().any(|&per| per > 1)).map(by);
        match frame {
            Some(_) => lines.push(format!("  {:<10} {plane}", name_of(plane))),
            None => {
                let bytes = counted(plane.size_in_bytes()?, "byte");
                lines.push(format!("  {:<10} {plane}, {bytes}", format!("{}s", name_of(plane))));
            }
        }
        let of = if frame.is_some() { "pixels" } else { "values" };
        lines.extend(per.map(|per| format!("             one for each {per} {of}")));
    }
    let bits = packed.len as f64 * 8.0 / count.max(1) as f64;
    let Some(frame) = frame else {
        lines.push(format!("  memory     {}, {bits:.4} bits a value with the scales", long_bytes(packed.len)));
        lines.push(format!("  packed     at bytes {} (`check --limits` has a device's)", write_list(&packed.offsets)));
        return Ok(lines.join("\n"));
    };
    lines.push(format!("  memory     {}, {bits:.4} bits a pixel", long_bytes(packed.len)));
    lines.push(format!("  surfaces   {}", frame.format().surfaces));
    lines.extend((!others().is_empty()).then(|| format!("  also       {}", others().join(", "))));
    if !frame.broken_rules(&DeviceLimits::webgpu()).is_empty() {
        lines.push("  odd        Vulkan, Direct3D 12 and WebGPU refuse it, as colours have half of an odd size".into());
    }
    Ok(lines.join("\n"))
}

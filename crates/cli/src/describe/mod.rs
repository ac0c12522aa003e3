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
use tensor_layout_text::kv::{KvCache, Pages};
use tensor_layout_text::layout::{Plane, Role};
use tensor_layout_text::rule::tpu_generation;
use tensor_layout_text::{Layout, Notation};

use crate::answer::Answer;
use crate::output::{Output, Stop, Texts, Verdict, each_text, refused};
use crate::parts::{name_of, parts_in_words};
use crate::table::{counted, long_bytes, write_list};

use array::Description;

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
) -> Result<Answer, Error> {
    let answer = |kind: &str| {
        let mut answer = Answer::new(json, kind);
        answer.key("input", text);
        answer
    };
    if let Some(notation) = only {
        let (written, mut answer) = (layout.to_notation(notation)?, answer("text"));
        answer.keys(|| json!({ "as": notation.to_string(), "text": written }));
        answer.line(written.as_str());
        return Ok(answer);
    }
    if let Some(shape) = layout.shape() {
        return tuple::say(layout, shape, answer("tuple"));
    }
    if let Some(pages) = layout.pages() {
        return fields(layout, pages, answer("pages"));
    }
    match layout.planes() {
        [plane] => {
            let mut answer = match plane.any() {
                Some(layout) => {
                    let mut answer = answer("layout");
                    Description::of(plane, layout, with_names)?.say(&mut answer);
                    answer
                }
                None => parts(plane, answer("parts"))?,
            };
            if let Some(cache) = layout.cache() {
                say_pages(cache, &mut answer);
            }
            Ok(answer)
        }
        planes => {
            let kind = if layout.frame().is_some() { "frame" } else { "scaled" };
            planes_together(layout, planes, answer(kind))
        }
    }
}

/// Says whether the pages of a cache are padded, and whose blocks these are.
fn say_pages(cache: &KvCache, answer: &mut Answer) {
    let (page, tokens) = (cache.page_bytes(), cache.block_tokens());
    answer.keys(|| {
        json!({
            "page_bytes": page.map(|page| page.0), "page_padding_bytes": page.map(|page| page.0.saturating_sub(page.1)),
            "manager_tokens": tokens.map(|tokens| tokens.0), "kernel_tokens": tokens.map(|tokens| tokens.1),
        })
    });
    if let Some((distance, stored)) = page {
        answer.says("pages", padded(distance, distance.saturating_sub(stored)));
    }
    match tokens {
        Some((manager, kernel)) if manager == kernel => {
            answer.says("blocks", format_args!("of {manager} tokens, for the manager and for the kernel"));
        }
        Some((manager, kernel)) => {
            let count = manager.checked_div(kernel).unwrap_or(1);
            let words =
                format_args!("of {manager} tokens for the manager, each {count} blocks of {kernel} for the kernel");
            answer.says("blocks", words);
        }
        None => {}
    }
}

/// Says how far pages are apart, and how much of that is padding.
fn padded(distance: u64, padding: u64) -> String {
    match padding {
        0 => format!("{} apart, without padding", counted(distance, "byte")),
        _ => format!("{} apart, {padding} of them padding", counted(distance, "byte")),
    }
}

/// Describes pages of several kinds of state: each field, and what a page is.
fn fields(layout: &Layout, pages: &Pages, mut answer: Answer) -> Result<Answer, Error> {
    let bytes = layout.size_in_bytes()?;
    answer.keys(|| json!({ "canonical": layout.to_string() }));
    answer.line(layout);
    let mut objects = Vec::new();
    for (plane, field) in layout.planes().iter().zip(pages.fields()) {
        let end = field.offset.saturating_add(field.bytes);
        objects.push(json!({
            "name": field.name, "layout": plane.to_string(), "sizes": plane.sizes(), "bytes": field.bytes,
            "offset": field.offset,
        }));
        answer.says(&field.name, plane);
        answer.says("", format_args!("bytes {} to {end} of a page", field.offset));
        answer.lines(parts_in_words(plane.parts()).filter(|_| plane.parts().len() > 1));
    }
    answer.keys(|| {
        json!({
            "planes": objects, "pages": pages.count(), "pages_in_memory": pages.total(),
            "page_bytes": pages.distance(), "page_padding_bytes": pages.padding(), "packed_bytes": bytes,
        })
    });
    let of = if pages.count() == pages.total() { String::new() } else { format!(" of {}", pages.total()) };
    let padding = padded(pages.distance(), pages.padding());
    answer.says("pages", format_args!("{}{of}, {padding}", pages.count()));
    answer.says("memory", long_bytes(bytes));
    Ok(answer)
}

fn parts(plane: &Plane, mut answer: Answer) -> Result<Answer, Error> {
    let (bytes, count, sizes) = (plane.size_in_bytes()?, plane.parts().len(), write_list(plane.sizes()));
    let flip = plane.parts().iter().fold(0, |flip, part| flip | part.flip);
    answer.keys(|| {
        json!({
            "notation": "named", "canonical": plane.to_string(), "data_type": plane.type_name(), "sizes": plane.sizes(),
            "physical_size_in_bytes": bytes, "parts": count, "flipped_bits": flip,
        })
    });
    answer.line(plane);
    answer.says("sizes", format_args!("{sizes}, {}", plane.type_name()));
    if let Some(blocks) = plane.blocks() {
        answer.says("bytes", format_args!("{} of {blocks}", write_list(blocks.bytes().sizes())));
    }
    answer.says("buffer", format_args!("{} in {}", counted(bytes, "byte"), counted(count as u64, "part")));
    answer.lines(parts_in_words(plane.parts()));
    if flip != 0 {
        answer.says("bits", format_args!("a copy flips {flip:#04x} in every byte of the values"));
    }
    Ok(answer)
}

/// Describes values with scales, or the planes of a frame: each plane, and all of them in one buffer.
fn planes_together(layout: &Layout, planes: &[Plane], mut answer: Answer) -> Result<Answer, Error> {
    let (packed, frame) = (layout.packed(&DeviceLimits::none())?, layout.frame());
    let count: u64 = layout.sizes().iter().product();
    let bits = packed.len as f64 * 8.0 / count.max(1) as f64;
    answer.keys(|| json!({ "canonical": layout.to_string(), "sizes": layout.sizes(), "logical_elements": count }));
    answer.line(layout);
    let mut objects = Vec::new();
    for (plane, offset) in planes.iter().zip(&packed.offsets) {
        let (bytes, name) = (plane.size_in_bytes()?, name_of(plane));
        let per = match plane.role() {
            Role::Scales { per } | Role::Component { per, .. } => Some(per),
            _ => None,
        };
        let mut object = json!({ "layout": plane.to_string(), "block": per, "bytes": bytes, "offset": offset });
        let of = match frame {
            Some(_) => {
                object["name"] = name.as_str().into();
                answer.says(&name, plane);
                "pixels"
            }
            None => {
                answer.says(&format!("{name}s"), format_args!("{plane}, {}", counted(bytes, "byte")));
                "values"
            }
        };
        objects.push(object);
        if let Some(per) = per.filter(|per| frame.is_none() || per.iter().any(|&per| per > 1)) {
            let per: Vec<String> = per.iter().map(u64::to_string).collect();
            answer.says("", format_args!("one for each {} {of}", per.join(" x ")));
        }
    }
    answer.keys(|| json!({ "planes": objects, "packed_bytes": packed.len }));
    let memory = long_bytes(packed.len);
    let Some(frame) = frame else {
        answer.says("memory", format_args!("{memory}, {bits:.4} bits a value with the scales"));
        let offsets = write_list(&packed.offsets);
        answer.says("packed", format_args!("at bytes {offsets} (`check --limits` has a device's)"));
        return Ok(answer);
    };
    answer.says("memory", format_args!("{memory}, {bits:.4} bits a pixel"));
    answer.fact("surfaces", Some(frame.format().surfaces), "surfaces", |surfaces| surfaces.to_string());
    let others: Vec<&str> = frame.format().other.split_whitespace().collect();
    answer.key("other_names", &others);
    answer.lines((!others.is_empty()).then(|| format!("  also       {}", others.join(", "))));
    let refusing = DeviceLimits::names().filter(|name| {
        let limits = name.parse::<DeviceLimits>();
        limits.is_ok_and(|limits| !frame.broken_rules(&limits).is_empty())
    });
    let refusing: Vec<&str> = refusing.collect();
    answer.key("odd_for", &refusing);
    if !refusing.is_empty() {
        let names = refusing.join(", ");
        answer.says("odd", format_args!("halves of odd sizes are rounded up; `check` refuses it for {names}"));
    }
    Ok(answer)
}

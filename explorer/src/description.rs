//! Everything about one layout.

use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{Error, LayoutClass, ToIndexMap};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::read_list;

use crate::answer::{list, read};

pub(crate) fn describe(text: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let map = layout.to_index_map()?;
    let lines: Vec<Value> = layout
        .lines()
        .into_iter()
        .map(|line| {
            let reason = line.reason();
            json!({
                "notation": line.notation.to_string(),
                "title": line.notation.title(),
                "text": line.text.ok(),
                "reason": reason,
            })
        })
        .collect();
    let (logical, physical) = (map.element_count(), map.physical_elements());
    let bits = u128::from(map.element_bits());
    let min_bytes = u128::from(map.span_elements()).saturating_mul(bits).div_ceil(8).next_multiple_of(4);
    Ok(json!({
        "canonical": layout.to_string(),
        "notation": layout.notation().to_string(),
        "data_type": map.data_type().to_string(),
        "element_bits": map.element_bits(),
        "sizes": list(map.sizes()),
        "logical_elements": logical.to_string(),
        "physical_elements": physical.to_string(),
        "logical_size_in_bytes": u128::from(logical).saturating_mul(bits).div_ceil(8).to_string(),
        "min_size_in_bytes": min_bytes.to_string(),
        "physical_size_in_bytes": map.physical_size_in_bytes().to_string(),
        "base_offset": map.base().to_string(),
        "class": map.class().to_string(),
        "class_words": class_words(map.class()),
        "lowering": lowering(layout.layout())?,
        "notations": lines,
    }))
}

pub(crate) fn picture(text: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let picture = Picture::corner(&layout.to_index_map()?, &layout.to_string())?;
    Ok(json!({ "svg": picture.to_svg() }))
}

pub(crate) fn picture_around(text: &str, index: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let index = read_list(index, "an index")?;
    let picture = Picture::around(&layout.to_index_map()?, &layout.to_string(), &index)?;
    Ok(json!({ "svg": picture.to_svg() }))
}

/// What the layout is in sizes and strides, and why it is not if it is not.
fn lowering(layout: &AnyLayout) -> Result<Value, Error> {
    let lowering = lower(layout)?;
    let (name, reason) = (lowering.name(), lowering.reason());
    Ok(match lowering {
        Lowering::Strided(desc) => {
            json!({ "name": name, "sizes": list(desc.sizes()), "strides": list(desc.strides()) })
        }
        Lowering::Split(split) => json!({
            "name": name,
            "sizes": list(split.desc.sizes()),
            "strides": list(split.desc.strides()),
            "dims": split.dims,
            "reason": reason,
        }),
        _ => json!({ "name": name, "reason": reason }),
    })
}

fn class_words(class: LayoutClass) -> &'static str {
    match class {
        LayoutClass::Affine => "one stride for each dimension",
        LayoutClass::Split => "each dimension is a row of digits, each with its stride",
        LayoutClass::RaggedSplit => "digits that do not divide each other",
        LayoutClass::Fused => "some dimensions can only be placed together",
        LayoutClass::Swizzled => "digits, and then bits of the offset that higher bits flip",
        LayoutClass::Irreducible => "evaluated tile by tile",
        _ => "other",
    }
}

//! Everything about one layout.

use serde_json::{Value, json};
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{Error, IndexMap, LayoutClass};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::{Layout, read_list};

use crate::answer::{list, read};

pub(crate) fn describe(text: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let values = layout.values();
    let maps = || values.parts().iter().map(|part| &part.map);
    let first = maps().next().ok_or_else(|| layout.whole().err().unwrap_or_else(no_elements))?;
    let lines: Vec<Value> = layout
        .all_notations()
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
    let logical = maps().fold(0, |sum: u64, map| sum.saturating_add(map.element_count()));
    let most = |of: fn(&IndexMap) -> u64| maps().map(of).max().unwrap_or(0);
    let bits = u128::from(first.element_bits());
    let span = u128::from(most(IndexMap::span_elements));
    let min_bytes = span.saturating_mul(bits).div_ceil(8).next_multiple_of(4);
    // The arrays of a tuple have buffers of their own.
    let size = match layout.is_tuple() {
        true => layout
            .planes()
            .iter()
            .try_fold(0, |sum: u64, plane| Ok::<_, Error>(sum.saturating_add(plane.size_in_bytes()?)))?,
        false => layout.size_in_bytes()?,
    };
    let (class, class_words) = match layout.whole() {
        Ok(map) => (map.class().to_string(), class_words(map.class()).to_owned()),
        Err(reason) => ("several".into(), reason.found().to_owned()),
    };
    Ok(json!({
        "canonical": layout.to_string(),
        "notation": layout.notation().to_string(),
        "data_type": first.data_type().to_string(),
        "element_bits": first.element_bits(),
        "sizes": list(layout.sizes()),
        "logical_elements": logical.to_string(),
        "physical_elements": most(IndexMap::physical_elements).to_string(),
        "logical_size_in_bytes": u128::from(logical).saturating_mul(bits).div_ceil(8).to_string(),
        "min_size_in_bytes": min_bytes.to_string(),
        "physical_size_in_bytes": size.to_string(),
        "base_offset": maps().map(IndexMap::base).min().unwrap_or(0).to_string(),
        "class": class,
        "class_words": class_words,
        "lowering": lowering(&layout)?,
        "notations": lines,
    }))
}

pub(crate) fn picture(text: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let picture = Picture::corner(layout.values(), &layout.to_string())?;
    Ok(json!({ "svg": picture.to_svg() }))
}

pub(crate) fn picture_around(text: &str, index: &str) -> Result<Value, Error> {
    let layout = read(text)?;
    let index = read_list(index, "an index")?;
    let picture = Picture::around(layout.values(), &layout.to_string(), &index)?;
    Ok(json!({ "svg": picture.to_svg() }))
}

/// What the layout is in sizes and strides, and why it is not if it is not.
fn lowering(layout: &Layout) -> Result<Value, Error> {
    let lowering = match layout.any() {
        Ok(one) => lower(one)?,
        Err(error) => return Ok(json!({ "name": "none", "reason": error.found() })),
    };
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

fn no_elements() -> Error {
    Error::not_expressible("description", "it has no elements")
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

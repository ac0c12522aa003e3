//! From an index to its offset and back.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_text::{Layout, read_list};

use crate::answer::{list, number, read, with};

pub(crate) fn of_index(layout: &str, index: &str) -> Result<Value, Error> {
    let layout = read(layout)?;
    let index = if index.trim().is_empty() { Vec::new() } else { read_list(index, "an index")? };
    let place = layout.values().place(&index)?;
    // The map of a tensor of blocks has the bytes of the blocks.
    let in_map = if layout.blocks().is_some() { &place.index } else { &index };
    Ok(with(element(&layout, in_map, place.offset)?, "index", list(&index)))
}

pub(crate) fn of_offset(layout: &str, offset: &str) -> Result<Value, Error> {
    let layout = read(layout)?;
    let offset = number(offset, "an offset in elements")?.unwrap_or(0);
    match layout.values().index_at(offset)? {
        Some(index) => element(&layout, &index, offset),
        None => {
            let sizes = written(layout.sizes());
            let step = format!("no element of [{sizes}] is stored at offset {offset}: it is padding");
            Ok(json!({ "index": null, "offset": offset.to_string(), "padding": true, "steps": [step] }))
        }
    }
}

fn element(layout: &Layout, index: &[u64], offset: u64) -> Result<Value, Error> {
    let steps = match layout.any() {
        Ok(one) => tensor_layout_text::offset_steps(one, index)?,
        Err(_) => vec![format!("element {offset} of the buffer")],
    };
    Ok(json!({
        "index": list(index),
        "offset": offset.to_string(),
        "padding": false,
        "steps": steps,
    }))
}

pub(crate) fn written(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(",")
}

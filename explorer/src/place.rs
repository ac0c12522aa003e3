//! From an index to its offset and back.

use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::read_list;

use crate::answer::{list, number, read};

pub(crate) fn of_index(layout: &str, index: &str) -> Result<Value, Error> {
    let layout = read(layout)?;
    let index = if index.trim().is_empty() { Vec::new() } else { read_list(index, "an index")? };
    element(layout.layout(), &index, layout.to_index_map()?.offset(&index)?)
}

pub(crate) fn of_offset(layout: &str, offset: &str) -> Result<Value, Error> {
    let layout = read(layout)?;
    let map = layout.to_index_map()?;
    let offset = number(offset, "an offset in elements")?.unwrap_or(0);
    match map.inverse(offset)? {
        Some(index) => element(layout.layout(), &index, offset),
        None => {
            let step = format!("no element of [{}] is stored at offset {offset}: it is padding", written(map.sizes()));
            Ok(json!({ "index": null, "offset": offset.to_string(), "padding": true, "steps": [step] }))
        }
    }
}

fn element(layout: &AnyLayout, index: &[u64], offset: u64) -> Result<Value, Error> {
    Ok(json!({
        "index": list(index),
        "offset": offset.to_string(),
        "padding": false,
        "steps": tensor_layout_text::offset_steps(layout, index)?,
    }))
}

pub(crate) fn written(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(",")
}

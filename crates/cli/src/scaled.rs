//! Values with scales in planes of their own: what each command answers for the planes together.

use serde_json::json;
use tensor_layout::upload::{DeviceLimits, PackedBuffer};
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::Scaled;

use crate::table::{counted, long_bytes, write_list};

/// Returns the tensor of a text that has scales. `None` for other texts.
pub(crate) fn read(text: &str) -> Option<Result<Scaled, Error>> {
    text.contains(Scaled::WORD).then(|| text.parse())
}

/// The planes one after the other, as `convert` reads and writes them: each begins at a whole element.
pub(crate) fn in_a_file(scaled: &Scaled) -> Result<PackedBuffer, Error> {
    scaled.tensor()?.pack(&DeviceLimits::none())
}

fn bytes(layout: &impl ToIndexMap) -> Result<u64, Error> {
    Ok(layout.to_index_map()?.physical_size_in_bytes())
}

pub(crate) fn describe(input: &str, scaled: &Scaled, json: bool) -> Result<String, Error> {
    let packed = in_a_file(scaled)?;
    let (count, sizes) = scaled.values().to_index_map().map(|map| (map.element_count(), map.sizes().to_vec()))?;
    if json {
        let plane = |(layout, block): (String, Option<&Vec<u64>>), bytes: u64, offset: u64| json!({ "layout": layout, "block": block, "bytes": bytes, "offset": offset });
        let blocks = std::iter::once(None).chain(scaled.scales().iter().map(|(_, block)| Some(block)));
        let mut planes = Vec::new();
        for ((layout, block), &offset) in scaled.planes().zip(blocks).zip(&packed.offsets) {
            planes.push(plane((layout.to_string(), block), bytes(layout)?, offset));
        }
        return Ok(json!({
            "type": "scaled", "input": input, "canonical": scaled.to_string(), "sizes": sizes,
            "logical_elements": count, "planes": planes, "packed_bytes": packed.len,
        })
        .to_string());
    }
    let values = scaled.values();
    let mut lines = vec![scaled.to_string(), format!("  values     {values}, {}", counted(bytes(values)?, "byte"))];
    for (layout, block) in scaled.scales() {
        let axes: Vec<String> = block.iter().map(u64::to_string).collect();
        lines.push(format!("  scales     {layout}, {}", counted(bytes(layout)?, "byte")));
        lines.push(format!("             one for each {} values", axes.join(" x ")));
    }
    let bits = packed.len as f64 * 8.0 / count.max(1) as f64;
    lines.push(format!("  memory     {}, {bits:.4} bits a value with the scales", long_bytes(packed.len)));
    lines.push(format!("  packed     at bytes {} (`check --limits` has a device's)", write_list(&packed.offsets)));
    Ok(lines.join("\n"))
}

/// Returns the index of the element of each plane that a value has, the values first.
pub(crate) fn places(scaled: &Scaled, index: &[u64]) -> Vec<(String, Vec<u64>)> {
    let ones = vec![1; index.len()];
    let blocks = std::iter::once(&ones).chain(scaled.scales().iter().map(|(_, block)| block));
    let place =
        |block: &Vec<u64>| index.iter().zip(block).map(|(i, block)| i.checked_div(*block).unwrap_or(0)).collect();
    scaled.planes().map(ToString::to_string).zip(blocks.map(place)).collect()
}

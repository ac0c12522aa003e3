//! What the commands say of the parts of a layout, and of axes that run backwards.

use serde_json::{Value, json};
use tensor_layout_text::layout::{Part, Plane, Role};

use crate::table::write_list;

/// The parts of a plane for people, the first four of them.
pub(crate) fn parts_in_words(parts: &[Part]) -> impl Iterator<Item = String> {
    let line = |part: &Part| {
        let text =
            tensor_layout_text::to_text(&part.map).unwrap_or_else(|_| format!("from element {}", part.map.base()));
        format!("  part       {}: {text}", indices_of(part))
    };
    let others = (parts.len() > 4).then(|| format!("  part       and {} others", parts.len().saturating_sub(4)));
    parts.iter().take(4).map(line).chain(others)
}

pub(crate) fn indices_of(part: &Part) -> String {
    let slices: Vec<String> = part.indices.iter().map(ToString::to_string).collect();
    format!("[{}]", slices.join(","))
}

/// Writes the index of an element in a tuple as XLA does: `{1,0}`.
pub(crate) fn path_in_words(path: &[usize]) -> String {
    let numbers: Vec<String> = path.iter().map(usize::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// The name of a plane: the component of a frame, the index in a tuple, or what the plane holds.
pub(crate) fn name_of(plane: &Plane) -> String {
    match plane.role() {
        Role::Element { path } => path_in_words(path),
        role => role.name().map_or_else(|| role.noun().to_owned(), Into::into),
    }
}

pub(crate) fn part_object(part: &Part) -> Value {
    let text = tensor_layout_text::to_text(&part.map).ok();
    json!({ "indices": indices_of(part), "layout": text, "base_offset": part.map.base() })
}

/// Says which axes run backwards, and where index 0 is stored.
pub(crate) fn reversed_line(plane: &Plane) -> Option<String> {
    let axes: Vec<u64> = plane.reversed().iter().map(|&axis| axis as u64).collect();
    let unit = if plane.blocks().is_some() { "byte" } else { "element" };
    let (zeros, first) = (vec![0; plane.sizes().len()], plane.first()?);
    (!axes.is_empty()).then(|| {
        let (axes, zeros) = (write_list(&axes), write_list(&zeros));
        format!("  reversed   axes {axes}: index {zeros} is stored at {unit} {first}")
    })
}

//! Views: the same data under other sizes.

use serde_json::{Value, json};
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::ViewStep;

use crate::answer::{fault, list, read};

pub(crate) fn view(layout: &str, steps: &str) -> Result<Value, Error> {
    let mut layout = read(layout)?.layout().clone();
    for (number, line) in steps.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        let sizes = layout.to_index_map()?.sizes().to_vec();
        match ViewStep::read_on(name, argument, &sizes).and_then(|step| step.apply(&layout)) {
            Ok(view) => layout = view,
            // Which of the steps is none.
            Err(error) => return Ok(json!({ "error": fault(&error), "step": number })),
        }
    }
    let (map, text) = (layout.to_index_map()?, tensor_layout_text::text(&layout).ok());
    Ok(json!({ "layout": text, "class": map.class().to_string(), "sizes": list(map.sizes()) }))
}

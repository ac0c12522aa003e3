//! Views: the same data under other sizes.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout_text::{Layout, ViewStep};

use crate::answer::{fault, list, read};

pub(crate) fn view(layout: &str, steps: &str) -> Result<Value, Error> {
    let mut layout = read(layout)?;
    for (number, line) in steps.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        match ViewStep::read_on(name, argument, layout.sizes()).and_then(|step| layout.view(&step)) {
            Ok(view) => layout = view,
            // Which of the steps is none.
            Err(error) => return Ok(json!({ "error": fault(&error), "step": number })),
        }
    }
    let class = layout.whole().map_or_else(|_| "several".to_owned(), |map| map.class().to_string());
    let text = Some(layout.to_string()).filter(|text| text.parse::<Layout>().is_ok());
    Ok(json!({ "layout": text, "class": class, "sizes": list(layout.sizes()) }))
}

//! An operation of HLO as people paste it: its result, and each operand whose shape it states.

use serde_json::{Map, Value, json};
use tensor_layout::Error;
use tensor_layout_hlo::Operation;

use crate::output::Texts;

/// The lines that one operation takes.
pub(super) const TEXTS: Texts = (Operation::begins, Operation::goes_on);

/// The most characters of an attribute that are shown to people.
const SHOWN: usize = 60;

/// Returns the operation that a text begins. `None` for other texts.
pub(super) fn read(text: &str) -> Option<Result<Operation<'_>, Error>> {
    Operation::begins(text).then(|| Operation::read(text))
}

/// Describes the operation. `layout` describes the text of a shape: an object with `json`.
pub(super) fn describe(
    text: &str,
    operation: &Operation<'_>,
    json: bool,
    layout: impl Fn(&str) -> Result<String, Error>,
) -> Result<String, Error> {
    let Operation { name, opcode, shape, operands, attributes, is_root } = operation;
    if json {
        let object = |shape: &str| {
            let text = layout(shape)?;
            Ok::<Value, Error>(serde_json::from_str(&text).unwrap_or(Value::String(text)))
        };
        let operand = |operand: &tensor_layout_hlo::Operand<'_>| {
            let layout = operand.shape.map(object).transpose()?;
            Ok(json!({ "name": operand.name, "layout": layout }))
        };
        let pairs = attributes.iter().map(|part| part.split_once('=').unwrap_or((part, "")));
        let attributes: Map<String, Value> =
            pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().into())).collect();
        return Ok(json!({
            "type": "operation", "input": text, "name": name, "opcode": opcode, "is_root": is_root,
            "result": object(shape)?, "operands": operands.iter().map(operand).collect::<Result<Vec<Value>, Error>>()?,
            "attributes": attributes,
        })
        .to_string());
    }
    let shown = |text: &&str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        match words.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", words.get(..end).unwrap_or("")),
            None => words,
        }
    };
    let attributes: Vec<String> = attributes.iter().map(shown).collect();
    let attributes = if attributes.is_empty() { String::new() } else { format!(", {}", attributes.join(", ")) };
    let root = if *is_root { ", the result of its computation" } else { "" };
    let mut answer = format!("{name}: {opcode}{attributes}{root}\n\nresult     {}", layout(shape)?);
    let mut named = Vec::new();
    for (number, operand) in operands.iter().enumerate() {
        match operand.shape {
            Some(shape) => {
                let name = if operand.name.is_empty() { String::new() } else { format!("{}, ", operand.name) };
                answer += &format!("\n\noperand {number}  {name}{}", layout(shape)?);
            }
            None => named.push(operand.name),
        }
    }
    match named.as_slice() {
        [] => {}
        [one] => answer += &format!("\n\nThe text does not say the shape of {one}."),
        [names @ .., last] => {
            answer += &format!("\n\nThe text does not say the shapes of {} and {last}.", names.join(", "));
        }
    }
    Ok(answer)
}

//! An operation of HLO as people paste it: its result, and each operand whose shape it states.

use serde_json::{Map, Value, json};
use tensor_layout::Error;
use tensor_layout_hlo::Operation;

use crate::answer::Answer;
use crate::output::Texts;

/// Says which line begins an operation, and whether the next line goes on with it.
pub(super) const TEXTS: Texts = (Operation::begins, Operation::goes_on);

/// The most characters of an attribute that are shown to people.
const SHOWN: usize = 60;

/// Returns the operation that a text begins. `None` for other texts.
pub(super) fn read(text: &str) -> Option<Result<Operation<'_>, Error>> {
    Operation::begins(text).then(|| Operation::read(text))
}

pub(super) fn describe(
    text: &str,
    operation: &Operation<'_>,
    json: bool,
    layout: impl Fn(&str) -> Result<Answer, Error>,
) -> Result<Answer, Error> {
    let Operation { name, opcode, shape, operands, attributes, is_root } = operation;
    let mut answer = Answer::new(json, "operation");
    let shown = |text: &&str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        match words.char_indices().nth(SHOWN) {
            Some((end, _)) => format!(", {}...", words.get(..end).unwrap_or("")),
            None => format!(", {words}"),
        }
    };
    let root = if *is_root { ", the result of its computation" } else { "" };
    let result = layout(shape)?;
    answer.line(format_args!("{name}: {opcode}{}{root}", attributes.iter().map(shown).collect::<String>()));
    answer.line(format_args!("\nresult     {result}"));
    answer.keys(|| {
        json!({
            "input": text, "name": name, "opcode": opcode, "is_root": is_root, "result": result.into_object(),
        })
    });
    let (mut objects, mut named) = (Vec::new(), Vec::new());
    for (number, operand) in operands.iter().enumerate() {
        let described = operand.shape.map(&layout).transpose()?;
        match &described {
            Some(described) => {
                let name = if operand.name.is_empty() { String::new() } else { format!("{}, ", operand.name) };
                answer.line(format_args!("\noperand {number}  {name}{described}"));
            }
            None => named.push(operand.name),
        }
        objects.push(json!({ "name": operand.name, "layout": described.map(Answer::into_object) }));
    }
    match named.as_slice() {
        [] => {}
        [one] => answer.line(format_args!("\nThe text does not say the shape of {one}.")),
        [names @ .., last] => {
            answer.line(format_args!("\nThe text does not say the shapes of {} and {last}.", names.join(", ")));
        }
    }
    answer.keys(|| {
        let pairs = attributes.iter().map(|part| part.split_once('=').unwrap_or((part, "")));
        let pairs = pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().into()));
        json!({ "operands": objects, "attributes": pairs.collect::<Map<String, Value>>() })
    });
    Ok(answer)
}

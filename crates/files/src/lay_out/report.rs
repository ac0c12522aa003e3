//! `Report`: what came of laying out a model, with its sums, and its rows as objects.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::words::each_once;

use crate::Readers;
use crate::error::printable;

use super::Written;
use super::row::{Answer, LaidOut, Refusal, Row};

/// What [`lay_out`](super::lay_out) found and wrote.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// A row for each tensor, in the order of the files and of the tensors in each file.
    pub rows: Vec<Row>,
    /// The names of the parts, which the rows number.
    pub parts: Vec<String>,
    /// Whether the model has parts.
    pub is_sharded: bool,
    /// What the readers of a GGUF file say.
    pub readers: Option<Readers>,
    /// What was written.
    pub written: Written,
}

/// The sums of a [`Report`]. They have 128 bits, because tensors of a hostile file may take more than 64
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// The bytes without padding.
    pub packed: u128,
    /// The bytes in the new layouts.
    pub laid_out: u128,
    /// The tensors that came back bit by bit.
    pub identical: usize,
    /// The tensors that break no rule of the limits.
    pub accepted: usize,
    /// The tensors that have no new layout, or whose copy was refused.
    pub refused: usize,
    /// The tensors that the file does not have at a multiple of the size of their elements.
    pub unaligned: usize,
    /// The bytes of these tensors in the file.
    pub unaligned_bytes: u64,
}

/// The code of the rule that a device lacks a data type.
const NO_TYPE: &str = "unsupported_data_type";

impl Report {
    /// The sums of all rows.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for row in &self.rows {
            let (plan, add) =
                (row.outcome.as_ref().ok(), |sum: &mut usize, holds| *sum = sum.saturating_add(usize::from(holds)));
            totals.packed = totals.packed.saturating_add(plan.map_or(0, |plan| plan.packed_bytes.into()));
            totals.laid_out = totals.laid_out.saturating_add(plan.map_or(0, |plan| plan.bytes.into()));
            add(&mut totals.identical, row.identical() == Some(true));
            add(&mut totals.accepted, plan.is_some_and(|plan| plan.refusals.is_empty()));
            add(&mut totals.refused, plan.is_none_or(|plan| matches!(plan.answer, Answer::Refused(_))));
            add(&mut totals.unaligned, !row.is_aligned);
            let unaligned = if row.is_aligned { 0 } else { row.held_bytes };
            totals.unaligned_bytes = totals.unaligned_bytes.saturating_add(unaligned);
        }
        totals
    }

    /// Returns a sentence for each rule of the limits called `limits` that tensors break. One sentence counts
    /// the data types that the device does not have. Every other sentence names the first tensor that breaks
    /// the rule.
    #[must_use]
    pub fn refusals(&self, limits: &str) -> Vec<String> {
        let plans = || self.rows.iter().filter_map(|row| Some((row, row.outcome.as_ref().ok()?)));
        let refusals = || plans().flat_map(|(row, plan)| plan.refusals.iter().map(move |refusal| (row, refusal)));
        let all_with = |code: &'static str| refusals().filter(move |(_, refusal)| refusal.code == code);
        let rows = self.rows.len();
        let sentence = |count: usize, what: String| format!("{count} of {rows} refused by {limits}: {what}");
        let types = || all_with(NO_TYPE).filter_map(|(_, refusal)| refusal.what.as_deref());
        let mut sentences = Vec::new();
        if types().next().is_some() {
            let count = |name: &str| types().filter(|other| *other == name).count();
            let list: Vec<String> = each_once(types()).iter().map(|name| format!("{} {name}", count(name))).collect();
            let verb = if types().count() == 1 { "has" } else { "have" };
            sentences.push(sentence(types().count(), format!("{} {verb} no type there", list.join(", "))));
        }
        let others = each_once(refusals().map(|(_, refusal)| refusal.code).filter(|code| *code != NO_TYPE));
        sentences.extend(others.into_iter().filter_map(|code| {
            let (row, first) = all_with(code).find_map(|(row, refusal)| Some((row, refusal.what.as_deref()?)))?;
            let count = all_with(code).count();
            let more = if count == 1 { String::new() } else { format!(" (and {} more)", count.saturating_sub(1)) };
            Some(sentence(count, format!("{}: {first}{more}", printable(&row.name))))
        }));
        sentences
    }

    /// One of the rows as an object; docs/JSON.md lists its keys.
    #[must_use]
    pub fn object(&self, row: &Row) -> Value {
        let mut object = json!({ "type": "tensor", "name": *row.name });
        if self.is_sharded {
            add_to(&mut object, json!({ "part": self.parts.get(row.part).map_or("", String::as_str) }));
        }
        let more = json!({
            "data_type": row.type_name, "sizes": *row.sizes, "packed_bytes": row.packed_bytes(),
            "aligned": row.is_aligned,
        });
        add_to(&mut object, more);
        if let Some(from) = &row.from {
            add_to(&mut object, json!({ "from": from }));
        }
        match &row.outcome {
            Ok(laid_out) => add_to(&mut object, keys(laid_out)),
            Err(error) => add_to(&mut object, json!({ "input": *row.name, "error": error_object(error) })),
        }
        object
    }
}

impl Refusal {
    /// The rule in one or a few words.
    #[must_use]
    pub fn word(&self) -> &'static str {
        if self.code == NO_TYPE { "no such type" } else { self.code }
    }
}

fn keys(laid_out: &LaidOut) -> Value {
    let codes: Vec<&str> = laid_out.refusals.iter().map(|refusal| refusal.code).collect();
    let error = if let Answer::Refused(error) = &laid_out.answer { error_object(error) } else { Value::Null };
    json!({
        "layout": laid_out.layout, "laid_out_bytes": laid_out.bytes,
        "wasted_bytes": laid_out.bytes.saturating_sub(laid_out.packed_bytes),
        "class": laid_out.class.to_string(), "lowering": laid_out.lowering, "reason": laid_out.reason,
        "identical": laid_out.answer.identical(), "accepted": codes.is_empty(), "limit_errors": codes,
        "remark": laid_out.remark, "error": error,
    })
}

fn add_to(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

/// An error as an object: its `code`, `message` and `column`; docs/JSON.md describes them.
///
/// ```
/// let error = "f32[2,3".parse::<tensor_layout_text::Layout>().unwrap_err();
/// assert_eq!(tensor_layout_files::lay_out::error_object(&error)["column"], 8);
/// ```
#[must_use]
pub fn error_object(error: &Error) -> Value {
    json!({ "code": error.code(), "message": error.to_string(), "column": error.column() })
}

//! What `model` found, as a table or as JSON.

use std::path::Path;

use serde_json::Value;
use tensor_layout::Error;

use crate::index_text::write_list;
use crate::output::{Object, Output, Stop, Verdict, error_value};
use crate::table::{Align, Table, percent_wasted, short_bytes};

use super::plan::Plan;
use super::rule::Rule;
use super::source::{Source, Tensor};
use super::trip::Answer;

/// A plan, or why there is none, and what came of it. In the order of the file's tensors.
pub(super) type Row<'a> = (&'a Result<Plan, Error>, Answer);

/// What all rows have in common.
pub(super) struct Report<'a> {
    pub(super) file: &'a Path,
    pub(super) rule: &'a Rule,
    pub(super) limits: &'static str,
    pub(super) source: &'a Source,
}

/// What the rows come to.
#[derive(Default)]
struct Totals {
    packed: u64,
    laid_out: u64,
    identical: usize,
    accepted: usize,
    refused: usize,
}

impl Totals {
    fn of(rows: &[Row<'_>]) -> Totals {
        let mut totals = Totals::default();
        for (plan, answer) in rows {
            match plan {
                Ok(plan) => {
                    totals.packed = totals.packed.saturating_add(plan.tensor.bytes);
                    totals.laid_out = totals.laid_out.saturating_add(plan.bytes());
                    totals.accepted += usize::from(plan.limit_errors.is_empty());
                    totals.identical += usize::from(answer.identical() == Some(true));
                    totals.refused += usize::from(matches!(answer, Answer::Refused(_)));
                }
                Err(_) => totals.refused += 1,
            }
        }
        totals
    }

    /// Well if every tensor came back identical and is accepted by the device.
    fn verdict(&self, rows: &[Row<'_>]) -> Verdict {
        Verdict::well_if(self.identical == rows.len() && self.accepted == rows.len())
    }
}

impl Report<'_> {
    pub(super) fn objects(&self, rows: &[Row<'_>], output: &mut Output) -> Result<Verdict, Stop> {
        for (tensor, (plan, answer)) in self.source.tensors.iter().zip(rows) {
            let object = Object::default()
                .with("name", tensor.name.as_str())
                .with("data_type", tensor.data_type.map(|data_type| data_type.xla_name()))
                .with("sizes", tensor.sizes.as_slice())
                .with("packed_bytes", tensor.bytes);
            output.line(match plan {
                Ok(plan) => with_plan(object, plan, answer),
                Err(error) => object.with("input", tensor.name.as_str()).with("error", error_value(error)),
            })?;
        }
        let totals = Totals::of(rows);
        output.line(
            Object::default()
                .with("file", self.file.to_string_lossy().as_ref())
                .with("to", self.rule.to_string())
                .with("limits", self.limits)
                .with("tensors", rows.len())
                .with("packed_bytes", totals.packed)
                .with("laid_out_bytes", totals.laid_out)
                .with("wasted_bytes", totals.laid_out.saturating_sub(totals.packed))
                .with("identical", totals.identical)
                .with("accepted", totals.accepted)
                .with("refused", totals.refused),
        )?;
        Ok(totals.verdict(rows))
    }

    pub(super) fn table(&self, rows: &[Row<'_>], out: Option<&Path>, output: &mut Output) -> Result<Verdict, Stop> {
        let mut table = Table::new(&[
            ("tensor", Align::Left),
            ("type", Align::Left),
            ("sizes", Align::Left),
            ("packed", Align::Right),
            ("laid out", Align::Right),
            ("padding", Align::Right),
            ("class", Align::Left),
            ("lowers to", Align::Left),
            ("there and back", Align::Left),
            (self.limits, Align::Left),
        ]);
        for (tensor, (plan, answer)) in self.source.tensors.iter().zip(rows) {
            table.row(cells(tensor, plan, answer));
        }
        for line in table.lines() {
            output.line(line)?;
        }
        let totals = Totals::of(rows);
        let all = rows.len();
        output.line(format_args!(
            "\n{all} tensors to {}: {} packed, {} laid out ({} padding)",
            self.rule,
            short_bytes(totals.packed),
            short_bytes(totals.laid_out),
            percent_wasted(totals.packed, totals.laid_out)
        ))?;
        output.line(format_args!(
            "{} of {all} identical there and back, {} of {all} accepted by {}",
            totals.identical, totals.accepted, self.limits
        ))?;
        let exceptions = rows.iter().filter_map(|(plan, _)| plan.as_ref().ok()?.remark);
        let exceptions: Vec<&str> = exceptions.collect();
        if let Some(remark) = exceptions.first() {
            output.line(format_args!("{} of {all} {remark}", exceptions.len()))?;
        }
        if let Some(out) = out {
            output.line(format_args!("written to {}", out.display()))?;
        }
        for (tensor, (plan, answer)) in self.source.tensors.iter().zip(rows) {
            let name = printable(&tensor.name);
            match (plan, answer) {
                (Err(error), _) | (Ok(_), Answer::Refused(error)) => output.complain(&format!("{name}: {error}"))?,
                (Ok(plan), answer) => {
                    for error in &plan.limit_errors {
                        output.complain(&format!("{name}: {error}"))?;
                    }
                    if let Answer::NotTried(needed) = answer {
                        output.complain(&format!("{name}: not converted, which would take {needed}"))?;
                    }
                }
            }
        }
        Ok(totals.verdict(rows))
    }
}

fn with_plan(object: Object, plan: &Plan, answer: &Answer) -> Object {
    let codes: Vec<Value> = plan.limit_errors.iter().map(|error| error.code().into()).collect();
    let error = match answer {
        Answer::Refused(error) => error_value(error),
        _ => Value::Null,
    };
    object
        .with("layout", plan.text.as_str())
        .with("laid_out_bytes", plan.bytes())
        .with("wasted_bytes", plan.bytes().saturating_sub(plan.tensor.bytes))
        .with("class", plan.map.class().name())
        .with("lowering", plan.lowering)
        .with("reason", plan.reason.as_deref())
        .with("identical", answer.identical())
        .with("accepted", plan.limit_errors.is_empty())
        .with("limit_errors", Value::Array(codes))
        .with("remark", plan.remark)
        .with("error", error)
}

fn cells(tensor: &Tensor, plan: &Result<Plan, Error>, answer: &Answer) -> Vec<String> {
    let type_name = tensor.data_type.map_or(tensor.type_name.as_str(), |data_type| data_type.xla_name());
    let mut cells = vec![printable(&tensor.name), type_name.to_owned(), write_list(&tensor.sizes)];
    cells.push(short_bytes(tensor.bytes));
    match plan {
        Ok(plan) => {
            cells.push(short_bytes(plan.bytes()));
            cells.push(percent_wasted(tensor.bytes, plan.bytes()));
            cells.extend([plan.map.class().name(), plan.lowering, answer.word()].map(str::to_owned));
            let codes: Vec<&str> = plan.limit_errors.iter().map(Error::code).collect();
            cells.push(if codes.is_empty() { "ok".into() } else { codes.join(", ") });
        }
        Err(error) => {
            cells.extend(["-", "-", "-", "-", "refused"].map(str::to_owned));
            cells.push(error.code().to_owned());
        }
    }
    cells
}

/// A name of a file somebody else made, without characters that would move the cursor.
pub(super) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

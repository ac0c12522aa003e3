//! Prints what `model` found out, as a table or as JSON.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use tensor_layout::Error;

use crate::output::{Output, Stop, Verdict, error_value, joined};
use crate::table::{
    Table, counted, each_once, long_bytes, pattern, percent_wasted, printable, short_bytes, write_list,
};

use super::file::{Readers, Tensor};
use super::plan::{Answer, Plan, Rules};

/// A row of the report, for one tensor: its plan, or the reason why it has none, and the answer of its
/// conversion. Rows are in the order of the files, and of the tensors in each file.
pub(super) struct Row<'m> {
    pub(super) file: &'m str,
    pub(super) tensor: &'m Tensor<'m>,
    pub(super) plan: &'m Result<Plan<'m>, Error>,
    pub(super) answer: Answer,
}

/// What was written, as keys of the last object and as a sentence.
pub(super) struct Written {
    keys: Value,
    sentence: String,
}

impl Written {
    /// A whole model, by the path of its file or of its index.
    pub(super) fn all(path: &Path) -> Written {
        Written {
            keys: json!({ "written": path.to_string_lossy() }),
            sentence: format!("written to {}", path.display()),
        }
    }

    /// A job wrote `parts` parts, and the model is not complete: `there` of the `of` parts exist. `why` says
    /// why the index was not written.
    pub(super) fn share(index: &Path, parts: usize, (there, of): (usize, usize), why: &str) -> Written {
        let (written, path) = (counted(parts, "part"), index.display());
        Written {
            keys: json!({ "written": null, "parts_there": there, "parts": of, "missing": why }),
            sentence: format!("{written} written; {there} of {of} exist, so {path} was not written: {why}"),
        }
    }
}

pub(super) struct Report<'a> {
    pub(super) file: &'a Path,
    pub(super) rules: &'a Rules,
    pub(super) limits: &'a str,
    /// Whether the user named the limits. Only then is it a failure if they refuse a tensor.
    pub(super) are_limits_asked: bool,
    pub(super) is_summary: bool,
    pub(super) is_sharded: bool,
    /// What the readers of a GGUF file say.
    pub(super) readers: Option<&'a Readers>,
    pub(super) written: Option<Written>,
    pub(super) rows: Vec<Row<'a>>,
}

/// A report that is ready to be printed. It borrows nothing from the files of the model, so they can be
/// closed and replaced before it is printed.
pub(super) struct Findings {
    lines: Vec<String>,
    pub(super) complaints: Vec<String>,
    verdict: Verdict,
}

impl Findings {
    pub(super) fn print(self, output: &mut Output) -> Result<Verdict, Stop> {
        output.lines(self.lines)?;
        self.complaints.iter().try_for_each(|sentence| output.complain(sentence))?;
        Ok(self.verdict)
    }
}

struct Totals {
    packed: u64,
    laid_out: u64,
    identical: usize,
    accepted: usize,
    refused: usize,
    /// The tensors that the file does not have at a multiple of the size of their elements, and their bytes.
    unaligned: usize,
    unaligned_bytes: u64,
}

impl Totals {
    fn of(rows: &[Row<'_>]) -> Totals {
        let plans = || rows.iter().filter_map(|row| row.plan.as_ref().ok());
        let unaligned = || rows.iter().filter(|row| !row.tensor.is_aligned);
        let is_refused = |row: &&Row<'_>| row.plan.is_err() || matches!(row.answer, Answer::Refused(_));
        Totals {
            packed: plans().map(|plan| plan.packed_bytes).fold(0, u64::saturating_add),
            laid_out: plans().map(Plan::bytes).fold(0, u64::saturating_add),
            identical: rows.iter().filter(|row| row.answer.identical() == Some(true)).count(),
            accepted: plans().filter(|plan| plan.limit_errors.is_empty()).count(),
            refused: rows.iter().filter(is_refused).count(),
            unaligned: unaligned().count(),
            unaligned_bytes: unaligned().map(|row| row.tensor.bytes.len() as u64).fold(0, u64::saturating_add),
        }
    }
}

impl Report<'_> {
    fn verdict(&self, totals: &Totals) -> Verdict {
        let is_accepted = !self.are_limits_asked || totals.accepted == self.rows.len();
        Verdict::well_if(totals.identical == self.rows.len() && is_accepted)
    }

    pub(super) fn objects(&self) -> Findings {
        let totals = Totals::of(&self.rows);
        let mut total = json!({
            "type": "model", "file": self.file.to_string_lossy(), "to": self.rules.to_string(),
            "limits": self.limits, "tensors": self.rows.len(), "packed_bytes": totals.packed,
            "laid_out_bytes": totals.laid_out, "wasted_bytes": totals.laid_out.saturating_sub(totals.packed),
            "identical": totals.identical, "accepted": totals.accepted, "refused": totals.refused,
            "unaligned": totals.unaligned, "unaligned_bytes": totals.unaligned_bytes,
        });
        if let Some(Readers { gguf, ggml }) = self.readers {
            total["refused_by"] = json!({ "gguf": gguf, "ggml": ggml });
        }
        if let Some(written) = &self.written {
            total = joined(total, written.keys.clone());
        }
        let rows = self.rows.iter().filter(|_| !self.is_summary).map(|row| self.object(row));
        let lines = rows.chain([total]).map(|object| object.to_string()).collect();
        Findings { lines, complaints: Vec::new(), verdict: self.verdict(&totals) }
    }

    fn object(&self, Row { file, tensor, plan, answer }: &Row<'_>) -> Value {
        let mut object = json!({ "type": "tensor", "name": tensor.name });
        if self.is_sharded {
            object["part"] = (*file).into();
        }
        let block_type = tensor.layout.as_ref().ok().and_then(|layout| Some(layout.blocks()?.block_type().to_string()));
        let data_type = tensor.data_type.as_ref().ok().map(ToString::to_string).or(block_type);
        let more = json!({
            "data_type": data_type, "sizes": tensor.sizes, "packed_bytes": packed_bytes(tensor, plan),
            "aligned": tensor.is_aligned,
        });
        object = joined(object, more);
        if tensor.is_named {
            object["from"] = from(tensor).into();
        }
        match plan {
            Ok(plan) => joined(object, plan_keys(plan, answer)),
            Err(error) => joined(object, json!({ "input": tensor.name, "error": error_value(error) })),
        }
    }

    pub(super) fn table(&self) -> Findings {
        let (rows, all) = (&self.rows, self.rows.len());
        let named = rows.iter().filter(|row| row.tensor.is_named).count();
        let from = if named > 0 { "|from" } else { "" };
        let columns = format!(
            "tensor||type|sizes{from}|>packed|>laid out|?>padding|?class|?lowers to|?round trip|{}",
            self.limits
        );
        let mut table = Table::new(&columns);
        let mut cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row, named > 0)).collect();
        if self.limits == "none" {
            cells.iter_mut().filter_map(|cells| cells.last_mut()).filter(|cell| *cell == "ok").for_each(String::clear);
        }
        for group in grouped(&cells) {
            table.row(group);
        }
        let mut lines = table.lines();
        lines.push(String::new());
        if self.is_summary {
            lines.clear();
        }
        let totals = Totals::of(rows);
        lines.push(format!(
            "{all} tensors to {}: {} packed, {} laid out ({} padding)",
            self.rules,
            short_bytes(totals.packed),
            short_bytes(totals.laid_out),
            percent_wasted(totals.packed, totals.laid_out)
        ));
        let accepted = match self.limits {
            // Without limits, no device accepts or refuses anything.
            "none" => String::new(),
            limits => format!("; {} of {all} accepted by {limits}", totals.accepted),
        };
        lines.push(format!("round trip: {} of {all} identical{accepted}", totals.identical));
        if totals.unaligned > 0 {
            let verb = if totals.unaligned == 1 { "begins" } else { "begin" };
            lines.push(format!(
                "{} of {all} ({}) {verb} at no multiple of their elements in the file: an engine that maps it must copy them",
                totals.unaligned,
                long_bytes(totals.unaligned_bytes)
            ));
        }
        if self.readers.is_some() {
            lines
                .push("sizes are turned: the innermost is the last here, and the first in the file, as in ggml".into());
        }
        let exceptions = rows.iter().filter_map(|row| row.plan.as_ref().ok()?.remark);
        let exceptions: Vec<&str> = exceptions.collect();
        if let Some(remark) = exceptions.first() {
            lines.push(format!("{} of {all} {remark}", exceptions.len()));
        }
        let mut complaints: Vec<String> = rows.iter().filter_map(complaint).collect();
        // If the user did not name the limits, their refusals are remarks and not errors.
        if self.are_limits_asked { &mut complaints } else { &mut lines }.extend(self.refusals());
        lines.extend(self.written.as_ref().map(|written| written.sentence.clone()));
        Findings { lines, complaints, verdict: self.verdict(&totals) }
    }

    /// Returns a sentence for each rule of the limits that tensors break. One sentence counts the data types
    /// that the device does not have. Every other sentence names the first tensor that breaks the rule.
    fn refusals(&self) -> Vec<String> {
        let plans = || self.rows.iter().filter_map(|row| row.plan.as_ref().ok());
        let errors = || plans().flat_map(|plan| plan.limit_errors.iter().map(move |error| (plan, error)));
        let all_with = |code: &str| errors().filter(|(_, error)| error.code() == code).collect::<Vec<_>>();
        let sentence = |errors: &[(&Plan<'_>, &Error)], what: String| {
            format!("{} of {} refused by {}: {what}", errors.len(), self.rows.len(), self.limits)
        };
        let types = all_with(NO_TYPE);
        let mut sentences = Vec::new();
        if !types.is_empty() {
            let names = each_once(types.iter().map(|(_, error)| error.found()));
            let count = |name: &str| types.iter().filter(|(_, error)| error.found() == name).count();
            let list: Vec<String> = names.iter().map(|name| format!("{} {name}", count(name))).collect();
            let verb = if types.len() == 1 { "has" } else { "have" };
            sentences.push(sentence(&types, format!("{} {verb} no type there", list.join(", "))));
        }
        let others = each_once(errors().map(|(_, error)| error.code()).filter(|code| *code != NO_TYPE));
        sentences.extend(others.into_iter().map(all_with).filter_map(|errors| {
            let [(plan, first), more @ ..] = errors.as_slice() else { return None };
            let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
            Some(sentence(&errors, format!("{}: {first}{more}", printable(&plan.tensor.name))))
        }));
        sentences
    }
}

const NO_TYPE: &str = "unsupported_data_type";

/// Returns a sentence about a tensor that was refused or not tried. Refusals by the limits of a device are
/// not included.
fn complaint(Row { tensor, plan, answer, .. }: &Row<'_>) -> Option<String> {
    let name = printable(&tensor.name);
    match (plan, answer) {
        (Err(error), _) | (Ok(_), Answer::Refused(error)) => Some(format!("{name}: {error}")),
        (Ok(_), Answer::NotTried(needed)) => Some(format!("{name}: not converted, because that would take {needed}")),
        (Ok(_), Answer::Tried { .. }) => None,
    }
}

fn plan_keys(plan: &Plan<'_>, answer: &Answer) -> Value {
    let codes: Vec<&str> = plan.limit_errors.iter().map(Error::code).collect();
    let error = match answer {
        Answer::Refused(error) => error_value(error),
        _ => Value::Null,
    };
    json!({
        "layout": plan.text(), "laid_out_bytes": plan.bytes(),
        "wasted_bytes": plan.bytes().saturating_sub(plan.packed_bytes),
        "class": plan.map.class().to_string(), "lowering": plan.lowering, "reason": plan.reason,
        "identical": answer.identical(), "accepted": plan.limit_errors.is_empty(), "limit_errors": codes,
        "remark": plan.remark, "error": error,
    })
}

fn packed_bytes(tensor: &Tensor<'_>, plan: &Result<Plan<'_>, Error>) -> u64 {
    plan.as_ref().map_or(tensor.bytes.len() as u64, |plan| plan.packed_bytes)
}

fn from(tensor: &Tensor<'_>) -> String {
    tensor.layout.as_ref().map_or_else(|_| "-".into(), ToString::to_string)
}

fn cells(row: &Row<'_>, with_from: bool) -> Vec<String> {
    let Row { tensor, plan, answer, .. } = row;
    let type_name = tensor.data_type.as_ref().map_or_else(Clone::clone, ToString::to_string);
    let mut cells = vec![printable(&tensor.name), type_name, write_list(&tensor.sizes)];
    if with_from {
        cells.push(if tensor.is_named { from(tensor) } else { "packed".into() });
    }
    let packed = packed_bytes(tensor, plan);
    cells.push(short_bytes(packed));
    match plan {
        Ok(plan) => {
            cells.push(short_bytes(plan.bytes()));
            cells.push(percent_wasted(packed, plan.bytes()));
            cells.extend([plan.map.class().to_string(), plan.lowering.to_owned(), answer.word().to_owned()]);
            let word = |error: &Error| match error.code() {
                NO_TYPE => "no such type",
                code => code,
            };
            let codes: Vec<&str> = plan.limit_errors.iter().map(word).collect();
            cells.push(if codes.is_empty() { "ok".into() } else { codes.join(", ") });
        }
        Err(error) => {
            cells.extend(["-", "-", "-", "-", "refused"].map(str::to_owned));
            cells.push(error.code().to_owned());
        }
    }
    cells
}

/// Joins the rows that differ only in the numbers in their names. The new row has the name
/// `layers.{0-31}.weight` and the second cell `32 x`.
fn grouped(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    /// The fewest rows that are joined. Two rows are shown as they are, because one row for both would not be
    /// shorter to read.
    const REPEATED: usize = 3;
    let numbers = |name: &str| -> Vec<u64> {
        let digits = name.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        digits.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
    };
    let key = |row: &[String]| -> Vec<String> {
        row.first().map(|name| pattern(name)).into_iter().chain(row.iter().skip(1).cloned()).collect()
    };
    let mut places: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        places.entry(key(row)).or_default().push(place);
    }
    let mut lines = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let Some(group) = places.get(&key(row)) else { continue };
        let name = row.first().map_or("", String::as_str);
        let (name, count) = match group.as_slice() {
            [first, ..] if group.len() >= REPEATED && *first < place => continue,
            group if group.len() >= REPEATED => {
                let all = group.iter().filter_map(|&place| rows.get(place)?.first()).map(|name| numbers(name));
                (with_ranges(name, &all.collect::<Vec<_>>()), format!("{} x", group.len()))
            }
            _ => (name.to_owned(), String::new()),
        };
        lines.push([name, count].into_iter().chain(row.iter().skip(1).cloned()).collect());
    }
    lines
}

/// Returns the name with a range for each number that differs among `numbers`, the numbers in the names of
/// all rows.
fn with_ranges(name: &str, numbers: &[Vec<u64>]) -> String {
    let (mut text, mut rest, mut place) = (String::new(), name, 0);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, after) = rest.split_at(start);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let values = || numbers.iter().filter_map(|numbers| numbers.get(place).copied());
        text.push_str(before);
        match (values().min(), values().max()) {
            (Some(least), Some(most)) if least < most => text.push_str(&format!("{{{least}-{most}}}")),
            _ => text.push_str(&after[..end]),
        }
        (rest, place) = (&after[end..], place + 1);
    }
    text + rest
}

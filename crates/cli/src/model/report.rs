//! Prints what `model` found out, as a table or as JSON.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::{Value, json};
use tensor_layout_files::lay_out::{self, LaidOut, Report, Row, Settings, Written};
use tensor_layout_files::{Readers, printable, visible};

use crate::answer::Answer;
use crate::output::{Output, Stop, Verdict, error_value, joined};
use crate::table::{Table, counted, each_once, long_bytes, pattern, percent, short_bytes, write_list};

/// What is printed: the report of a model and how it was asked for.
pub(super) struct Findings<'a> {
    pub(super) file: &'a Path,
    pub(super) settings: &'a Settings,
    pub(super) is_summary: bool,
    pub(super) is_sharded: bool,
    pub(super) report: &'a Report,
}

/// The sums of a model. They have 128 bits, because tensors of a hostile file may take more than 64 together.
struct Totals {
    packed: u128,
    laid_out: u128,
    identical: usize,
    accepted: usize,
    refused: usize,
    /// The tensors that the file does not have at a multiple of the size of their elements, and their bytes.
    unaligned: usize,
    unaligned_bytes: u64,
}

impl Totals {
    fn of(rows: &[Row]) -> Totals {
        let plans = || rows.iter().filter_map(|row| row.outcome.as_ref().ok());
        let unaligned = || rows.iter().filter(|row| !row.is_aligned);
        let is_refused = |row: &&Row| match &row.outcome {
            Err(_) => true,
            Ok(laid_out) => matches!(laid_out.answer, lay_out::Answer::Refused(_)),
        };
        Totals {
            packed: plans().map(|plan| u128::from(plan.packed_bytes)).sum(),
            laid_out: plans().map(|plan| u128::from(plan.bytes)).sum(),
            identical: rows.iter().filter(|row| row.identical() == Some(true)).count(),
            accepted: plans().filter(|plan| plan.refusals.is_empty()).count(),
            refused: rows.iter().filter(is_refused).count(),
            unaligned: unaligned().count(),
            unaligned_bytes: unaligned().map(|row| row.held_bytes).fold(0, u64::saturating_add),
        }
    }
}

/// A sum as a number of JSON, or null if it has more than 64 bits.
fn number(sum: u128) -> Value {
    u64::try_from(sum).map_or(Value::Null, Value::from)
}

impl Findings<'_> {
    pub(super) fn print(&self, output: &mut Output) -> Result<Verdict, Stop> {
        let rows = &self.report.rows;
        let totals = Totals::of(rows);
        match (self.is_summary, output.is_json()) {
            (true, _) => {}
            (false, true) => rows.iter().try_for_each(|row| output.line(self.object(row)))?,
            (false, false) => self.table(output)?,
        }
        output.line(self.totals(&totals, output.is_json()))?;
        if !output.is_json() {
            rows.iter().filter_map(complaint).try_for_each(|sentence| output.complain(&sentence))?;
            // If the user did not name the limits, their refusals are remarks and not errors.
            if self.settings.must_fit {
                self.refusals().iter().try_for_each(|sentence| output.complain(sentence))?;
            }
        }
        if let Written::Differs(name) = &self.report.written {
            output.complain(&format!("nothing was written: `{}` was read back and differs", printable(name)))?;
        }
        let is_accepted = !self.settings.must_fit || totals.accepted == rows.len();
        Ok(Verdict::well_if(totals.identical == rows.len() && is_accepted))
    }

    /// The sums of the model, and what was written.
    fn totals(&self, totals: &Totals, is_json: bool) -> Answer {
        let (rows, all, mut answer) = (&self.report.rows, self.report.rows.len(), Answer::new(is_json, "model"));
        let (rules, limits) = (self.settings.rules.to_string(), &*self.settings.limits.name);
        let padding = totals.laid_out.saturating_sub(totals.packed);
        answer.keys(|| {
            json!({
                "file": self.file.to_string_lossy(), "to": rules, "limits": limits, "tensors": all,
                "packed_bytes": number(totals.packed), "laid_out_bytes": number(totals.laid_out),
                "wasted_bytes": number(padding), "identical": totals.identical, "accepted": totals.accepted,
                "refused": totals.refused, "unaligned": totals.unaligned, "unaligned_bytes": totals.unaligned_bytes,
            })
        });
        let [packed, laid_out] = [totals.packed, totals.laid_out].map(short_bytes);
        let percent = percent(padding, totals.laid_out);
        answer.line(format_args!("{all} tensors to {rules}: {packed} packed, {laid_out} laid out ({percent} padding)"));
        let accepted = match limits {
            // Without limits, no device accepts or refuses anything.
            "none" => String::new(),
            limits => format!("; {} of {all} accepted by {limits}", totals.accepted),
        };
        answer.line(format_args!("round trip: {} of {all} identical{accepted}", totals.identical));
        if totals.unaligned > 0 {
            let verb = if totals.unaligned == 1 { "begins" } else { "begin" };
            let (count, bytes) = (totals.unaligned, long_bytes(totals.unaligned_bytes));
            answer.line(format_args!(
                "{count} of {all} ({bytes}) {verb} at no multiple of their elements in the file: an engine that maps it must copy them",
            ));
        }
        if let Some(Readers { gguf, ggml, .. }) = &self.report.readers {
            answer.keys(|| json!({ "refused_by": { "gguf": gguf, "ggml": ggml } }));
            answer.line("sizes are turned: the innermost is the last here, and the first in the file, as in ggml");
        }
        let remarks = || rows.iter().filter_map(|row| row.outcome.as_ref().ok()?.remark);
        answer.lines(remarks().next().map(|remark| format!("{} of {all} {remark}", remarks().count())));
        if !self.settings.must_fit {
            answer.lines(self.refusals());
        }
        match &self.report.written {
            Written::All(path) => {
                answer.key("written", path.to_string_lossy());
                answer.line(format_args!("written to {}", visible(&path.to_string_lossy())));
            }
            Written::Share { index, parts, there, why } => {
                let (written, path, of) = (counted(*parts, "part"), index.display(), self.report.parts.len());
                answer.keys(|| json!({ "written": null, "parts_there": there, "parts": of, "missing": why }));
                answer.line(format_args!("{written} written; {there} of {of} exist, so {path} was not written: {why}"));
            }
            _ => {}
        }
        answer
    }

    fn object(&self, row: &Row) -> Value {
        let mut object = json!({ "type": "tensor", "name": *row.name });
        if self.is_sharded {
            object["part"] = self.report.parts.get(row.part).map_or("", String::as_str).into();
        }
        let more = json!({
            "data_type": row.type_name, "sizes": *row.sizes, "packed_bytes": packed_bytes(row),
            "aligned": row.is_aligned,
        });
        object = joined(object, more);
        if let Some(from) = &row.from {
            object["from"] = from.as_str().into();
        }
        match &row.outcome {
            Ok(laid_out) => joined(object, keys(laid_out)),
            Err(error) => joined(object, json!({ "input": *row.name, "error": error_value(error) })),
        }
    }

    fn table(&self, output: &mut Output) -> Result<(), Stop> {
        let (rows, limits) = (&self.report.rows, &*self.settings.limits.name);
        let with_from = rows.iter().any(|row| row.from.is_some());
        let from = if with_from { "|from" } else { "" };
        let columns =
            format!("tensor||type|sizes{from}|>packed|>laid out|?>padding|?class|?lowers to|?round trip|{limits}");
        let mut table = Table::new(&columns);
        grouped(rows, |row| cells(row, with_from, limits != "none")).into_iter().for_each(|row| table.row(row));
        table.print(output)?;
        output.line("")
    }

    /// Returns a sentence for each rule of the limits that tensors break. One sentence counts the data types
    /// that the device does not have. Every other sentence names the first tensor that breaks the rule.
    fn refusals(&self) -> Vec<String> {
        let (rows, limits) = (&self.report.rows, &self.settings.limits.name);
        let plans = || rows.iter().filter_map(|row| Some((row, row.outcome.as_ref().ok()?)));
        let refusals = || plans().flat_map(|(row, plan)| plan.refusals.iter().map(move |refusal| (row, refusal)));
        let all_with = |code: &'static str| refusals().filter(move |(_, refusal)| refusal.code == code);
        let sentence = |count: usize, what: String| format!("{count} of {} refused by {limits}: {what}", rows.len());
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
}

const NO_TYPE: &str = "unsupported_data_type";

/// Returns a sentence about a tensor that was refused or not tried. Refusals by the limits of a device are
/// not included.
fn complaint(row: &Row) -> Option<String> {
    let name = printable(&row.name);
    match &row.outcome {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(laid_out) => match &laid_out.answer {
            lay_out::Answer::Refused(error) => Some(format!("{name}: {error}")),
            lay_out::Answer::TooLarge { padding, bytes } => {
                let what = if *padding { "padding" } else { "memory" };
                Some(format!("{name}: not converted, because that would take {} of {what}", short_bytes(*bytes)))
            }
            _ => None,
        },
    }
}

fn keys(laid_out: &LaidOut) -> Value {
    let codes: Vec<&str> = laid_out.refusals.iter().map(|refusal| refusal.code).collect();
    let error = match &laid_out.answer {
        lay_out::Answer::Refused(error) => error_value(error),
        _ => Value::Null,
    };
    json!({
        "layout": laid_out.layout, "laid_out_bytes": laid_out.bytes,
        "wasted_bytes": laid_out.bytes.saturating_sub(laid_out.packed_bytes),
        "class": laid_out.class.to_string(), "lowering": laid_out.lowering, "reason": laid_out.reason,
        "identical": laid_out.answer.identical(), "accepted": codes.is_empty(), "limit_errors": codes,
        "remark": laid_out.remark, "error": error,
    })
}

fn packed_bytes(row: &Row) -> u64 {
    row.outcome.as_ref().map_or(row.held_bytes, |laid_out| laid_out.packed_bytes)
}

fn word(answer: &lay_out::Answer) -> &'static str {
    match answer {
        lay_out::Answer::TooLarge { .. } => "not tried",
        lay_out::Answer::Tried { identical: true } => "identical",
        lay_out::Answer::Refused(_) => "refused",
        _ => "DIFFERS",
    }
}

fn cells(row: &Row, with_from: bool, with_ok: bool) -> Vec<String> {
    let mut cells = vec![printable(&row.name), row.type_name.clone(), printable(&write_list(&row.sizes))];
    if with_from {
        cells.push(row.from.as_deref().map_or_else(|| "packed".into(), printable));
    }
    let packed = packed_bytes(row);
    cells.push(short_bytes(packed));
    match &row.outcome {
        Ok(laid_out) => {
            cells.push(short_bytes(laid_out.bytes));
            cells.push(percent(laid_out.bytes.saturating_sub(packed).into(), laid_out.bytes.into()));
            let class = laid_out.class.to_string();
            cells.extend([class, laid_out.lowering.to_owned(), word(&laid_out.answer).to_owned()]);
            let word = |code: &'static str| if code == NO_TYPE { "no such type" } else { code };
            let codes: Vec<&str> = laid_out.refusals.iter().map(|refusal| word(refusal.code)).collect();
            cells.push(if codes.is_empty() && with_ok { "ok".into() } else { codes.join(", ") });
        }
        Err(error) => {
            cells.extend(["-", "-", "-", "-", "refused"].map(str::to_owned));
            cells.push(error.code().to_owned());
        }
    }
    cells
}

/// Joins the rows that differ only in the numbers in their names. The new row has the name
/// `layers.{0-31}.weight` and the second cell `32 x`. The cells of a row are made when they are needed.
fn grouped(rows: &[Row], cells: impl Fn(&Row) -> Vec<String>) -> Vec<Vec<String>> {
    /// The fewest rows that are joined. Two rows are shown as they are, because one row for both would not be
    /// shorter to read.
    const REPEATED: usize = 3;
    let numbers = |name: &str| -> Vec<u64> {
        let digits = name.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        digits.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
    };
    let key = |cells: &[String]| -> Vec<String> {
        cells.first().map(|name| pattern(name)).into_iter().chain(cells.iter().skip(1).cloned()).collect()
    };
    let hash = |cells: &[String]| {
        let mut hasher = DefaultHasher::new();
        key(cells).hash(&mut hasher);
        hasher.finish()
    };
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut hashes = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        let hash = hash(&cells(row));
        places.entry(hash).or_default().push(place);
        hashes.push(hash);
    }
    let mut lines = Vec::new();
    for (place, (row, hash)) in rows.iter().zip(hashes).enumerate() {
        let Some(group) = places.get(&hash) else { continue };
        let cells = match group.as_slice() {
            [first, _, _, ..] if *first < place => continue,
            _ => cells(row),
        };
        let name = cells.first().map_or("", String::as_str);
        let (name, count) = if group.len() >= REPEATED {
            let all = group.iter().filter_map(|&place| rows.get(place)).map(|row| numbers(&printable(&row.name)));
            (with_ranges(name, &all.collect::<Vec<_>>()), format!("{} x", group.len()))
        } else {
            (name.to_owned(), String::new())
        };
        lines.push([name, count].into_iter().chain(cells.into_iter().skip(1)).collect());
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

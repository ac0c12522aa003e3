//! Prints what `model` found out, as a table or as JSON.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::{Value, json};
use tensor_layout_files::lay_out::{self, Refusal, Report, Row, Settings, Totals, Written};
use tensor_layout_files::{Readers, printable, visible};

use crate::answer::Answer;
use crate::output::{Output, Stop, Verdict};
use crate::table::{Table, counted, long_bytes, pattern, percent, print, short_bytes, write_list};

/// What is printed: the report of a model and how it was asked for.
pub(super) struct Findings<'a> {
    pub(super) file: &'a Path,
    pub(super) settings: &'a Settings,
    pub(super) is_summary: bool,
    pub(super) report: &'a Report,
}

/// A sum as a number of JSON, or null if it has more than 64 bits.
fn number(sum: u128) -> Value {
    u64::try_from(sum).map_or(Value::Null, Value::from)
}

impl Findings<'_> {
    pub(super) fn print(&self, output: &mut Output) -> Result<Verdict, Stop> {
        let rows = &self.report.rows;
        let totals = self.report.totals();
        match (self.is_summary, output.is_json()) {
            (true, _) => {}
            (false, true) => rows.iter().try_for_each(|row| output.line(self.report.object(row)))?,
            (false, false) => self.table(output)?,
        }
        output.line(self.totals(&totals, output.is_json()))?;
        if !output.is_json() {
            rows.iter().filter_map(complaint).try_for_each(|sentence| output.complain(&sentence))?;
            // If the user did not name the limits, their refusals are remarks and not errors.
            if self.settings.must_fit {
                self.report
                    .refusals(&self.settings.limits.name)
                    .iter()
                    .try_for_each(|sentence| output.complain(sentence))?;
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
            answer.lines(self.report.refusals(&self.settings.limits.name));
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

    fn table(&self, output: &mut Output) -> Result<(), Stop> {
        let (rows, limits) = (&self.report.rows, &*self.settings.limits.name);
        let with_from = rows.iter().any(|row| row.from.is_some());
        let from = if with_from { "|from" } else { "" };
        let columns =
            format!("tensor||type|sizes{from}|>packed|>laid out|?>padding|?class|?lowers to|?round trip|{limits}");
        let mut table = Table::new(&columns);
        grouped(rows, |row| cells(row, with_from, limits != "none")).into_iter().for_each(|row| table.row(row));
        print(&table, output)?;
        output.line("")
    }
}

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
    let packed = row.packed_bytes();
    cells.push(short_bytes(packed));
    match &row.outcome {
        Ok(laid_out) => {
            cells.push(short_bytes(laid_out.bytes));
            cells.push(percent(laid_out.bytes.saturating_sub(packed).into(), laid_out.bytes.into()));
            let class = laid_out.class.to_string();
            cells.extend([class, laid_out.lowering.to_owned(), word(&laid_out.answer).to_owned()]);
            let codes: Vec<&str> = laid_out.refusals.iter().map(Refusal::word).collect();
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

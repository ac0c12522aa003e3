//! `names`: the layouts that have a name.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout_text::named::{Row, rows};

use crate::output::{Output, Stop, Verdict, joined};
use crate::table::Table;

#[derive(Args)]
pub(crate) struct Arguments {
    /// List only the names that contain this text, in upper or lower case. A single match is described fully.
    word: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let word = arguments.word.as_deref().unwrap_or("").to_ascii_lowercase();
    let matches = |row: &&Row| [&row.name, row.other].iter().any(|text| text.to_ascii_lowercase().contains(&word));
    let found: Vec<&Row> = rows().iter().filter(matches).collect();
    if found.is_empty() {
        return Err(Stop::Failed(format!("no name contains `{word}`")));
    }
    // The rows with one name are its forms: for other ranks, other numbers or other sizes.
    let mut names: Vec<Vec<&Row>> = Vec::new();
    for row in found {
        match names.iter_mut().find(|forms| forms[0].name == row.name) {
            Some(forms) => forms.push(row),
            None => names.push(vec![row]),
        }
    }
    if output.is_json() {
        for forms in names {
            let mut all = object(forms[0]);
            all["other_forms"] = forms[1..].iter().map(|form| object(form)).collect();
            output.line(all)?;
        }
        return Ok(Verdict::Well);
    }
    if let [forms] = names.as_slice() {
        for form in forms {
            output.line(everything(form))?;
        }
        return Ok(Verdict::Well);
    }
    let mut table = Table::new("name|axes|?types|memory");
    for forms in &names {
        let all = |cell: fn(&Row) -> String| {
            let mut cells: Vec<String> = Vec::new();
            for text in forms.iter().map(|form| cell(form)) {
                if !cells.contains(&text) {
                    cells.push(text);
                }
            }
            match cells.len() {
                0..=2 => cells.join(" or "),
                many => format!("{} or {} others", cells[0], many - 1),
            }
        };
        table.row([
            all(|row| row.to_string()),
            all(|row| row.axes.into()),
            all(|row| row.types.into()),
            all(|row| row.memory.into()),
        ]);
    }
    output.lines(table.lines())?;
    Ok(Verdict::Well)
}

fn cells(row: &Row) -> [(&'static str, String); 12] {
    [
        ("about", row.about.into()),
        ("axes", row.axes.into()),
        ("types", row.types.into()),
        ("memory", row.memory.into()),
        ("needs", row.needs.into()),
        ("padding", row.padding.into()),
        ("align", if row.align == 0 { "an element".into() } else { row.align.to_string() }),
        ("flip", if row.flip == 0 { String::new() } else { format!("{:#04x}", row.flip) }),
        ("other", row.other.into()),
        ("source", row.source.into()),
        ("known", row.known.into()),
        ("open", row.open.into()),
    ]
}

fn object(row: &Row) -> Value {
    let object = json!({ "type": "name", "name": row.to_string() });
    joined(object, cells(row).into_iter().map(|(key, cell)| (key.to_owned(), cell)).collect())
}

fn everything(row: &Row) -> String {
    let line = |(key, cell): (&str, String)| format!("\n  {key:<9}{cell}");
    let lines = cells(row).into_iter().filter(|(_, cell)| !cell.is_empty());
    row.to_string() + &lines.map(line).collect::<String>()
}

//! `names`: the layouts that have a name.

use clap::Args;
use tensor_layout::named::{Row, rows};

use crate::output::{Object, Output, Stop, Verdict};
use crate::table::Table;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only names that contain this, in capitals or not. Everything is said of a single one.
    word: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let word = arguments.word.as_deref().unwrap_or("").to_ascii_lowercase();
    let matches = |row: &&Row| [&row.name, row.other].iter().any(|text| text.to_ascii_lowercase().contains(&word));
    let found: Vec<&Row> = rows().iter().filter(matches).collect();
    if found.is_empty() {
        output.complain(&format!("no name contains `{word}`"))?;
        return Ok(Verdict::Failed);
    }
    if output.is_json() {
        for row in found {
            output.line(object(row))?;
        }
        return Ok(Verdict::Well);
    }
    if found.iter().all(|row| row.name == found[0].name) {
        for row in found {
            output.line(everything(row))?;
        }
        return Ok(Verdict::Well);
    }
    let mut table = Table::new(&["name", "axes", "types", "memory"]);
    for row in found {
        table.row(vec![row.to_string(), row.axes.into(), row.types.into(), row.memory.into()]);
    }
    output.lines(table.lines())?;
    Ok(Verdict::Well)
}

/// What the table says, in words.
fn cells(row: &Row) -> [(&'static str, String); 11] {
    [
        ("about", row.about.into()),
        ("axes", row.axes.into()),
        ("types", row.types.into()),
        ("memory", row.memory.into()),
        ("tiles", row.tiles.into()),
        ("needs", row.needs.into()),
        ("padding", row.padding.into()),
        ("align", row.align.to_string()),
        ("other", row.other.into()),
        ("source", row.source.into()),
        ("open", row.open.into()),
    ]
}

fn object(row: &Row) -> Object {
    let object = Object::default().with("name", row.to_string());
    cells(row).into_iter().fold(object, |object, (key, cell)| object.with(key, cell))
}

fn everything(row: &Row) -> String {
    let line = |(key, cell): (&str, String)| format!("\n  {key:<9}{cell}");
    let lines = cells(row).into_iter().filter(|(_, cell)| !cell.is_empty() && cell != "-");
    row.to_string() + &lines.map(line).collect::<String>()
}

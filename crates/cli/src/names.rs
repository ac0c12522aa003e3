//! `names`: the layouts that have a name.

use clap::Args;
use tensor_layout::named::{Row, rows};

use crate::output::{Object, Output, Stop, Verdict};
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
    for row in &found {
        let forms = || found.iter().filter(|other| other.name == row.name);
        // A name has one row; its other forms, for other ranks, numbers or sizes, are in the row.
        if forms().next().is_some_and(|first| std::ptr::eq(*first, *row)) {
            let all = |cell: &dyn Fn(&Row) -> String| {
                let mut cells: Vec<String> = Vec::new();
                for form in forms() {
                    let text = cell(form);
                    if !cells.contains(&text) {
                        cells.push(text);
                    }
                }
                match cells.len() {
                    0..=2 => cells.join(" or "),
                    many => format!("{} or {} others", cells[0], many - 1),
                }
            };
            let cells: [&dyn Fn(&Row) -> String; 4] =
                [&|row| row.to_string(), &|row| row.axes.into(), &|row| row.types.into(), &|row| row.memory.into()];
            table.row(cells.map(all));
        }
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
        ("align", if row.align == 0 { "an element".into() } else { row.align.to_string() }),
        ("other", row.other.into()),
        ("source", row.source.into()),
        ("open", row.open.into()),
    ]
}

fn object(row: &Row) -> Object {
    let object = Object::of("name").with("name", row.to_string());
    cells(row).into_iter().fold(object, |object, (key, cell)| object.with(key, cell))
}

fn everything(row: &Row) -> String {
    let line = |(key, cell): (&str, String)| format!("\n  {key:<9}{cell}");
    let lines = cells(row).into_iter().filter(|(_, cell)| !cell.is_empty() && cell != "-");
    row.to_string() + &lines.map(line).collect::<String>()
}

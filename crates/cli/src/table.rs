//! Tables on a terminal, and lists of numbers.

use serde_json::Value;
use tensor_layout::Error;
pub(crate) use tensor_layout::plan::counted;
pub(crate) use tensor_layout::words::{Table, each_once, long_bytes, pattern, percent, short_bytes};
pub(crate) use tensor_layout_text::read_list;

use crate::output::{Output, Stop};
use crate::terminal::{Ink, painted, width};

/// Adds a row to a table, or prints its object with `--json`.
pub(crate) fn add<const N: usize>(
    table: &mut Table<'_>,
    object: impl FnOnce() -> Value,
    cells: impl FnOnce() -> [String; N],
    output: &mut Output,
) -> Result<(), Stop> {
    if output.is_json() {
        return output.line(object());
    }
    table.row(cells());
    Ok(())
}

/// Returns the lines of a table in the width of the terminal, the head in bold.
pub(crate) fn lines(table: &Table<'_>) -> impl Iterator<Item = String> {
    let mut lines = table.lines_within(width().unwrap_or(usize::MAX));
    lines.next().map(|head| painted(&head, Ink::Bold)).into_iter().chain(lines)
}

/// Prints a table, without keeping its lines. With `--json` the rows were printed as objects.
pub(crate) fn print(table: &Table<'_>, output: &mut Output) -> Result<(), Stop> {
    if output.is_json() {
        return Ok(());
    }
    lines(table).try_for_each(|line| output.line(line))
}

/// Writes the share of `whole` that is not `part`, in percent: `37.5%`.
pub(crate) fn percent_wasted(part: u64, whole: u64) -> String {
    percent(whole.saturating_sub(part).into(), whole.into())
}

pub(crate) fn read_number(text: &str, what: &str) -> Result<u64, Error> {
    match read_list(text, what)?.as_slice() {
        [number] if !text.contains('[') => Ok(*number),
        _ => Err(Error::parse(text.to_owned(), 1, what.to_owned(), "a list")),
    }
}

pub(crate) fn write_list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

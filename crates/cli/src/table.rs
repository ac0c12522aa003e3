//! Aligned columns, wrapped lines, and numbers of bytes as text.

pub(crate) use tensor_layout_hlo::short_bytes;

use crate::terminal::{self, Ink, painted};

/// Rows of text in columns as wide as their longest cell.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    columns: Vec<&'a str>,
    rows: Vec<Vec<String>>,
}

impl<'a> Table<'a> {
    /// The names of the columns; one after `>` is aligned on the right, as `{:>8}` is.
    pub(crate) fn new(columns: &[&'a str]) -> Table<'a> {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The header and the rows, without blanks at the ends of lines and without columns that are empty in
    /// every row. On a terminal, the widest texts are shortened in the middle until a line fits.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines_within(terminal::width().unwrap_or(usize::MAX))
    }

    fn lines_within(&self, most: usize) -> Vec<String> {
        let header: Vec<String> = self.columns.iter().map(|name| name.trim_start_matches('>').to_owned()).collect();
        let all = || std::iter::once(&header).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|column| width(column).unwrap_or(0)).collect();
        let used = |column: usize| self.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
        let used: Vec<bool> = (0..self.columns.len()).map(|column| self.rows.is_empty() || used(column)).collect();
        // Numbers stay whole.
        let may_shrink = |column: usize| used[column] && !self.columns[column].starts_with('>');
        loop {
            let shown = widths.iter().zip(&used).filter(|(_, used)| **used).map(|(width, _)| width + 2);
            let widest = (0..widths.len()).filter(|&column| may_shrink(column)).max_by_key(|&column| widths[column]);
            match widest {
                Some(column) if shown.sum::<usize>() > most.saturating_add(2) && widths[column] > SHORTEST => {
                    widths[column] -= 1;
                }
                _ => break,
            }
        }
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&self.columns).zip(widths.iter().zip(&used)).filter(|(_, (_, used))| **used);
            let cells = cells.map(|((cell, name), (&width, _))| match name.starts_with('>') {
                true => format!("{cell:>width$}"),
                false => format!("{:<width$}", shortened(cell, width)),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = all().map(line).collect();
        lines[0] = painted(&lines[0], Ink::Bold);
        lines
    }
}

/// The fewest characters that a text is shortened to.
const SHORTEST: usize = 8;

/// The text with its middle left out if it is longer than `most` characters: `model.la…weight`.
fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), letters.len() - kept / 2);
    letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect()
}

/// The text with its long lines broken at blanks, so that none has more than `columns` letters if its words
/// allow it. Lines that continue another one are indented by four more blanks.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let (mut current, mut length) = (" ".repeat(indent), indent);
        for (position, word) in line.trim_start().split(' ').enumerate() {
            let letters = word.chars().count();
            if position > 0 && length + 1 + letters > columns {
                lines.push(std::mem::replace(&mut current, " ".repeat(indent + 4)));
                length = indent + 4;
            } else if position > 0 {
                current.push(' ');
                length += 1;
            }
            current.push_str(word);
            length += letters;
        }
        lines.push(current);
    }
    lines.join("\n")
}

/// `4096 bytes (4.0 KiB)`.
pub(crate) fn long_bytes(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".into(),
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{bytes} bytes ({})", short_bytes(bytes)),
    }
}

/// The share of `whole` that is not `part`, in percent: `37.5%`.
pub(crate) fn percent_wasted(part: u64, whole: u64) -> String {
    percent(whole.saturating_sub(part).into(), whole.into())
}

/// The share of `whole` that is `part`, in percent: `37.5%`.
pub(crate) fn percent(part: u128, whole: u128) -> String {
    let tenths = part.saturating_mul(1000).saturating_add(whole / 2).checked_div(whole).unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// A name from a file, without characters that would move the cursor.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests;

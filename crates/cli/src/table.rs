//! Aligned columns, wrapped lines, and numbers of bytes as text.

pub(crate) use tensor_layout_hlo::short_bytes;

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
    /// every row.
    pub(crate) fn lines(&self) -> Vec<String> {
        let header: Vec<String> = self.columns.iter().map(|name| name.trim_start_matches('>').to_owned()).collect();
        let all = || std::iter::once(&header).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| width(column).unwrap_or(0)).collect();
        let used = |column: usize| self.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
        let used: Vec<bool> = (0..self.columns.len()).map(|column| self.rows.is_empty() || used(column)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&self.columns).zip(widths.iter().zip(&used)).filter(|(_, (_, used))| **used);
            let cells = cells.map(|((cell, name), (&width, _))| match name.starts_with('>') {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        all().map(line).collect()
    }
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

//! Numbers of bytes, shares and names in words, and rows in aligned columns: what the crates of this
//! repository print alike.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::counted;

/// Rows of text with a head. Each column is as wide as its longest cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table<'a> {
    columns: &'a str,
    rows: Vec<Vec<String>>,
}

impl<'a> Table<'a> {
    /// Makes a table with these columns. Their names are separated by bars: `tensor|>bytes`. A column with
    /// `>` in front of its name has numbers, which are aligned on the right as by `{:>8}`. A column with `?`
    /// in front may be left out where there is little room.
    pub fn new(columns: &'a str) -> Table<'a> {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row, which may have fewer cells than there are columns.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub fn columns(&self) -> &'a str {
        self.columns
    }

    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Returns the head and the rows as lines of at most `most` characters, without trailing blanks. A column
    /// that is empty in every row is left out. Texts that are too long are shortened in the middle, and if
    /// that is not enough, columns with `?` are left out, the last first.
    pub fn lines_within(&self, most: usize) -> impl Iterator<Item = String> {
        let columns: Vec<&str> = self.columns.split('|').collect();
        let header: Vec<String> = columns.iter().map(|name| name.trim_start_matches(['?', '>']).to_owned()).collect();
        let all = || core::iter::once(&header).chain(&self.rows);
        let is_a_number = |name: &str| name.trim_start_matches('?').starts_with('>');
        let is_number = move |column| self.columns.split('|').nth(column).is_some_and(is_a_number);
        let is_used = |column: usize| self.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
        let mut shown: Vec<usize> =
            (0..columns.len()).filter(|&column| self.rows.is_empty() || is_used(column)).collect();
        let longest = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let mut widths: Vec<usize> = (0..columns.len()).map(|column| longest(column).unwrap_or(0)).collect();
        // Numbers are never shortened.
        let least = |column: usize, width: usize| if is_number(column) { width } else { width.min(SHORTEST) };
        let length = |shown: &[usize], width: &dyn Fn(usize) -> usize| {
            shown.iter().map(|&column| width(column) + 2).sum::<usize>()
        };
        while length(&shown, &|column| least(column, widths[column])) > most.saturating_add(2) {
            let Some(place) = shown.iter().rposition(|&column| columns[column].starts_with('?')) else { break };
            shown.remove(place);
        }
        while length(&shown, &|column| widths[column]) > most.saturating_add(2) {
            let shrinks = |column: &&usize| least(**column, widths[**column]) < widths[**column];
            let Some(&widest) = shown.iter().filter(shrinks).max_by_key(|&&column| widths[column]) else { break };
            widths[widest] -= 1;
        }
        let line = move |row: &[String]| {
            let cells = shown.iter().filter_map(|&column| Some((column, row.get(column)?, widths[column])));
            let cells = cells.map(|(column, cell, width)| match is_number(column) {
                true => format!("{}{cell}", blanks(cell, width)),
                false => {
                    let cell = shortened(cell, width);
                    format!("{cell}{}", blanks(&cell, width))
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let first = line(&header);
        core::iter::once(first).chain(self.rows.iter().map(move |row| line(row)))
    }
}

/// The blanks that fill a cell up to its width, which may be more than `format!` takes.
fn blanks(cell: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cell.chars().count()))
}

/// The fewest characters that a text is shortened to. Shorter texts would not tell two names apart.
const SHORTEST: usize = 14;

/// Returns the text, with its middle left out if it is longer than `most` characters: `model.la…weight`. If
/// the layout of an array does not fit, its sizes are kept: `f32[8,128]…`.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let sizes = text.split_once('{').map(|(sizes, _)| sizes).filter(|sizes| sizes.ends_with(']'));
    let letters: Vec<char> = sizes.map_or(text.to_owned(), |sizes| format!("{sizes}…")).chars().collect();
    if letters.len() <= most {
        return letters.into_iter().collect();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), letters.len() - kept / 2);
    letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect()
}

/// Writes a number of bytes in full and in short: `4096 bytes (4.0 KiB)`.
pub fn long_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        _ => format!("{} ({})", counted(bytes, "byte"), short_bytes(bytes)),
    }
}

/// Writes a number of bytes, rounded to the nearest tenth of its unit: `96 B`, `4.0 KiB`.
pub fn short_bytes(bytes: impl Into<u128>) -> String {
    let bytes = bytes.into();
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let tenths_of = |shift: u32| bytes.saturating_mul(10).saturating_add(1_u128 << (shift - 1)) >> shift;
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut scaled = (10_u32..).step_by(10).zip(units).map(|(shift, unit)| (tenths_of(shift), unit));
    let (tenths, unit) = scaled.find(|(tenths, unit)| *tenths < 10_240 || *unit == "EiB").unwrap_or((0, "KiB"));
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Writes the share of `whole` that is `part`, in percent: `37.5%`.
pub fn percent(part: u128, whole: u128) -> String {
    let tenths = part.saturating_mul(1000).saturating_add(whole / 2).checked_div(whole).unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Returns every text once, in the order of the first places.
pub fn each_once<T: PartialEq>(texts: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// Returns the name with `*` for each number in it: `layers.*.weight`.
pub fn pattern(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if text.ends_with('*') => {}
            '0'..='9' => text.push('*'),
            other => text.push(other),
        }
    }
    text
}

//! Joins the rows of repeated layers: the same tensor of every layer becomes one row of the table.

use std::collections::HashMap;

use crate::table::pattern;

/// Joins the rows that differ only in the numbers in their names. The new row has the name
/// `layers.{0-31}.weight` and the second cell `32 x`.
pub(super) fn grouped(rows: &[Vec<String>]) -> Vec<Vec<String>> {
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

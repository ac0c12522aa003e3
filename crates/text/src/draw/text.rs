//! Draws a picture in characters.

use core::fmt;

use tensor_layout::checked::{self, Proven};
use tensor_layout::plan::counted;

use super::panels::{Cell, Panel};
use super::{Picture, ROW_CHARACTERS};

/// The most columns side by side where 16 would pass the end of a line.
const MOST_OF_LONG_ROWS: usize = 8;

/// The label of padding in the picture of the memory.
const PADDING: &str = "··";

impl fmt::Display for Picture {
    /// Writes the picture for a terminal: the tensor with the offset of each element, then the memory row by
    /// row.
    ///
    /// In the tensor, the offsets of padding are in parentheses. In the memory, padding is two dots. Bars
    /// separate tiles.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.caption.clone(), self.summary.clone(), String::new()];
        let mut cells = self.panels.iter().flat_map(|panel| panel.rows.iter().flatten().flatten());
        let has_padding = cells.any(|cell| cell.index.is_none());
        let key = if has_padding { ", and padding in parentheses" } else { "" };
        lines.push(format!("the tensor: where each element is stored{key}"));
        let columns = self.panels.iter().map(|panel| panel.first.1.plus(panel.columns)).max().unwrap_or(0);
        let width = self.last_offset().to_string().len().plus(if has_padding { 2 } else { 0 });
        let width = width.max(columns.saturating_sub(1).to_string().len());
        for panel in self.panels.iter().flat_map(|panel| narrow(panel, width)) {
            lines.push(String::new());
            if !panel.title.is_empty() {
                lines.push(format!("  {}", panel.title));
            }
            lines.extend(panel_lines(&panel, width));
        }
        lines.push(String::new());
        let padding = if self.memory.iter().any(|cell| cell.index.is_none()) { "; ·· is padding" } else { "" };
        let broadcast = if self.has_broadcast { "; * is every index" } else { "" };
        lines
            .push("the memory: first element and byte of each row, and what is in it".to_owned() + padding + broadcast);
        lines.push(String::new());
        lines.extend(self.memory_lines());
        lines.push(String::new());
        f.write_str(&lines.join("\n"))
    }
}

impl Picture {
    fn memory_lines(&self) -> Vec<String> {
        let labels = self.memory.iter().map(|place| place.index.as_deref().unwrap_or(PADDING));
        let labels: Vec<&str> = labels.collect();
        let byte_width = self.byte_name(labels.len().saturating_sub(1)).len().max(3);
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let name = self.last_offset().to_string().len().max(3);
        let mut lines = Vec::new();
        for (range, is_folded) in self.memory_rows() {
            let start = range.start;
            let first = self.offset_of(start);
            let mut line = format!("{first:>name$} {:>byte_width$} │", self.byte_name(start));
            if is_folded {
                line.push_str(&format!(" {PADDING} {} of padding", counted(range.len(), "element")));
                lines.push(line);
                continue;
            }
            let row = labels.get(range).unwrap_or(&[]);
            for (position, label) in row.iter().enumerate() {
                if position > 0 && begins_tile(start.plus(position), self.tile) {
                    line.push_str(" │");
                } else if position > 0 && self.begins_byte(start.plus(position)) {
                    line.push_str(" ╎");
                }
                line.push_str(&format!(" {label:>width$}"));
            }
            lines.push(line);
        }
        lines
    }
}

/// Whether a tile begins at this position. The first tile, at position 0, does not count.
pub(super) fn begins_tile(position: usize, tile: usize) -> bool {
    tile > 1 && position > 0 && position.checked_rem(tile) == Some(0)
}

/// Returns the matrix in parts of at most 8 columns if its rows are too long.
fn narrow(panel: &Panel, width: usize) -> Vec<Panel> {
    let all = panel.rows.first().map_or(0, Vec::len);
    let bars = (1..all).filter(|&column| begins_tile(column, panel.tile.1)).count();
    let characters = all.times(width.plus(1)).plus(bars.times(2)).plus(6);
    let fits = checked::len_u64(characters) <= ROW_CHARACTERS;
    if fits { vec![panel.clone()] } else { panel.bands(MOST_OF_LONG_ROWS) }
}

fn panel_lines(panel: &Panel, width: usize) -> Vec<String> {
    let cells = |row: Vec<String>, bar: &str| {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            line.push_str(if begins_tile(column, panel.tile.1) { bar } else { "" });
            line.push_str(&format!(" {cell:>width$}"));
        }
        line.trim_end().to_owned()
    };
    let name = |number: usize, first: usize, is_named: bool| {
        if is_named { number.plus(first).to_string() } else { String::new() }
    };
    let mut lines = Vec::new();
    if panel.has_columns {
        let all = panel.rows.first().map_or(0, Vec::len);
        let names = (0..all).map(|column| name(column, panel.first.1, column < panel.columns)).collect();
        lines.push(format!("      {}", cells(names, "  ")).trim_end().to_owned());
    }
    for (number, row) in panel.rows.iter().enumerate() {
        let name = name(number, panel.first.0, panel.has_rows && number < panel.logical_rows);
        let line = format!("{name:>4} │{}", cells(row.iter().map(label).collect(), " │"));
        if begins_tile(number, panel.tile.0) {
            let rule: String = line.chars().skip(6).map(|c| if c == '│' { '┼' } else { '─' }).collect();
            lines.push(format!("     ├{rule}"));
        }
        lines.push(line);
    }
    lines
}

fn label(cell: &Option<Cell>) -> String {
    match cell {
        Some(Cell { offset, index: Some(_), .. }) => offset.to_string(),
        Some(Cell { offset, .. }) => format!("({offset})"),
        None => String::new(),
    }
}

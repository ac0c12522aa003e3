//! Draws a picture as SVG.
#![allow(clippy::arithmetic_side_effects, reason = "coordinates: at most 1024 cells of less than 200 units")]

use core::fmt::Write;
use tensor_layout::checked::Proven;
use tensor_layout::plan::counted;

use super::panels::Panel;
use super::text::begins_tile;
use super::{Cell, Picture};

/// How many groups of cells have a colour of their own, `.c0` and so on in style.css. People who are
/// colour-blind can tell the light colours apart too.
const GROUPS: usize = 8;

const MARGIN: usize = 28;
const CELL_HEIGHT: usize = 28;
/// The gap between cells, in pixels.
const GAP: usize = 3;
/// The additional gap between tiles, in pixels.
const TILE_GAP: usize = 9;
/// The additional gap between bytes, if a byte holds several elements, in pixels.
const BYTE_GAP: usize = 5;
/// The width of the column with the names of rows, in pixels.
const NAMES: usize = 34;
/// The width of the column with the byte offsets of the memory's rows, in pixels.
const BYTES: usize = 56;
/// The width, in pixels, up to which panels are placed side by side. Further panels are placed below.
const PAGE: usize = 860;

/// The width of a digit, in pixels, rounded up.
const DIGIT: usize = 8;
/// The width of a character of the caption, in pixels, rounded up.
const CAPTION_CHARACTER: usize = 11;

impl Picture {
    /// Returns the picture as an SVG document: the tensor with the offset of each element, and below it the
    /// memory. The elements of one row share a colour, or the elements of one matrix if there are several.
    /// Padding is hatched.
    ///
    /// The group of each cell has its offset in elements as `data-offset`. A cell of the tensor that holds an
    /// element also has its index as `data-index`. So a script can pair the cells of the tensor with those of
    /// the memory.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, ToIndexMap};
    /// use tensor_layout_text::draw::Picture;
    ///
    /// let desc: BufferTensorDesc = "f32[2,3]:[5,1]".parse()?;
    /// let svg = Picture::new(&desc.to_index_map()?, "two rows of three")?.to_svg();
    /// assert!(svg.contains("data-index=\"1,2\" data-offset=\"7\""));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut page = Page::default();
        let left = MARGIN;
        let mut y = MARGIN + 18;
        page.text(left, y, "caption", &self.caption);
        page.wide(left + self.caption.chars().count() * CAPTION_CHARACTER);
        y += 22;
        page.text(left, y, "note", &self.summary);
        page.wide(left + self.summary.chars().count() * DIGIT);
        y += 12;
        self.draw_legend(&mut page, y);
        y += 44;
        page.heading(y, "The tensor: the number of a cell is its offset in memory, in elements");
        y += 14;
        y = self.draw_panels(&mut page, y) + 28;
        page.heading(y, "The memory: element and byte of each row; a cell has the index of its element");
        y += 14;
        y = self.draw_memory(&mut page, y);
        page.finish(y + MARGIN, &self.caption, &self.summary)
    }

    fn draw_legend(&self, page: &mut Page, top: usize) {
        let group = if self.panels.len() > 1 { "one colour: a matrix" } else { "one colour: a row" };
        let has_padding = self.memory.iter().any(|cell| cell.index.is_none());
        let mut entries = vec![("c0", group)];
        entries.extend(has_padding.then_some(("p", "padding: no element")));
        entries.extend(self.has_broadcast.then_some(("c1", "*: every index of this axis shares the place")));
        entries.extend((self.bits < 8).then_some(("c2", "a gap: the next byte")));
        let mut x = MARGIN;
        for (class, words) in entries {
            page.push(format_args!(
                "<g class=\"{class} key\"><rect x=\"{x}\" y=\"{top}\" width=\"14\" height=\"14\" rx=\"3\"/></g>"
            ));
            page.text(x + 20, top + 12, "note", words);
            x += 20 + words.chars().count() * DIGIT + 14;
        }
        page.wide(x);
    }

    fn draw_panels(&self, page: &mut Page, top: usize) -> usize {
        let longest = self.last_offset().to_string().len();
        let width = (longest * DIGIT + 14).max(34);
        let (mut x, mut y, mut bottom) = (MARGIN, top, top);
        for panel in &self.panels {
            let columns = panel.rows.first().map_or(0, Vec::len);
            let needed = NAMES + place(columns, width, panel.tile.1);
            if x > MARGIN && x + needed > MARGIN + PAGE {
                (x, y) = (MARGIN, bottom + 10);
            }
            bottom = bottom.max(draw_panel(page, panel, (x, y), width));
            x += needed + 30;
        }
        bottom
    }

    fn draw_memory(&self, page: &mut Page, top: usize) -> usize {
        let labels = self.memory.iter().filter_map(|place| place.index.as_ref());
        let longest = labels.map(|label| label.chars().count()).max().unwrap_or(0);
        let width = (longest * DIGIT + 12).max(34);
        let mut y = top;
        let left = MARGIN + NAMES.max(self.last_offset().to_string().len() * DIGIT) + BYTES;
        for (range, is_folded) in self.memory_rows() {
            let start = range.start;
            page.text(left - BYTES - 8, y + 18, "name end", &self.offset_of(start).to_string());
            page.text(left - 8, y + 18, "byte end", &self.byte_name(start));
            let mut x = left;
            if is_folded {
                let words = format!("{} of padding", counted(range.len(), "element"));
                let data = format!("data-offset=\"{}\" data-count=\"{}\"", self.offset_of(start), range.len());
                page.cell((x, y), 220, None, &words, &data);
                y += CELL_HEIGHT + GAP;
                continue;
            }
            let row = self.memory.get(range).unwrap_or(&[]);
            for (position, cell) in row.iter().enumerate() {
                if position > 0 && begins_tile(start + position, self.tile) {
                    x += TILE_GAP;
                } else if position > 0 && self.begins_byte(start + position) {
                    x += BYTE_GAP;
                }
                let colour = cell.index.as_ref().map(|_| cell.colour);
                let data = format!("data-offset=\"{}\"", self.offset_of(start + position));
                page.cell((x, y), width, colour, cell.index.as_deref().unwrap_or(""), &data);
                x += width + GAP;
            }
            y += CELL_HEIGHT + GAP + if begins_tile(start + self.row, self.tile) { 3 } else { 0 };
        }
        y
    }
}

/// Returns the width of `number` cells with the gaps between them, in pixels.
fn place(number: usize, width: usize, tile: usize) -> usize {
    let boundaries = if tile > 1 { number.saturating_sub(1).divided_by(tile) } else { 0 };
    number * (width + GAP) + boundaries * TILE_GAP
}

/// Draws a panel and returns the position of its lower edge, in pixels.
fn draw_panel(page: &mut Page, panel: &Panel, (left, top): (usize, usize), width: usize) -> usize {
    let mut y = top;
    if !panel.title.is_empty() {
        y += 16;
        page.text(left + NAMES, y, "title", &panel.title);
    }
    let start_of = |number: usize, size: usize, tile: usize| {
        place(number, size, 0) + if tile > 1 { number.divided_by(tile) * TILE_GAP } else { 0 }
    };
    if panel.has_columns {
        y += 16;
        for column in 0..panel.columns {
            let x = left + NAMES + start_of(column, width, panel.tile.1) + width / 2;
            page.text(x, y, "name middle", &(column + panel.first.1).to_string());
        }
    }
    y += 8;
    let mut bottom = y;
    for (number, row) in panel.rows.iter().enumerate() {
        let cell_top = y + start_of(number, CELL_HEIGHT, panel.tile.0);
        if panel.has_rows && number < panel.logical_rows {
            page.text(left + NAMES - 8, cell_top + 18, "name end", &(number + panel.first.0).to_string());
        }
        for (column, cell) in row.iter().enumerate() {
            let at = (left + NAMES + start_of(column, width, panel.tile.1), cell_top);
            let Some(Cell { offset, index, colour }) = cell else { continue };
            let index = index.as_ref().map(|index| format!("data-index=\"{index}\" "));
            let data = format!("{}data-offset=\"{offset}\"", index.as_deref().unwrap_or(""));
            page.cell(at, width, index.map(|_| *colour), &offset.to_string(), &data);
        }
        bottom = cell_top + CELL_HEIGHT;
    }
    bottom
}

#[derive(Default)]
struct Page {
    body: String,
    width: usize,
}

impl Page {
    fn wide(&mut self, right: usize) {
        self.width = self.width.max(right);
    }

    fn heading(&mut self, y: usize, text: &str) {
        self.text(MARGIN, y, "heading", text);
        self.wide(MARGIN + text.chars().count() * DIGIT);
    }

    fn push(&mut self, element: core::fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    fn text(&mut self, x: usize, y: usize, class: &str, text: &str) {
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escape(text)));
    }

    /// Draws a cell with a label and with `data-` attributes for scripts. A cell without a colour is padding.
    fn cell(&mut self, (x, y): (usize, usize), width: usize, colour: Option<usize>, label: &str, data: &str) {
        let class = match colour {
            Some(colour) => format!("c{}", colour.modulo(GROUPS)),
            None => "p".to_owned(),
        };
        self.push(format_args!(
            "<g class=\"{class}\" {data}><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL_HEIGHT}\" rx=\"4\"/>\
             <text x=\"{}\" y=\"{}\">{}</text></g>",
            x + width / 2,
            y + 18,
            escape(label)
        ));
        self.wide(x + width);
    }

    fn finish(self, height: usize, title: &str, summary: &str) -> String {
        let width = self.width + MARGIN;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n<desc>{}. Above, each element of the tensor with its offset in memory; below, \
             each physical element with its index.</desc>\n<style>\n{}</style>\n\
             <defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect class=\"h1\" width=\"7\" height=\"7\"/>\
             <rect class=\"h2\" width=\"2\" height=\"7\"/></pattern></defs>\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"10\" class=\"page\"/>\n{}</svg>\n",
            escape(title),
            escape(summary),
            include_str!("style.css"),
            self.body
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

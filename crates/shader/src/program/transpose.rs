//! The form `transpose`: rows of the source become columns of the destination through workgroup memory.
//!
//! A workgroup reads a square tile row by row, each row a run of words, puts it into workgroup memory, and
//! after a barrier reads it column by column and writes runs of words again. A row of the tile takes a word
//! more than it holds, so that the words of a column are stored in different banks.

use super::super::code::{Access, Code, ComputeShader, Condition, Expr, Memory};
use super::super::profile::Profile;
use super::gather::small;
use super::general::put;
use super::grid::{Grid, MOST_BASE, digits, moved};
use super::strided_box::{StridedBox, StridedLoop};
use super::words::{Width, low_ones, ones};

/// A plane of rows and columns, and the loops around it.
#[derive(Debug, Clone)]
pub(super) struct Transpose {
    /// The whole box, in (widened) elements.
    pub(super) whole: StridedBox,
    pub(super) width: Width,
    /// The positions of both loops: rows are packed on the destination, columns on the source.
    rows: usize,
    columns: usize,
    /// The elements along a side of a tile.
    side: u64,
    /// Does everything begin with a word on the source?
    aligned: bool,
}

impl Transpose {
    /// `None` if no two loops of the box are packed on one side each, if the destination's rows begin inside
    /// words, or if no tile fits the profile.
    pub(super) fn new(copy: &StridedBox, bits: u32, profile: &Profile) -> Option<Transpose> {
        let (whole, bits) = copy.widened(bits);
        let width = Width::new(bits);
        if !width.is_plain() || width.period > 4 {
            return None;
        }
        let packed = |stride: fn(&StridedLoop) -> u64| {
            whole.steps.iter().enumerate().filter(|(_, step)| stride(step) == 1).max_by_key(|(_, step)| step.extent)
        };
        let (columns, rows) = (packed(|step| step.source)?.0, packed(|step| step.destination)?.0);
        if columns == rows {
            return None;
        }
        let per_word = u64::from(width.in_period);
        let in_words = |value: u64| value.is_multiple_of(per_word);
        let others = |place: usize| whole.steps.iter().enumerate().filter(move |(at, _)| *at != place);
        let begins = in_words(whole.destination) && others(rows).all(|(_, step)| in_words(step.destination));
        let aligned = in_words(whole.source) && others(columns).all(|(_, step)| in_words(step.source));
        let words = |side: u64| side.saturating_mul(tile_row(side, width).saturating_add(1));
        let memory = u64::from(profile.max_workgroup_memory).div_euclid(4);
        // A tile needs a word of every element of a column, at least.
        let sides = [64, 32, 16, 8].into_iter().filter(|side| match per_word {
            1 => *side <= if width.period > 2 { 16 } else { 32 },
            _ => *side >= per_word,
        });
        let side = sides.into_iter().find(|&side| words(side) <= memory)?;
        begins.then_some(Transpose { whole, width, rows, columns, side, aligned })
    }

    /// What shaders of the same loops differ in: a part may begin inside a word, or be counted in smaller
    /// elements.
    pub(super) fn variant(&self) -> [u64; 3] {
        [self.width.bits.into(), self.side, self.aligned.into()]
    }

    fn plane(&self) -> Option<(StridedLoop, StridedLoop)> {
        Some((*self.whole.steps.get(self.rows)?, *self.whole.steps.get(self.columns)?))
    }

    /// Is the plane large enough for tiles to be worth it?
    pub(super) fn is_large(&self) -> bool {
        self.plane().is_some_and(|(rows, columns)| rows.extent.min(columns.extent) >= 8)
    }

    /// The loops over workgroups, the outermost first: those around the plane, and over its tiles. Strides
    /// are in elements.
    fn grid(&self) -> Vec<StridedLoop> {
        let around = self.whole.steps.iter().enumerate().filter(|(at, _)| *at != self.rows && *at != self.columns);
        let tiles = [self.rows, self.columns].into_iter().filter_map(|place| self.whole.steps.get(place));
        let tiles = tiles.map(|step| StridedLoop { extent: step.extent.div_ceil(self.side), ..*step });
        around.map(|(_, step)| *step).chain(tiles).collect()
    }

    pub(super) fn workgroups(&self) -> u64 {
        self.grid().iter().fold(1, |product: u64, step| product.saturating_mul(step.extent))
    }

    /// How many words an offset of elements is, rounded down.
    pub(super) fn words(&self, elements: u64) -> u64 {
        let words = u128::from(elements).saturating_mul(self.width.bits.into()).div_euclid(32);
        u64::try_from(words).unwrap_or(u64::MAX)
    }

    /// Its uniforms: workgroups along x and y, how many there are, where the destination's first word is in
    /// its binding, and the source's first element (or word, of larger ones) and last word.
    pub(super) fn shader(&self, invocations: u32) -> Option<ComputeShader> {
        let (rows, columns) = self.plane()?;
        let mut shader = ComputeShader::new("relayout", [invocations, 1, 1]);
        let source = shader.buffer("source", Access::Read);
        let destination = shader.buffer("destination", Access::ReadWrite);
        let grid = Grid::new(&mut shader);
        let count = shader.uniform("groups", u32::MAX);
        let destination_base = shader.uniform("destination_base", MOST_BASE);
        let source_base = shader.uniform("source_base", u32::MAX);
        let source_last = shader.uniform("source_last", 1 << 30);
        let row_words = tile_row(self.side, self.width);
        let tile = shader.shared("tile", small(self.side.saturating_mul(row_words.saturating_add(1))));
        let mut code = shader.code();
        let group = grid.group(&shader, &mut code);
        let local = shader.local_invocation_index();
        // All invocations of a workgroup take the same branch.
        code.when(group.less(&count), |code| {
            let steps = self.grid();
            let digits = digits(code, group, &steps);
            let (around, tiles) = digits.split_at_checked(digits.len().saturating_sub(2)).unwrap_or_default();
            let [row_tile, column_tile] = tiles else { return };
            let side = small(self.side);
            let plane = Plane {
                transpose: self,
                rows,
                columns,
                first_row: code.bind("first_row", row_tile * side),
                first_column: code.bind("first_column", column_tile * side),
                row_words: small(row_words),
                invocations,
            };
            let outer = |sum, stride: fn(&StridedLoop) -> u64, scale: fn(&Transpose, u64) -> u64| {
                moved(sum, around, &steps, |step| scale(self, stride(step)))
            };
            let from = outer(source_base, |step| step.source, Transpose::source_units);
            let from = code.bind("plane_from", from);
            plane.read(code, &source, &tile, &local, &from, &source_last);
            code.barrier();
            let to = outer(destination_base, |step| step.destination, Transpose::words);
            let to = code.bind("plane_to", to);
            plane.write(code, &destination, &tile, &local, &to);
        });
        Some(shader.with_body(code))
    }

    /// An offset on the source as the shader counts it: in words if everything is aligned to them, else in
    /// elements.
    pub(super) fn source_units(&self, elements: u64) -> u64 {
        if self.aligned { self.words(elements) } else { elements }
    }

    /// How many such units a word has.
    pub(super) fn units_in_word(&self) -> u64 {
        if self.aligned { 1 } else { self.width.in_period.into() }
    }
}

/// The words in a row of a tile.
fn tile_row(side: u64, width: Width) -> u64 {
    side.saturating_mul(width.period.into()).checked_div(width.in_period.into()).unwrap_or(side)
}

/// The plane that a workgroup has a tile of.
struct Plane<'a> {
    transpose: &'a Transpose,
    rows: StridedLoop,
    columns: StridedLoop,
    first_row: Expr,
    first_column: Expr,
    row_words: u32,
    invocations: u32,
}

impl Plane<'_> {
    /// Reads the tile row by row.
    fn read(&self, code: &mut Code, source: &Memory, tile: &Memory, local: &Expr, from: &Expr, last: &Expr) {
        let Transpose { width, aligned, side, .. } = *self.transpose;
        let all = small(side).saturating_mul(self.row_words);
        code.repeat("i", local, all, self.invocations, |code, i| {
            let row = code.bind("row", &i / self.row_words);
            let word = code.bind("word", &i % self.row_words);
            let in_plane = code.bind("source_row", &self.first_row + &row);
            // The first column of the word: of larger elements, the column of the word.
            let column = code.bind("column", &self.first_column + &word * width.in_period / width.period);
            let inside = in_plane.less(small(self.rows.extent)).and(column.less(small(self.columns.extent)));
            let place = row * self.row_words.saturating_add(1) + &word;
            code.when(inside, |code| {
                let units = small(self.transpose.source_units(self.rows.source));
                let at = from + in_plane * units;
                if aligned {
                    let at = code.bind("from", at + &self.first_column * width.period / width.in_period + word);
                    return code.store(tile, place, source.at(at));
                }
                let at = code.bind("from", at + column);
                let word = code.bind("from_word", &at / width.in_period);
                let shift = code.bind("shift", (at % width.in_period) * width.bits);
                let goes_on = shift.not_equal(0).and(word.less(last));
                let value = code.load_across("value", source, &word, &shift, goes_on);
                code.store(tile, place, value);
            });
        });
    }

    /// Writes the tile column by column.
    fn write(&self, code: &mut Code, destination: &Memory, tile: &Memory, local: &Expr, to: &Expr) {
        let Transpose { width, side, .. } = *self.transpose;
        let (per_word, period, pitch) = (width.in_period, width.period, self.row_words.saturating_add(1));
        let all = small(side).saturating_mul(self.row_words);
        code.repeat("j", local, all, self.invocations, |code, j| {
            let column = code.bind("tile_column", &j / self.row_words);
            let word = code.bind("column_word", &j % self.row_words);
            let in_plane = code.bind("destination_column", &self.first_column + &column);
            let row = code.bind("tile_row", &word * per_word / period);
            let first = code.bind("destination_row", &self.first_row + &row);
            let inside = in_plane.less(small(self.columns.extent)).and(first.less(small(self.rows.extent)));
            code.when(inside, |code| {
                let stride = small(self.transpose.words(self.columns.destination));
                let place = to + in_plane * stride + &self.first_row * period / per_word + &word;
                let place = code.bind("to", place);
                if per_word == 1 {
                    return code.store(destination, place, tile.at(row * pitch + column * period + word % period));
                }
                let at = code.bind("at", row * pitch + &column / per_word);
                let shift = code.bind("tile_shift", (column % per_word) * width.bits);
                let whole = self.rows.extent.is_multiple_of(per_word.into());
                let left = code.bind("left", Expr::from(small(self.rows.extent)) - first);
                let value = code.variable("packed", 0, u32::MAX);
                code.repeat("e", 0, per_word, 1, |code, e| {
                    let there = if whole { Condition::True } else { e.less(&left) };
                    code.when(there, |code| {
                        let element = (tile.at(at + &e * pitch) >> &shift) & low_ones(width.bits);
                        code.assign(&value, Expr::from(&value) | (element << (e * width.bits)));
                    });
                });
                let mask = match whole {
                    true => Expr::from(u32::MAX),
                    false => ones(&(left.min(per_word) * width.bits)),
                };
                put(code, destination, &place, (&value).into(), mask);
            });
        });
    }
}

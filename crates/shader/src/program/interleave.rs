//! The form `interleave`: a few rows become one, element by element, or one row becomes several. An
//! invocation takes a word of each row, and makes as many words of the elements in them.

use super::super::code::{Access, ComputeShader, Expr};
use super::grid::{Grid, MOST_BASE, digits, moved};
use super::strided_box::{StridedBox, StridedLoop};
use super::words::{Width, low_ones};

/// The most elements that one invocation moves.
const MOST_MOVED: u64 = 64;

/// Rows that are interleaved, in words.
#[derive(Debug, Clone)]
pub(super) struct Interleave {
    /// The loops outside, and as the last one that over the words of a row.
    pub(super) outer: StridedBox,
    rows: u32,
    /// Words from one row to the next: on the source if the rows are there, else on the destination.
    pitch: u32,
    /// Rows on the destination become one: the other way round.
    deinterleave: bool,
    width: Width,
}

impl Interleave {
    /// `None` if the box does not interleave a few rows of whole words.
    pub(super) fn new(copy: &StridedBox, bits: u32) -> Option<Interleave> {
        let (copy, bits) = copy.widened(bits);
        let width = Width::new(bits);
        let per_word = u64::from(width.in_period);
        if width.period != 1 {
            return None;
        }
        let few = 2..=MOST_MOVED.checked_div(per_word)?.min(16);
        let packed = |stride: fn(&StridedLoop) -> u64| copy.steps.iter().position(|step| stride(step) == 1);
        let (on_source, on_destination) = (packed(|step| step.source)?, packed(|step| step.destination)?);
        let (reads, writes) = (*copy.steps.get(on_source)?, *copy.steps.get(on_destination)?);
        let (deinterleave, rows, columns) = if few.contains(&writes.extent) && reads.destination == writes.extent {
            (false, writes, reads)
        } else if few.contains(&reads.extent) && writes.source == reads.extent {
            (true, reads, writes)
        } else {
            return None;
        };
        let words = |elements: u64| elements.is_multiple_of(per_word).then(|| elements.checked_div(per_word)).flatten();
        let mut outer =
            StridedBox { source: words(copy.source)?, destination: words(copy.destination)?, ..copy.clone() };
        outer.steps.clear();
        for (place, step) in copy.steps.iter().enumerate() {
            if place != on_source && place != on_destination {
                let (source, destination) = (words(step.source)?, words(step.destination)?);
                outer.steps.push(StridedLoop { extent: step.extent, source, destination });
            }
        }
        let (source, destination) = if deinterleave { (rows.extent, 1) } else { (1, rows.extent) };
        let pitch = words(if deinterleave { rows.destination } else { rows.source })?;
        outer.steps.push(StridedLoop { extent: words(columns.extent)?, source, destination });
        let (rows, pitch) = (u32::try_from(rows.extent).ok()?, u32::try_from(pitch).ok()?);
        Some(Interleave { outer, rows, pitch, deinterleave, width })
    }

    /// How many words are between the first and the last that the rows of one iteration touch, on both sides.
    pub(super) fn reach(&self) -> (u64, u64) {
        let (rows, pitch) = (u64::from(self.rows).saturating_sub(1), u64::from(self.pitch));
        if self.deinterleave { (rows, rows.saturating_mul(pitch)) } else { (rows.saturating_mul(pitch), rows) }
    }

    /// Its uniforms are those of the rows.
    pub(super) fn shader(&self, invocations: u32) -> ComputeShader {
        let mut shader = ComputeShader::new("relayout", [invocations, 1, 1]);
        let source = shader.buffer("source", Access::Read);
        let destination = shader.buffer("destination", Access::ReadWrite);
        let grid = Grid::new(&mut shader);
        let count = shader.uniform("words", u32::MAX);
        let destination_base = shader.uniform("destination_base", MOST_BASE);
        let source_base = shader.uniform("source_base", MOST_BASE);
        let mut code = shader.code();
        let group = grid.group(&shader, &mut code);
        let own = code.bind("own", group * invocations + shader.local_invocation_index());
        code.when(own.less(&count), |code| {
            let steps = &self.outer.steps;
            let digits = digits(code, own, steps);
            let from = code.bind("from", moved(source_base, &digits, steps, |step| step.source));
            let to = code.bind("to", moved(destination_base, &digits, steps, |step| step.destination));
            let (read, write) = if self.deinterleave { (1, self.pitch) } else { (self.pitch, 1) };
            let words = (0..self.rows).map(|row| code.bind("word", source.at(&from + row.saturating_mul(read))));
            let words: Vec<Expr> = words.collect();
            for row in 0..self.rows {
                let value = self.word(&words, row);
                code.store(&destination, &to + row.saturating_mul(write), value);
            }
        });
        shader.with_body(code)
    }

    /// The word that row `row` of the destination gets (or the word after `row` others).
    fn word(&self, words: &[Expr], row: u32) -> Expr {
        let Width { bits, in_period: per_word, .. } = self.width;
        let mask = low_ones(bits);
        (0..per_word).fold(Expr::from(0), |value, place| {
            // Elements are numbered as the interleaved side has them: column by column.
            let (columns, rows) = (per_word, self.rows);
            let (from, column) = if self.deinterleave {
                let number = place.saturating_mul(rows).saturating_add(row);
                (number.checked_div(columns).unwrap_or(0), number.checked_rem(columns).unwrap_or(0))
            } else {
                let number = row.saturating_mul(columns).saturating_add(place);
                (number.checked_rem(rows).unwrap_or(0), number.checked_div(rows).unwrap_or(0))
            };
            let word = usize::try_from(from).ok().and_then(|from| words.get(from)).cloned().unwrap_or(Expr::from(0));
            let element = (word >> column.saturating_mul(bits)) & mask;
            value | (element << place.saturating_mul(bits))
        })
    }

    /// In words: rows, and how they are stored.
    pub(super) fn words(&self) -> String {
        let what = if self.deinterleave { "one row into" } else { "one row of" };
        format!("{what} {} rows, elements of {} bits", self.rows, self.width.bits)
    }
}

//! The form `interleave`: a few rows are interleaved into one row, or one interleaved row is split into
//! several. An invocation takes one word of each row, and makes the same number of words from their elements.
//!
//! On the side of the interleaved row, the words of an invocation are contiguous. If there are two or four,
//! they are read or written as a group. Other numbers of words go through workgroup memory, so that a warp
//! reads or writes this side in one run too:
//!
//! ```text
//! 3 rows of 4 u8 each     invocation 0: a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3    interleaved words 0, 1, 2
//!                         invocation 1: a4 b4 c4 a5 | ..                           interleaved words 3, 4, 5
//! ```

use super::super::code::{Code, Expr, Memory};
use super::super::profile::Sizes;
use super::draft::{Draft, Step, digits, first_read, read_at, written_at};
use super::gather::small;
use super::strided_box::{StridedBox, StridedLoop};
use super::words::{Width, low_ones};

/// The most elements that one invocation moves. A box that needs more is copied in another form.
const MOST_MOVED: u64 = 64;

/// A box that interleaves a few rows, or splits one row into a few. Offsets and strides count words.
#[derive(Debug, Clone)]
pub(super) struct Interleave {
    /// The loops around the rows. The last loop is over the words of a row.
    pub(super) outer: StridedBox,
    rows: u32,
    /// The distance from one row to the next, in words, on the side with several rows.
    pitch: u32,
    /// Whether an interleaved row of the source is split into rows of the destination, and not the reverse.
    deinterleave: bool,
    width: Width,
}

impl Interleave {
    /// Returns `None` if the box does not interleave a few rows of whole words.
    pub(super) fn new(copy: &StridedBox, bits: u32) -> Option<Interleave> {
        let (copy, bits) = copy.widened(bits);
        let width = Width::new(bits);
        let per_word = u64::from(width.in_period);
        if width.period != 1 || width.in_period == 1 {
            return None;
        }
        let few = 2..=MOST_MOVED.checked_div(per_word)?.min(16);
        let packed = |stride: fn(&StridedLoop) -> u64| copy.steps.iter().position(|step| stride(step) == 1);
        let (on_source, on_destination) = (packed(|step| step.source)?, packed(|step| step.destination)?);
        let (reads, writes) = (*copy.steps.get(on_source)?, *copy.steps.get(on_destination)?);
        if reads.reversed || writes.reversed {
            return None;
        }
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
                outer.steps.push(StridedLoop { source, destination, ..*step });
            }
        }
        let (source, destination) = if deinterleave { (rows.extent, 1) } else { (1, rows.extent) };
        let pitch = words(if deinterleave { rows.destination } else { rows.source })?;
        outer.steps.push(StridedLoop { extent: words(columns.extent)?, source, destination, reversed: false });
        let (rows, pitch) = (u32::try_from(rows.extent).ok()?, u32::try_from(pitch).ok()?);
        Some(Interleave { outer, rows, pitch, deinterleave, width })
    }

    /// The distance, in words, between the first and the last word that one iteration touches, on the source
    /// and on the destination.
    pub(super) fn reach(&self) -> (u64, u64) {
        let (rows, pitch) = (u64::from(self.rows).saturating_sub(1), u64::from(self.pitch));
        if self.deinterleave { (rows, rows.saturating_mul(pitch)) } else { (rows.saturating_mul(pitch), rows) }
    }

    /// Returns how many words of the interleaved row are read or written by one access. These are all words
    /// of an iteration, if they are 2 or 4 and every iteration begins at a multiple of their number.
    /// Otherwise the result is 1. `starts` are the offsets of the tensors in their buffers, in words, and
    /// `alignment` is the alignment of bindings, in bytes.
    pub(super) fn group(&self, starts: [u64; 2], alignment: u64) -> u64 {
        let rows = u64::from(self.rows);
        let [start, first] =
            if self.deinterleave { [starts[0], self.outer.source] } else { [starts[1], self.outer.destination] };
        let fits = |value: u64| value.is_multiple_of(rows);
        let all = self.outer.steps.iter().all(|step| fits(self.joined(step)));
        let is_group = matches!(rows, 2 | 4) && fits(start) && fits(first) && all;
        if is_group && alignment.is_multiple_of(rows.saturating_mul(4)) { rows } else { 1 }
    }

    /// Returns the stride of a loop, in words, on the side of the interleaved row.
    fn joined(&self, step: &StridedLoop) -> u64 {
        if self.deinterleave { step.source } else { step.destination }
    }

    /// Whether consecutive iterations touch contiguous words of the interleaved row.
    fn is_one_run(&self) -> bool {
        let mut run = u64::from(self.rows);
        self.outer.steps.iter().rev().all(|step| {
            let follows = self.joined(step) == run && !step.reversed;
            run = run.saturating_mul(step.extent);
            follows
        })
    }

    /// Returns the number of invocations of a workgroup. It is `most`, halved until the words of all
    /// invocations fit in workgroup memory.
    pub(super) fn invocations(&self, most: u32, group: u64, memory: u64) -> u32 {
        let takes = |invocations: u32| u64::from(padded(invocations.saturating_mul(self.rows)).saturating_add(1));
        let mut invocations = most;
        while group == 1 && invocations > 1 && takes(invocations).saturating_mul(4) > memory {
            invocations = invocations.div_euclid(2);
        }
        invocations
    }

    /// Returns the shader. `source` and `destination` are the indices in the bindings at which the box
    /// begins, in words, or in groups on the side that has groups.
    pub(super) fn draft(&self, sizes: Sizes, invocations: u32, group: u64, [source, destination]: [u64; 2]) -> Draft {
        let group_words = small(group);
        let (read, written) = if self.deinterleave { (group_words, 1) } else { (1, group_words) };
        let (mut draft, from, to) = Draft::new(sizes, invocations, Some(read), written);
        let Some(from) = from else { return draft };
        let grid = draft.grid();
        let count = draft.uniform("words", self.outer.count(), u32::MAX);
        let to_base = draft.base("destination_base", destination);
        let from_base = draft.base("source_base", first_read(source, &self.outer));
        let steps = draft.steps(&self.outer.steps);
        let pitch = draft.number("pitch", self.pitch.into());
        let staged = (group == 1).then(|| {
            let words = invocations.saturating_mul(self.rows);
            draft.shader.shared("tile", padded(words).saturating_add(1))
        });
        let mut code = draft.shader.code();
        let workgroup = grid.group(&draft.shader, &mut code);
        let local = draft.shader.local_invocation_index();
        let first = code.bind("first", workgroup * invocations);
        let body = Body {
            interleave: self,
            from,
            to,
            steps,
            count,
            from_base,
            to_base,
            pitch,
            invocations,
            group: group_words,
        };
        let own = code.bind("own", &first + &local);
        match (&staged, self.deinterleave) {
            (None, _) => code.when(own.less(&body.count), |code| {
                let at = body.at(code, &own);
                let words = body.load(code, &at);
                body.store(code, &at, &words);
            }),
            (Some(tile), false) => {
                code.when(own.less(&body.count), |code| {
                    let at = body.at(code, &own);
                    let words = body.load(code, &at);
                    for row in 0..self.rows {
                        let place = &local * self.rows + row;
                        let place = code.bind("place", &place + &place / 32);
                        code.store(tile, place, self.word(&words, row));
                    }
                });
                code.barrier();
                body.one_row(&mut code, tile, &first, &local);
            }
            (Some(tile), true) => {
                body.one_row(&mut code, tile, &first, &local);
                code.barrier();
                code.when(own.less(&body.count), |code| {
                    let at = body.at(code, &own);
                    let word = |row: u32| {
                        let place = &local * self.rows + row;
                        code.bind("word", tile.at(&place + &place / 32))
                    };
                    let words: Vec<Expr> = (0..self.rows).map(word).collect();
                    body.store(code, &at, &words);
                });
            }
        }
        draft.shader = draft.shader.with_body(code);
        draft
    }

    /// Returns word number `row` of the words that an invocation writes. If the interleaved row is split,
    /// this is the word of row `row`, and otherwise it is a word of the interleaved row.
    fn word(&self, words: &[Expr], row: u32) -> Expr {
        let Width { bits, in_period: per_word, .. } = self.width;
        let mask = low_ones(bits);
        (0..per_word).fold(Expr::from(0), |value, place| {
            // Elements are numbered in the order of the interleaved row: an element of each row, then the
            // next of each row.
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

    pub(super) fn row_words(&self) -> u64 {
        self.outer.steps.last().map_or(1, |last| last.extent)
    }

    /// Describes the rows for people.
    pub(super) fn words(&self) -> String {
        let what = if self.deinterleave { "one row into" } else { "one row of" };
        format!("{what} {} rows, elements of {} bits", self.rows, self.width.bits)
    }
}

/// Returns the index of a word in workgroup memory. One word of padding follows each 32 words, so that words
/// that are a row apart are in different banks.
fn padded(word: u32) -> u32 {
    word.saturating_add(word.div_euclid(32))
}

struct Body<'a> {
    interleave: &'a Interleave,
    from: Memory,
    to: Memory,
    steps: Vec<Step>,
    count: Expr,
    from_base: Expr,
    to_base: Expr,
    pitch: Expr,
    invocations: u32,
    group: u32,
}

impl Body<'_> {
    /// Returns the offsets at which iteration `own` reads and writes.
    fn at(&self, code: &mut Code, own: &Expr) -> [Expr; 2] {
        let digits = digits(code, own.clone(), &self.steps);
        let from = read_at(self.from_base.clone(), &digits, &self.steps);
        [from, written_at(self.to_base.clone(), &digits, &self.steps)]
    }

    fn load(&self, code: &mut Code, [from, _]: &[Expr; 2]) -> Vec<Expr> {
        let from = code.bind("from", from);
        match self.interleave.deinterleave {
            true => code.load_group("words", &self.from, from / self.group),
            false => {
                let word = |row| code.bind("word", self.from.at(&from + &self.pitch * row));
                (0..self.interleave.rows).map(word).collect()
            }
        }
    }

    fn store(&self, code: &mut Code, [_, to]: &[Expr; 2], words: &[Expr]) {
        let rows = self.interleave.rows;
        let made: Vec<Expr> = (0..rows).map(|row| self.interleave.word(words, row)).collect();
        let to = code.bind("to", to);
        if !self.interleave.deinterleave {
            return code.store_group(&self.to, to / self.group, &made);
        }
        for (row, word) in (0..rows).zip(made) {
            code.store(&self.to, &to + &self.pitch * row, word);
        }
    }

    /// Copies words of the interleaved row between its buffer and workgroup memory. Consecutive invocations
    /// copy consecutive words.
    fn one_row(&self, code: &mut Code, tile: &Memory, first: &Expr, local: &Expr) {
        let interleave = self.interleave;
        for row in 0..interleave.rows {
            let word = code.bind("word", local + row.saturating_mul(self.invocations));
            let item = code.bind("item", first + &word / interleave.rows);
            code.when(item.less(&self.count), |code| {
                let part = &word % interleave.rows;
                let at = |base: &Expr| base + first * interleave.rows + &word;
                let [from, to] = match interleave.is_one_run() {
                    true => [at(&self.from_base), at(&self.to_base)],
                    false => {
                        let [from, to] = self.at(code, &item);
                        [from + &part, to + &part]
                    }
                };
                let place = &word + &word / 32;
                match interleave.deinterleave {
                    true => code.store(tile, place, self.from.at(from)),
                    false => code.store(&self.to, to, tile.at(place)),
                }
            });
        }
    }
}

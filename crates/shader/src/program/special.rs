//! Chooses the form of each box of a copy.
//!
//! The form of the largest box is the form of the program. The general form is for boxes that no other form
//! fits.

use tensor_layout::Error;

use super::form::Form;
use super::interleave::Interleave;
use super::pass::Pass;
use super::planner::Planner;
use super::rows::Content;
use super::strided_box::{StridedBox, StridedLoop};
use super::tile::Tile;
use super::words::Width;

/// The most boxes that get a pass each. A copy of more boxes takes the general form, because launching the
/// passes would take longer.
pub(super) const MOST_BOXES: u64 = 16;

/// The number of words in a sector of a GPU's cache. Shorter runs are copied in tiles, if tiles have longer
/// runs.
const SECTOR: u64 = 8;

/// Runs of at least this many words are copied in the form `rows`, even if they begin inside a sector. For
/// shorter ones tiles are tried first.
const LONG_RUN: u64 = 128;

/// The result of the search for a form other than the general one.
pub(super) enum Special {
    /// A form that applies, the reason for it in words, and the passes.
    Fits(Form, String, Vec<Pass>),
    /// The reason why only the general form applies.
    Unfit(String),
}

/// The way to copy one box.
enum Choice {
    /// Rows of whole words, in a box whose offsets and strides count words.
    Rows(StridedBox),
    Interleave(Interleave),
    /// Tiles through workgroup memory: the box in elements, the width of an element, and the tile.
    Transpose(StridedBox, Width, Box<Tile>),
}

impl Choice {
    fn form(&self, only: bool) -> Form {
        match self {
            Choice::Rows(words) if only && is_run(words) => Form::Linear,
            Choice::Rows(_) => Form::Rows,
            Choice::Interleave(_) => Form::Interleave,
            Choice::Transpose(..) => Form::Transpose,
        }
    }
}

/// Whether the box is a single run, contiguous on both sides.
fn is_run(copy: &StridedBox) -> bool {
    matches!(copy.steps.as_slice(), [] | [StridedLoop { source: 1, destination: 1, reversed: false, .. }])
}

/// The length, in words, of the innermost run. It is contiguous on the destination. On the source, it is
/// contiguous, contiguous backwards, or one word that is repeated.
fn run(words: &StridedBox) -> u64 {
    words.steps.last().filter(|last| last.source <= 1 && last.destination == 1).map_or(1, |last| last.extent)
}

/// Whether all runs begin and end at the ends of sectors on both sides.
fn has_whole_sectors(words: &StridedBox) -> bool {
    let whole = |value: u64| value.is_multiple_of(SECTOR);
    let outer = words.steps.iter().rev().skip(1);
    let mut strides = outer.flat_map(|step| [step.source, step.destination]);
    whole(run(words)) && whole(words.source) && whole(words.destination) && strides.all(whole)
}

impl Planner<'_> {
    /// Returns the passes in the form `wanted`. If it is `None`, the form that should be fastest is taken.
    pub(super) fn special(&self, wanted: Option<Form>) -> Result<Special, Error> {
        let refused = |reason: &str| Ok(Special::Unfit(reason.to_owned()));
        if self.relayout.changes_width() {
            return refused("elements change their width");
        }
        let mut passes = self.relayout.passes();
        let (Some(pass), None) = (passes.next(), passes.next()) else {
            return refused("the copy goes through a packed buffer");
        };
        if pass.box_count > MOST_BOXES {
            return refused(&format!("the copy falls into {} boxes, more than {MOST_BOXES}", pass.box_count));
        }
        let Some(boxes) = pass.boxes().map(|copy| StridedBox::new(&copy)).collect::<Option<Vec<_>>>() else {
            return refused("blocks of both sides clash, and only digits follow that");
        };
        let Some(largest) = boxes.iter().max_by_key(|copy| copy.count()) else {
            return refused("there is nothing to copy");
        };
        let only = boxes.len() == 1;
        let mut rest = None;
        let Some((first, reason)) = self.choose(largest, only, wanted, &mut rest) else {
            return Ok(Special::Unfit(self.why_not(wanted)));
        };
        let form = first.form(only);
        let mut all = match self.fill()? {
            Some(fill) => fill,
            None if wanted.is_none() => {
                return refused("padding begins inside words, and is set along with the elements");
            }
            None => self.padding()?,
        };
        let mut first = Some(first);
        for copy in &boxes {
            let choice = match first.take_if(|_| std::ptr::eq(copy, largest)) {
                Some(choice) => Some(choice),
                None => self.choose(copy, false, None, &mut None).or_else(|| self.any(copy)).map(|(choice, _)| choice),
            };
            let Some(choice) = choice else {
                return refused("a ragged edge begins inside words of the destination");
            };
            let Some(passes) = self.passes_of(choice, only)? else {
                return refused("it does not fit the bindings in parts");
            };
            all.extend(passes);
        }
        if let Some(first) = rest {
            let Some(passes) = self.rest(first)? else {
                return refused("its last word does not fit the bindings together with the source");
            };
            all.extend(passes);
        }
        Ok(Special::Fits(form, reason, all))
    }

    /// Chooses the form of a box, with the reason. If the end of the box is no whole word, the form leaves it
    /// out, and `rest` is set to the first word of the destination that is left out. The general form makes
    /// the words from there on.
    fn choose(
        &self,
        copy: &StridedBox,
        only: bool,
        wanted: Option<Form>,
        rest: &mut Option<u64>,
    ) -> Option<(Choice, String)> {
        let is = |form| wanted.is_none_or(|wanted| wanted == form);
        let in_words = copy.in_words(self.width, true);
        if only && is(Form::Linear) && is_run(copy) {
            let words = match in_words.clone() {
                Some(words) => words,
                None => self.whole_words(copy, rest)?,
            };
            let reason = format!("because all elements are one run of {} words", words.count());
            return Some((Choice::Rows(words), reason));
        }
        let rows = in_words.filter(|_| is(Form::Rows)).map(|words| {
            let width = self.widest(&words, true).1;
            let reason = format!("because elements are contiguous in runs of {} words, {width} at a time", run(&words));
            let long = run(&words) >= LONG_RUN || (run(&words) >= SECTOR && has_whole_sectors(&words));
            (long, (Choice::Rows(words), reason))
        });
        let rows = match rows {
            Some((true, rows)) => return Some(rows),
            short => short.map(|(_, rows)| rows),
        };
        let interleave = is(Form::Interleave).then(|| Interleave::new(copy, self.width.bits)).flatten();
        let interleave = interleave.map(|interleave| {
            let reason = format!("because it makes {}", interleave.words());
            (interleave.row_words() >= SECTOR, (Choice::Interleave(interleave), reason))
        });
        let interleave = match interleave {
            Some((true, interleave)) => return Some(interleave),
            short => short.map(|(_, interleave)| interleave),
        };
        let run = match &rows {
            Some((Choice::Rows(words), _)) => run(words),
            _ => 0,
        };
        if is(Form::Transpose)
            && let Some((choice, reason)) = self.tiles(copy, run, wanted.is_some())
        {
            return Some((choice, reason));
        }
        // Even for short runs and single words, these forms take fewer divisions than the general form.
        interleave.or(rows)
    }

    /// Chooses tiles if the runs of both sides have at least a sector and are longer than `run` words. If the
    /// caller `wanted` tiles, runs of any length will do.
    fn tiles(&self, copy: &StridedBox, run: u64, wanted: bool) -> Option<(Choice, String)> {
        let (copy, bits) = copy.widened(self.width.bits);
        let width = Width::new(bits);
        if !width.is_plain() {
            return None;
        }
        let tile = Tile::new(&copy, width, self.profile, self.starts())?;
        let [source, destination] = tile.runs;
        if !wanted && source.min(destination) < SECTOR.max(run.saturating_add(1)) {
            return None;
        }
        let reason = format!(
            "because tiles of {} words have runs of {source} words on the source, {} at a time, and of {destination} on the destination, {} at a time",
            tile.words, tile.read_width, tile.write_width
        );
        Some((Choice::Transpose(copy, width, Box::new(tile)), reason))
    }

    /// Chooses a form for a box at a ragged edge: `rows` if that applies, and otherwise `transpose`. The
    /// length of the runs does not matter.
    fn any(&self, copy: &StridedBox) -> Option<(Choice, String)> {
        let (rows, transpose) = (Some(Form::Rows), Some(Form::Transpose));
        self.choose(copy, false, rows, &mut None).or_else(|| self.choose(copy, false, transpose, &mut None))
    }

    /// Returns the whole words of a run that begins at a whole word on both sides. `rest` is set to the first
    /// word of the destination after them.
    fn whole_words(&self, copy: &StridedBox, rest: &mut Option<u64>) -> Option<StridedBox> {
        let Width { in_period, period, .. } = self.width;
        let mut whole = copy.clone();
        let last = whole.steps.last_mut()?;
        last.extent = last.extent.saturating_sub(last.extent.checked_rem(in_period.into())?);
        if last.extent < 2 {
            return None;
        }
        let words = whole.in_words(self.width, true)?;
        // The run has all elements of the tensor, so the words from here on hold all elements that are left.
        let end = copy.destination.checked_add(whole.count())?.checked_div(in_period.into())?;
        *rest = Some(end.checked_mul(period.into())?);
        Some(words)
    }

    /// Returns the reason why the largest box has no special form, or does not have the form `wanted`.
    fn why_not(&self, wanted: Option<Form>) -> String {
        let bits = self.width.bits;
        match wanted {
            Some(Form::Linear) => "its elements are not one run of words on both sides".to_owned(),
            Some(Form::Rows) => format!("its elements of {bits} bits do not come in whole words on both sides"),
            Some(Form::Transpose) => {
                "it has no two loops of which one is packed on the source and the other one, in whole words, on the destination".to_owned()
            }
            Some(Form::Interleave) => "it interleaves no rows of whole words, 2 to 16 of them".to_owned(),
            _ => format!("elements of {bits} bits begin inside words of the destination, or in short runs"),
        }
    }

    fn passes_of(&self, choice: Choice, only: bool) -> Result<Option<Vec<Pass>>, Error> {
        let form = choice.form(only);
        match choice {
            Choice::Rows(words) => self.rows(form, words, Content::Source),
            Choice::Interleave(interleave) => self.interleave(&interleave),
            Choice::Transpose(copy, width, tile) => self.transpose(&copy, width, *tile),
        }
    }
}

//! The questions that a plan answers (as whether it streams), and a *choice*: answers that replace those of
//! the cost model.
//!
//! The cost model answers every question from the caches and the pair of layouts. Where its answers are
//! close, only a measurement decides. A *choice* overrides some answers. Its text has a version and one word
//! for each question that it answers: `v1 stores=cached panels=wide`. The cost model answers all other
//! questions, so `v1` alone is its estimate.
//!
//! Each answer is a row of [`ANSWERS`], which changes numbers of the cost model and nothing else. So a choice
//! can only select among plans that the planner makes and checks anyway, and no choice changes the bytes of a
//! copy. For a pair of layouts to which an answer does not matter, the answer changes nothing. So a choice
//! from another machine can be used.

use std::fmt;

use super::plan::machine::Knobs;

/// How much work goes into the choice of a plan.
///
/// ```
/// use tensor_layout::relayout::{Effort, Relayout, Settings};
/// use tensor_layout::ArrayShape;
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
/// let effort = Effort::Measure { most_bytes: 1 << 20 };
/// let measured = Relayout::with_settings(&rows, &columns, &Settings { effort, ..Settings::default() })?;
/// // The text is kept beside the model. The next process plans the same copy from it and measures nothing.
/// let choice = Some(measured.choice());
/// let again = Relayout::with_settings(&rows, &columns, &Settings { choice, ..Settings::default() })?;
/// assert_eq!(again.choice(), measured.choice());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Effort {
    /// The plan is chosen by a cost model, in some microseconds.
    #[default]
    Estimate,
    /// At most 8 plans between which the cost model sees little difference are timed in buffers of the real
    /// size, and the fastest is taken. Each plan runs at least twice, and up to 20 times in about 50 ms. The
    /// best plans are then timed once more in the same way. To measure in buffers of your own, use
    /// [`Relayout::measured`](super::Relayout::measured).
    Measure {
        /// The most bytes that both buffers may take together. If a copy needs more, or the memory cannot be
        /// had, the plan is the estimate. [`Relayout::estimate_reason`](super::Relayout::estimate_reason)
        /// then says so.
        most_bytes: u64,
    },
}

/// An answer to a question of the plan, with the numbers of the cost model that it changes.
struct Answer {
    question: &'static str,
    word: &'static str,
    apply: fn(&mut Knobs),
}

const fn row(question: &'static str, word: &'static str, apply: fn(&mut Knobs)) -> Answer {
    Answer { question, word, apply }
}

/// All answers. They are tried in this order, so those that change the most come first.
const ANSWERS: &[Answer] = &[
    row("stores", "cached", |knobs| (knobs.streaming_from, knobs.long_rows_streaming_from) = (u64::MAX, u64::MAX)),
    row("stores", "streaming", |knobs| (knobs.streaming_from, knobs.long_rows_streaming_from) = (0, 0)),
    row("loops", "kernel", |knobs| knobs.plain_loops = false),
    row("registers", "32", |knobs| *knobs = knobs.at_level(knobs.level.with_half_registers())),
    row("prefetch", "no", |knobs| knobs.prefetch_above = u64::MAX),
    row("prefetch", "yes", |knobs| knobs.prefetch_above = 0),
    row("panels", "wide", |knobs| resize(knobs, 2, 1)),
    row("panels", "narrow", |knobs| resize(knobs, 1, 2)),
    row("rows", "registers", |knobs| knobs.fills_registers = Some(true)),
    row("rows", "panels", |knobs| knobs.fills_registers = Some(false)),
    row("lines", "scattered", |knobs| knobs.scattered = true),
    row("lines", "ordered", |knobs| knobs.scattered = false),
    row("tiles", "joined", |knobs| knobs.joins_tiles = true),
    row("tiles", "apart", |knobs| knobs.joins_tiles = false),
    row("ahead", "near", |knobs| knobs.panels_in_l1 = Some(true)),
    row("ahead", "far", |knobs| knobs.panels_in_l1 = Some(false)),
    row("order", "source", |knobs| knobs.in_l2 = 0),
    row("order", "destination", |knobs| knobs.in_l2 = usize::MAX),
];

fn resize(knobs: &mut Knobs, times: usize, part: usize) {
    let resized = |bytes: usize| bytes.saturating_mul(times).checked_div(part).unwrap_or(bytes);
    *knobs = Knobs { panel: resized(knobs.panel), panel_width: resized(knobs.panel_width), ..*knobs };
}

/// A choice: bit `i` is set if row `i` of [`ANSWERS`] is chosen. Each question has at most one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Choice(u32);

const VERSION: &str = "v1";

impl Choice {
    pub(super) fn singles() -> impl Iterator<Item = Choice> {
        ANSWERS.iter().zip(0..).map(|(_, place)| Choice(1 << place))
    }

    fn answers(self) -> impl Iterator<Item = (Choice, &'static Answer)> {
        Self::singles().zip(ANSWERS).filter(move |(single, _)| self.0 & single.0 != 0)
    }

    pub(super) fn answers_to(self, question: &str) -> bool {
        self.answers().any(|(_, answer)| answer.question == question)
    }

    /// Adds the answers of `other` to this choice. If both answer a question, that of `other` is taken.
    pub(super) fn with(self, other: Choice) -> Choice {
        let kept = self.answers().filter(|(_, answer)| !other.answers_to(answer.question));
        kept.fold(other, |choice, (single, _)| Choice(choice.0 | single.0))
    }

    pub(super) fn apply(self, mut knobs: Knobs) -> Knobs {
        self.answers().for_each(|(_, answer)| (answer.apply)(&mut knobs));
        knobs
    }

    /// Reads the text of a choice. The error says why the choice cannot be used.
    pub(super) fn read(text: &str) -> Result<Choice, String> {
        let mut words = text.split_whitespace();
        let version = words.next().unwrap_or("");
        if version != VERSION {
            return Err(format!("its version is `{version}`, and only `{VERSION}` can be read"));
        }
        words.try_fold(Choice::default(), |choice, word| {
            let (question, wanted) = word.split_once('=').unwrap_or((word, ""));
            let mut rows = Self::singles().zip(ANSWERS);
            match rows.find(|(_, answer)| (answer.question, answer.word) == (question, wanted)) {
                None => Err(format!("`{word}` is no answer of this version")),
                Some(_) if choice.answers_to(question) => Err(format!("it answers `{question}` twice")),
                Some((single, _)) => Ok(choice.with(single)),
            }
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERSION)?;
        self.answers().try_for_each(|(_, Answer { question, word, .. })| write!(f, " {question}={word}"))
    }
}

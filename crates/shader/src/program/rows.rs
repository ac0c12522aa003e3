//! The forms `linear` and `rows`: runs of whole words are copied in groups, which are as wide as alignment
//! and strides allow. The same code without a source fills boxes of padding.
//!
//! An invocation copies four groups of words. The distance between its groups is the number of invocations of
//! a workgroup, in groups. So the accesses of a warp are contiguous, and an invocation issues all four loads
//! before its first store.

use super::super::code::{Code, Condition, Expr, Memory};
use super::super::profile::Sizes;
use super::draft::{Draft, Step, digits, first_read, read_at, written_at};
use super::strided_box::StridedBox;

/// What is written to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// The words of the source.
    Source,
    /// One word, repeated.
    Word(u32),
}

/// The number of groups of words that an invocation copies.
pub(super) const EACH: u32 = 4;

/// The most loops of a box for which the code of four groups is written out. With more loops, the shader has
/// a loop over the groups.
const MOST_LOOPS: usize = 6;

/// Returns the shader for a box that counts groups of `width` words. The bases are the indices in the
/// bindings at which the box begins, in groups.
pub(super) fn draft(
    sizes: Sizes,
    copy: &StridedBox,
    width: u32,
    content: Content,
    invocations: u32,
    [source_base, destination_base]: [u64; 2],
) -> Draft {
    let read = (content == Content::Source).then_some(width);
    let (mut draft, source, destination) = Draft::new(sizes, invocations, read, width);
    let grid = draft.grid();
    let count = draft.uniform(if width == 1 { "words" } else { "groups" }, copy.count(), u32::MAX);
    let to = draft.base("destination_base", destination_base);
    let from = read.map(|_| draft.base("source_base", first_read(source_base, copy)));
    let steps = draft.steps(&copy.steps);
    let body = Body { source, destination, content, steps, to, from, width };
    let mut code = draft.shader.code();
    let group = grid.group(&draft.shader, &mut code);
    let apart = |times: u32| invocations.saturating_mul(times);
    let first = code.bind("first", group * apart(EACH) + draft.shader.local_invocation_index());
    let last = &first + apart(EACH.saturating_sub(1));
    // With many loops, each offset takes many divisions. The code of four groups would be long, and their
    // loads would wait for the divisions anyway.
    let (all, end) = match copy.steps.len() > MOST_LOOPS {
        true => (Condition::False, code.bind("end", (&last + 1).min(&count))),
        false => (last.less(&count), count),
    };
    code.when_else(
        all,
        |code| {
            let all = (0..EACH).map(|time| (&first + apart(time), Expr::from(0)));
            let loaded: Vec<_> = all.map(|(own, _)| body.load(code, own)).collect();
            for (to, words) in loaded {
                code.store_group(&body.destination, to, &words);
            }
        },
        |code| {
            code.repeat("own", &first, &end, invocations, |code, own| {
                let (to, words) = body.load(code, own);
                code.store_group(&body.destination, to, &words);
            });
        },
    );
    draft.shader = draft.shader.with_body(code);
    draft
}

struct Body {
    source: Option<Memory>,
    destination: Memory,
    content: Content,
    steps: Vec<Step>,
    to: Expr,
    from: Option<Expr>,
    width: u32,
}

impl Body {
    /// Writes the code that loads group number `own`. Returns the offset of the group in the destination, and
    /// its words.
    fn load(&self, code: &mut Code, own: Expr) -> (Expr, Vec<Expr>) {
        let digits = digits(code, own, &self.steps);
        let to = code.bind("to", written_at(self.to.clone(), &digits, &self.steps));
        let words = match (&self.source, &self.from, self.content) {
            (Some(source), Some(from), _) => {
                let from = code.bind("from", read_at(from.clone(), &digits, &self.steps));
                code.load_group("words", source, from)
            }
            (_, _, Content::Word(word)) => (0..self.width).map(|_| Expr::from(word)).collect(),
            _ => Vec::new(),
        };
        (to, words)
    }
}

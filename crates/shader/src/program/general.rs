//! The form `general`: each invocation makes one word of the destination, for any pair of layouts.

use super::super::code::{Access, Code, ComputeShader, Condition, Expr, Memory};
use super::gather::Gather;
use super::grid::{Grid, MOST_BASE};
use super::words::{Pattern, Width, low_ones, ones};

/// Which bits of a destination's words a shader writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The shader writes elements, and also padding if there is a pattern.
    Both,
    /// The shader writes the elements whose bits begin in a window of the source, and keeps all other bits.
    Elements,
    /// The shader writes padding alone.
    Padding,
}

pub(super) struct General<'a> {
    pub(super) gather: Gather<'a>,
    /// The widths of the destination's and the source's elements. They differ if a copy packs or unpacks
    /// elements.
    pub(super) width: Width,
    pub(super) source_width: Width,
    /// Whether elements are signed numbers, whose sign is extended when they become wider.
    pub(super) signed: bool,
    pub(super) pattern: Option<Pattern>,
    pub(super) task: Task,
    pub(super) invocations: u32,
    /// The number of words of the destination.
    pub(super) words: u32,
    /// The end of the destination, in bytes. What is after the last byte of elements there becomes zero.
    pub(super) end: u64,
}

/// The bindings of a shader, and its words of the uniform block. In the block, they follow the words of the
/// [`Grid`] in this order.
struct Bound {
    destination: Memory,
    /// The number of destination words that the dispatch makes.
    words: Expr,
    /// The index of the dispatch's first word, counted from the start of the destination.
    first: Expr,
    /// The index of the dispatch's first word, counted from the start of the binding.
    destination_base: Expr,
    /// The source with three numbers, all counted in words from the start of the tensor: where the binding
    /// begins, where the words begin whose elements are read, and how many these are.
    source: Option<(Memory, [Expr; 3])>,
}

impl General<'_> {
    pub(super) fn shader(&self) -> ComputeShader {
        let mut shader = ComputeShader::new("relayout", [self.invocations, 1, 1]);
        let source = (self.task != Task::Padding).then(|| shader.buffer("source", Access::Read));
        let destination = shader.buffer("destination", Access::ReadWrite);
        let words = self.words;
        let grid = Grid::new(&mut shader);
        let bound = Bound {
            destination,
            words: shader.uniform("words", words),
            first: shader.uniform("first_word", words),
            destination_base: shader.uniform("destination_base", MOST_BASE),
            source: source.map(|source| {
                let mut word = |name| shader.uniform(name, u32::MAX);
                (source, [word("source_first"), word("source_from"), word("source_words")])
            }),
        };
        let mut code = shader.code();
        let group = grid.group(&shader, &mut code);
        let own = code.bind("own", group * self.invocations + shader.local_invocation_index());
        code.when(own.less(&bound.words), |code| {
            let word = code.bind("word", (&bound.first + &own).at_most(words.saturating_sub(1)));
            let place = code.bind("place", &bound.destination_base + own);
            self.word(code, &bound, &word, &place);
        });
        shader.with_body(code)
    }

    /// Writes code that makes word `word` of the tensor, and stores it at index `place` of the binding.
    fn word(&self, code: &mut Code, bound: &Bound, word: &Expr, place: &Expr) {
        let value = code.variable("value", 0, u32::MAX);
        let covered = code.variable("covered", 0, u32::MAX);
        self.width.parts(code, word, |code, part| {
            let (element, from, bits, at) = (part.element, part.from, part.bits, part.at);
            self.gather.element(code, &element, |code, offset| {
                let mask = ones(&bits);
                let cover = Expr::from(&covered) | (mask.clone() << &at);
                let Some((source, [first, owned, count])) = &bound.source else {
                    return code.assign(&covered, cover);
                };
                let (word, shift) = self.source_width.place(code, offset, from);
                let read = |code: &mut Code| {
                    let index = code.bind("index", word.clone().wrapping_sub(first));
                    let stored =
                        if self.source_width.bits < self.width.bits { self.source_width.bits.into() } else { bits };
                    let goes_on = self.source_width.straddles(&shift, &stored);
                    let found = code.load_across("bits", source, &index, &shift, goes_on);
                    let element = self.converted(found) & &mask;
                    code.assign(&value, Expr::from(&value) | (element << &at));
                    code.assign(&covered, cover.clone());
                };
                let owns = match self.task {
                    Task::Elements => word.clone().wrapping_sub(owned).less(count),
                    _ => Condition::True,
                };
                code.when(owns, read);
            });
        });
        self.store(code, &bound.destination, word, place, [(&value).into(), (&covered).into()]);
    }

    /// Converts an element from the source's width to the destination's width. The element is in the lowest
    /// bits.
    fn converted(&self, element: Expr) -> Expr {
        let (from, to) = (self.source_width.bits, self.width.bits);
        if from >= to {
            return element;
        }
        let element = element & low_ones(from);
        match 1_u32.checked_shl(from.saturating_sub(1)).filter(|_| self.signed) {
            // Flipping the sign bit and subtracting it copies it into all bits above.
            Some(sign) => (element ^ sign).wrapping_sub(sign),
            None => element,
        }
    }

    /// Stores the elements of a word, and the padding between them if there is a pattern. `covered` is a mask
    /// of the bits of elements.
    fn store(&self, code: &mut Code, destination: &Memory, word: &Expr, place: &Expr, [value, covered]: [Expr; 2]) {
        let Some(pattern) = &self.pattern else {
            return put(code, destination, place, value, covered);
        };
        let mut padding = pattern.word(code, word);
        let mut own = Expr::from(u32::MAX);
        let whole = |number: u128| u32::try_from(number).unwrap_or(u32::MAX);
        // The pattern also fills the last byte, as far as whole elements have room there.
        let (bits, width) = (
            u128::from(self.gather.destination.physical_size_in_bytes()).saturating_mul(8),
            u128::from(self.width.bits),
        );
        let bits = bits.saturating_sub(bits.checked_rem(width).unwrap_or(0));
        let (last, rest) = (whole(bits.div_euclid(32)), whole(bits.checked_rem(32).unwrap_or(0)));
        if rest > 0 {
            padding = Expr::select(word.equal(last), padding.clone() & low_ones(rest), padding);
        }
        let after = last.saturating_add(rest.min(1));
        if u64::from(after).saturating_mul(4) < self.end {
            padding = Expr::select(word.less(after), padding, 0);
        }
        if let (end, bytes @ 1..) = (whole(self.end.div_euclid(4).into()), whole((self.end % 4).into())) {
            own = Expr::select(word.equal(end), low_ones(bytes.saturating_mul(8)), own);
        }
        let uncovered = code.bind("uncovered", covered ^ u32::MAX);
        let padding = code.bind("padding", padding & &uncovered);
        match self.task {
            Task::Padding => put(code, destination, place, padding, own & uncovered),
            _ => put(code, destination, place, value | padding, own),
        }
    }
}

/// Sets the bits of a word that `mask` selects to the bits of `value`. All other bits of `value` must be 0.
/// If only a part of the word is written, the word is read first. If no bit is written, the word is not
/// accessed.
pub(super) fn put(code: &mut Code, buffer: &Memory, place: &Expr, value: Expr, mask: Expr) {
    if mask.constant() == Some(u32::MAX) {
        return code.store(buffer, place, value);
    }
    let mask = code.bind("mask", mask);
    code.when_else(
        mask.equal(u32::MAX),
        |code| code.store(buffer, place, &value),
        |code| {
            code.when(mask.not_equal(0), |code| {
                let old = buffer.at(place) & (&mask ^ u32::MAX);
                code.store(buffer, place, old | &value);
            });
        },
    );
}

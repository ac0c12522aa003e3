//! Elements of any width in words: which parts of elements are in a word of the destination, and where the
//! bits of these elements are in the source.
//!
//! With `g` the greatest common divisor of 32 and an element's bits, `period` words hold exactly `in_period`
//! elements: three words hold four elements of 24 bits. Offsets are counted in periods, because the number of
//! bits of a whole buffer would not fit 32 bits.

use tensor_layout::relayout::Padding;

use super::super::code::{Code, Condition, Expr};

/// How elements of a width are packed in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) bits: u32,
    /// The number of words after which an element begins at the start of a word again.
    pub(super) period: u32,
    /// The number of elements in `period` words.
    pub(super) in_period: u32,
}

/// A range of bits of an element that is in one word of the destination.
pub(super) struct ElementBits {
    /// The element's offset, in elements.
    pub(super) element: Expr,
    /// The first bit of the range, counted from the lowest bit of the element.
    pub(super) from: Expr,
    /// The number of bits in the range, at most 32.
    pub(super) bits: Expr,
    /// The bit of the destination's word at which the range begins.
    pub(super) at: Expr,
}

impl Width {
    pub(super) fn new(bits: u32) -> Width {
        let common = 1_u32.checked_shl(bits.trailing_zeros().min(5)).unwrap_or(1);
        let shared = |number: u32| number.checked_div(common).unwrap_or(1);
        Width { bits, period: shared(bits).max(1), in_period: shared(32) }
    }

    /// Whether every element is inside one word or consists of whole words.
    pub(super) fn is_plain(self) -> bool {
        self.period == 1 || self.in_period == 1
    }

    /// Writes the code of `each` for every part of an element in word `word` of the destination. The code is
    /// written once, in a loop if a word may have several parts.
    pub(super) fn parts(self, code: &mut Code, word: &Expr, each: impl FnOnce(&mut Code, ElementBits)) {
        let Width { bits, period, in_period } = self;
        if in_period == 1 {
            let element = code.bind("element", word / period);
            let from = code.bind("from", (word % period) * 32);
            return each(code, ElementBits { element, from, bits: Expr::from(32), at: Expr::from(0) });
        }
        if period == 1 {
            let first = code.bind("first", word * in_period);
            return code.repeat("i", 0, in_period, 1, |code, i| {
                let element = code.bind("element", first + &i);
                let at = code.bind("at", i * bits);
                each(code, ElementBits { element, from: Expr::from(0), bits: Expr::from(bits), at });
            });
        }
        let place = code.bind("place", (word % period) * in_period);
        let most = u32::MAX;
        let element = code.variable("element", (word / period) * in_period + &place / period, most);
        let common = 32_u32.checked_div(in_period).unwrap_or(1);
        let from = code.variable("from", (place % period) * common, bits);
        let done = code.variable("done", 0, 32);
        // A word has at most the end of one element, some whole elements, and the beginning of another.
        let parts = 30_u32.saturating_add(bits).checked_div(bits).unwrap_or(0).saturating_add(1);
        code.repeat("i", 0, parts, 1, |code, _| {
            code.when(Expr::from(&done).less(32), |code| {
                let left = Expr::from(32) - &done;
                let take = code.bind("take", (Expr::from(bits) - &from).min(left));
                let part = ElementBits {
                    element: (&element).into(),
                    from: (&from).into(),
                    bits: take.clone(),
                    at: (&done).into(),
                };
                each(code, part);
                code.assign(&element, Expr::from(&element) + 1);
                code.assign(&from, 0);
                code.assign(&done, Expr::from(&done) + &take);
            });
        });
    }

    /// Returns the position of bit `from` of the element at `offset`: the word, and the bit in that word.
    pub(super) fn place(self, code: &mut Code, offset: Expr, from: Expr) -> (Expr, Expr) {
        let Width { bits, period, in_period } = self;
        if in_period == 1 {
            return (code.bind("word", offset * period + from / 32), Expr::from(0));
        }
        if period == 1 {
            let offset = code.bind("offset", offset);
            return (code.bind("word", &offset / in_period), code.bind("shift", (offset % in_period) * bits + from));
        }
        let offset = code.bind("offset", offset);
        let bit = code.bind("bit", (&offset % in_period) * bits + from);
        let word = code.bind("word", (offset / in_period) * period + &bit / 32);
        (word, code.bind("shift", bit % 32))
    }

    /// Whether a part of `bits` bits that begins at bit `shift` of a word continues in the next word. No part
    /// does if every element is inside a word or consists of whole words.
    pub(super) fn straddles(self, shift: &Expr, bits: &Expr) -> Condition {
        if self.is_plain() { Condition::False } else { (shift + bits).not_less(33) }
    }
}

/// A mask of the lowest `bits` bits, for 1 to 32 bits.
pub(super) fn ones(bits: &Expr) -> Expr {
    match bits.constant() {
        Some(bits) => Expr::from(low_ones(bits)),
        None => Expr::from(u32::MAX) >> (Expr::from(32) - bits),
    }
}

pub(super) fn low_ones(bits: u32) -> u32 {
    1_u32.checked_shl(bits).map_or(u32::MAX, |bit| bit.wrapping_sub(1))
}

/// The words that the padding of a destination is set to. They repeat after `words.len()` words.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// The words of the pattern until it repeats.
    words: Vec<u32>,
}

impl Pattern {
    /// Returns `None` if the copy keeps the padding.
    pub(super) fn new(padding: Padding, width: Width) -> Option<Pattern> {
        let pattern = match padding {
            Padding::Keep => return None,
            Padding::Fill(pattern) => pattern,
            _ => 0,
        };
        let bit = |bit: u32| {
            let bit = bit.checked_rem(width.bits).unwrap_or(0);
            u32::from(pattern.checked_shr(bit).is_some_and(|rest| rest & 1 == 1))
        };
        let word = |word: u32| (0..32).fold(0, |sum, at| sum | (bit(word.wrapping_mul(32).wrapping_add(at)) << at));
        let mut words: Vec<u32> = (0..width.period).map(word).collect();
        if words.windows(2).all(|pair| pair.first() == pair.last()) {
            words.truncate(1);
        }
        Some(Pattern { words })
    }

    /// Returns the word of the pattern if all its words are equal.
    pub(super) fn only_word(&self) -> Option<u32> {
        match self.words.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Returns the word that the padding of destination word `word` is set to.
    pub(super) fn word(&self, code: &mut Code, word: &Expr) -> Expr {
        let place = code.bind("place", word % u32::try_from(self.words.len()).unwrap_or(1));
        choose(&place, 0, &self.words)
    }
}

/// Chooses one of `words`, the first of which is number `first`. The halves are halved again, because
/// compilers do not take expressions of any depth.
fn choose(place: &Expr, first: u32, words: &[u32]) -> Expr {
    if let [] | [_] = words {
        return Expr::from(words.first().copied().unwrap_or(0));
    }
    let (low, high) = words.split_at(words.len().div_ceil(2));
    let middle = first.saturating_add(u32::try_from(low.len()).unwrap_or(u32::MAX));
    Expr::select(place.less(middle), choose(place, first, low), choose(place, middle, high))
}

//! `Values`: the values of the words in a rule, and the evaluation of its expressions.

use tensor_layout::Error;
use tensor_layout::checked::{self, ELEMENTS};

/// The values of the words in a rule: the sizes of the axes, the bytes of an element, and the numbers after
/// the name.
#[derive(Debug, Clone, Default)]
pub(super) struct Values<'t>(Vec<(&'t str, u64)>);

impl<'t> Values<'t> {
    pub(super) fn set(&mut self, word: &'t str, value: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == word) {
            Some((_, old)) => *old = value,
            None => self.0.push((word, value)),
        }
    }

    /// Returns the words that occur in an expression, with their values.
    pub(super) fn spoken(&self, text: &str) -> impl Iterator<Item = &(&'t str, u64)> + use<'_, 't> {
        let words: Vec<String> = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
        self.0.iter().filter(move |(word, _)| words.iter().any(|spoken| spoken == word))
    }

    /// Evaluates an expression such as `256*N up 2048`. It has numbers, words and parentheses. The operators,
    /// from the strongest, are `* / %`, then `+ -`, then `up` (round up to a multiple) and `max`.
    ///
    /// # Errors
    ///
    /// `overflow` if a value passes 64 bits. `not_expressible` for an expression without a
    /// value, such as `16/es` for elements below a byte.
    pub(super) fn evaluate(&self, text: &str) -> Result<u64, Error> {
        let mut reader = Reader { values: self, rest: text };
        let value = reader.whole()?;
        if reader.rest.trim().is_empty() { Ok(value) } else { Err(no_value(text)) }
    }
}

/// Returns the error for a name with values that its rule does not allow.
pub(super) fn refused(reason: String) -> Error {
    Error::not_expressible("named layout", reason)
}

fn no_value(text: &str) -> Error {
    refused(format!("`{text}` has no value for this type and these sizes"))
}

struct Reader<'r> {
    values: &'r Values<'r>,
    rest: &'r str,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn whole(&mut self) -> Result<u64, Error> {
        let mut value = self.sum()?;
        loop {
            if self.eat("up ") {
                value = checked::round_up(value, self.sum()?.max(1), ELEMENTS)?;
            } else if self.eat("max ") {
                value = value.max(self.sum()?);
            } else {
                return Ok(value);
            }
        }
    }

    fn sum(&mut self) -> Result<u64, Error> {
        let mut value = self.product()?;
        loop {
            if self.eat("+") {
                value = checked::add(value, self.product()?, ELEMENTS)?;
            } else if self.eat("-") {
                value = value.checked_sub(self.product()?).ok_or_else(|| no_value(self.rest))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<u64, Error> {
        let mut value = self.factor()?;
        loop {
            let rest = self.rest;
            if self.eat("*") {
                value = checked::mul(value, self.factor()?, ELEMENTS)?;
            } else if self.eat("/") {
                value = value.checked_div(self.factor()?).ok_or_else(|| no_value(rest))?;
            } else if self.eat("%") {
                value = value.checked_rem(self.factor()?).ok_or_else(|| no_value(rest))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<u64, Error> {
        if self.eat("(") {
            let value = self.whole()?;
            return if self.eat(")") { Ok(value) } else { Err(no_value(self.rest)) };
        }
        let rest = self.rest.trim_start();
        let (word, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
        self.rest = after;
        let known = || self.values.0.iter().find(|(known, _)| *known == word).map(|&(_, value)| value);
        word.parse().ok().or_else(known).ok_or_else(|| match word {
            "es" => refused("its rule counts bytes, and the elements are not whole bytes".into()),
            _ => no_value(rest),
        })
    }
}

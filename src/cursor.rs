//! A [`Cursor`] for readers of texts that contain layouts, for example dumps of compilers. The cursor
//! reads token by token, as this crate's own parsers do. The errors of a cursor point at the byte where
//! reading stopped.
//! ```
//! use tensor_layout::cursor::Cursor;
//! use tensor_layout::Shape;
//!
//! let mut cursor = Cursor::new("ROOT %sum = f32[2,3]{1,0} add(%a, %b)");
//! assert!(cursor.eat("ROOT") && cursor.eat("%"));
//! assert_eq!(cursor.word(), "sum");
//! cursor.expect("=", "`=` after the name")?;
//! assert_eq!(Shape::read(&mut cursor)?.to_string(), "f32[2,3]{1,0}");
//! assert_eq!((cursor.word(), cursor.position(), cursor.peek()), ("add", 29, Some(b'(')));
//!
//! let mut cursor = Cursor::new("{1, 2} // two numbers");
//! cursor.expect("{", "`{`")?;
//! assert_eq!(cursor.list("}", |cursor| cursor.number("a number"))?, [1, 2]);
//! cursor.end("nothing more")?;
//! cursor.move_to(1);
//! assert_eq!((cursor.rest(), cursor.number_i64("a number")?), ("1, 2} // two numbers", 1));
//! assert_eq!(cursor.error("`;`").column(), Some(3));
//! let error = cursor.error_at(4, "`;`");
//! assert_eq!(error.to_string(), "column 5 of `{1, 2} // two numbers`: expected `;`, found `2`");
//! # Ok::<(), tensor_layout::Error>(())
//! ```

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

use crate::error::Error;

/// What XLA's lexer skips between tokens. Other Unicode spaces are not skipped.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// A position in a text. Blanks and comments (`/* */`, `// ` to the end of the line) between tokens are
/// skipped, as in XLA's lexer.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Reads a whole text by `read`. The error is `parse` if anything follows what `read` has taken.
    pub(crate) fn whole<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let mut cursor = Cursor::new(text);
        let value = read(&mut cursor)?;
        cursor.end("nothing more")?;
        Ok(value)
    }

    /// Returns a cursor at the start of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the rest of the text, without leading blanks and comments. A comment that does not end is not
    /// skipped.
    pub fn rest(&mut self) -> &'a str {
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            // In most calls a token starts here already, so there is nothing to skip.
            if rest.bytes().next().is_some_and(|byte| byte.is_ascii_graphic() && byte != b'/') {
                return rest;
            }
            let trimmed = rest.trim_start_matches(is_blank);
            let skipped = if let Some(comment) = trimmed.strip_prefix("/*")
                && let Some(end) = comment.find("*/")
            {
                rest.len() - comment.len() + end + 2
            } else if trimmed.starts_with("//") {
                trimmed.find('\n').map_or(rest.len(), |end| rest.len() - trimmed.len() + end)
            } else {
                self.at += rest.len() - trimmed.len();
                return trimmed;
            };
            self.at += skipped;
        }
    }

    /// Returns the offset of the next token, in bytes from the start of the text.
    pub fn position(&mut self) -> usize {
        self.rest();
        self.at
    }

    /// Moves the cursor back or forward to a byte offset that [`position`](Self::position) returned.
    pub fn move_to(&mut self, position: usize) {
        self.at = position;
    }

    /// Returns the first byte of the next token, without taking the token.
    pub fn peek(&mut self) -> Option<u8> {
        self.rest().bytes().next()
    }

    /// Takes `token` if it is next, and returns whether it was.
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `token`. `expected` is the text for the error message, and should name all alternatives.
    ///
    /// # Errors
    ///
    /// `parse` if another text is next.
    pub fn expect(&mut self, token: &str, expected: &str) -> Result<(), Error> {
        if self.eat(token) { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Takes the next word of letters, digits and `_`. The word is empty if another character is next.
    pub fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    /// Takes a decimal number below 2^64. `expected` names the number in the error message.
    ///
    /// # Errors
    ///
    /// `parse` if no number is next, or if the number is 2^64 or more.
    pub fn number(&mut self, expected: &str) -> Result<u64, Error> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..end).unwrap_or("");
        if digits.is_empty() {
            return Err(self.error(expected));
        }
        let number = digits.parse().map_err(|_| self.error(&format!("{expected} below 2^64")))?;
        self.at += end;
        Ok(number)
    }

    /// Takes a decimal number below 2^63. XLA reads such numbers into an `i64`, where larger numbers would
    /// wrap. `expected` names the number in the error message.
    ///
    /// # Errors
    ///
    /// `parse` if no number is next, or if the number is 2^63 or more.
    pub fn number_i64(&mut self, expected: &str) -> Result<u64, Error> {
        let start = self.position();
        let number = self.number(expected)?;
        if i64::try_from(number).is_ok() {
            return Ok(number);
        }
        Err(self.error_at(start, &format!("{expected} below 2^63")))
    }

    /// Takes a list of items with commas between them, and then the closing token `close`.
    ///
    /// # Errors
    ///
    /// `parse` if neither a comma nor `close` follows an item, and the errors of `item`.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.error(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Checks that only blanks and comments are left. `expected` is the text for the error message.
    ///
    /// # Errors
    ///
    /// `parse` if a token is left.
    pub fn end(&mut self, expected: &str) -> Result<(), Error> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Returns the error that `expected` was expected at the position of the cursor.
    pub fn error(&mut self, expected: &str) -> Error {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(first) if end == 0 => format!("`{first}`"),
            Some(_) => format!("`{}`", rest.get(..end.min(24)).unwrap_or("")),
        };
        Error::parse(self.text.to_owned(), self.at + 1, expected.to_owned(), found)
    }

    /// Moves the cursor to `position` and returns the [`error`](Self::error) for this position.
    pub fn error_at(&mut self, position: usize, expected: &str) -> Error {
        self.move_to(position);
        self.error(expected)
    }
}

/// Returns the item of `all` whose name is `text`. `what` names the items in the error message, with an
/// article.
///
/// # Errors
///
/// `parse` with the names of all items, if no item has this name.
///
/// ```
/// use tensor_layout::cursor::one_of;
///
/// let name = |wide| if wide { "wide" } else { "narrow" };
/// assert!(one_of("wide", "a width", &[false, true], name)?);
/// assert!(one_of("high", "a width", &[false, true], name).is_err());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn one_of<T: Copy>(text: &str, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Error> {
    let found = all.iter().copied().find(|&item| name(item) == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&item| name(item)).collect();
        let expected = format!("{what}: {}", names.join(", "));
        Error::parse(text.to_owned(), 1, expected, format!("`{text}`"))
    })
}

//! `RecipeError`: what is wrong with a recipe, and at which line and column.

use std::borrow::Cow;
use std::fmt;

use tensor_layout::Error;

use crate::error::printable;

/// What errors of values name. Their sentences are shown without it.
pub(super) const REFUSED: &str = "value of a recipe";

/// Why a recipe cannot be read, or does not fit a model.
///
/// ```
/// use tensor_layout_files::recipe::Recipe;
///
/// let error = Recipe::parse("a = b\nw = cat 0 (q, k").unwrap_err();
/// assert_eq!((error.line(), error.column(), error.code()), (2, 16, Some("parse")));
/// assert_eq!(error.to_string(), "line 2, column 16: expected `,` or `)`, found the end");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeError {
    line: usize,
    column: usize,
    name: Option<String>,
    sentence: String,
    code: Option<&'static str>,
}

impl RecipeError {
    /// Makes an error of a sentence about the place `at`, in bytes from the start of the text.
    pub(super) fn new(text: &str, at: usize, name: Option<&str>, sentence: String) -> RecipeError {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
        RecipeError { line, column, name: name.map(str::to_owned), sentence, code: None }
    }

    pub(super) fn of(text: &str, at: usize, name: &str, error: &Error) -> RecipeError {
        let sentence = error.to_string();
        let reason = sentence.strip_prefix(&format!("no {REFUSED} describes this layout: ")).unwrap_or(&sentence);
        RecipeError { code: Some(error.code()), ..RecipeError::new(text, at, Some(name), reason.to_owned()) }
    }

    /// A text that does not follow the grammar.
    pub(super) fn parse(text: &str, at: usize, expected: impl fmt::Display) -> RecipeError {
        let rest = text.get(at..).unwrap_or_default();
        let word = rest.split(|c: char| c.is_whitespace() || "|,()={}#".contains(c)).next().unwrap_or_default();
        let found: Cow<'_, str> = match (word, rest.chars().next()) {
            ("", None) => "the end".into(),
            ("", Some('\n')) => "the end of the line".into(),
            ("", Some(c)) => format!("`{c}`").into(),
            (word, _) => format!("`{}`", printable(word)).into(),
        };
        let sentence = format!("expected {expected}, found {found}");
        RecipeError { code: Some("parse"), ..RecipeError::new(text, at, None, sentence) }
    }

    /// Adds a reason to the sentence.
    pub(super) fn because(self, why: &str) -> RecipeError {
        RecipeError { sentence: format!("{}: {why}", self.sentence), ..self }
    }

    /// The line, from 1 on.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in the line, in characters from 1 on.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// The name of the output or of the source. `None` if the text itself is wrong.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The stable word for the error, if it is one of the codes of docs/ERRORS.md.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        self.code
    }
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if let Some(name) = &self.name {
            write!(f, "`{}`: ", printable(name))?;
        }
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for RecipeError {}

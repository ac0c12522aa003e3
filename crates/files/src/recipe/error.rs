//! `RecipeError`: what is wrong with a recipe, and at which line and column.

use std::borrow::Cow;
use std::fmt;

use tensor_layout::Error;

use crate::error::printable;

/// What errors of values name. Their sentences are shown without it.
pub(super) const REFUSED: &str = "value of a recipe";

/// The codes of errors: of the grammar, and those that only recipes have.
pub(super) const PARSE: &str = "parse";
pub(super) const SOURCE_MISSING: &str = "source_missing";
pub(super) const NAME_TWICE: &str = "name_twice";
pub(super) const SHARD_RANK: &str = "shard_rank";
pub(super) const RECIPE_LIMIT: &str = "recipe_limit";

/// Why a recipe cannot be read, or does not fit a model.
///
/// ```
/// use tensor_layout_files::recipe::Recipe;
///
/// let error = Recipe::parse("a = b\nw = cat 0 (q, k").unwrap_err();
/// assert_eq!((error.line(), error.column(), error.code()), (2, 16, "parse"));
/// assert_eq!(error.to_string(), "line 2, column 16: expected `,` or `)`, found the end");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeError {
    line: usize,
    column: usize,
    name: Option<String>,
    sentence: String,
    code: &'static str,
}

impl RecipeError {
    /// Makes an error of a sentence about the place `at`, in bytes from the start of the text.
    pub(super) fn new(
        text: &str,
        at: usize,
        name: Option<&str>,
        (code, sentence): (&'static str, String),
    ) -> RecipeError {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
        RecipeError { line, column, name: name.map(str::to_owned), sentence, code }
    }

    pub(super) fn of(text: &str, at: usize, name: &str, error: &Error) -> RecipeError {
        let sentence = error.to_string();
        let reason = sentence.strip_prefix(&format!("no {REFUSED} describes this layout: ")).unwrap_or(&sentence);
        RecipeError::new(text, at, Some(name), (error.code(), reason.to_owned()))
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
        RecipeError::new(text, at, None, (PARSE, format!("expected {expected}, found {found}")))
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

    /// The stable word for the error: one of docs/ERRORS.md, or `source_missing`, `name_twice`, `shard_rank`
    /// or `recipe_limit`, which only recipes have.
    #[must_use]
    pub fn code(&self) -> &'static str {
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

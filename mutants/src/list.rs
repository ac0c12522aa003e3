//! What `cargo mutants --list --json` says.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Mutant {
    pub file: String,
    pub genre: Genre,
    /// The operator, or the expression, that takes the place of what is there; empty where something is left out.
    pub replacement: String,
    pub span: Span,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Deserialize)]
pub struct Span {
    pub start: Place,
}

/// Counted from 1, the column in characters.
#[derive(Deserialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The byte of a text.
    pub fn byte(&self, text: &str) -> usize {
        let before: usize = text.split_inclusive('\n').take(self.line - 1).map(str::len).sum();
        let line = text[before..].chars().take(self.column - 1);
        before + line.map(char::len_utf8).sum::<usize>()
    }
}

//! `Form`: how a program moves elements.

use std::fmt;
use std::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

/// How a program moves elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Each invocation makes one word of the destination: it peels the digits off the word's offset and gathers each element. For every
    /// pair of layouts.
    General,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 1] = [Form::General];

    /// The form in lower case: `general`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::General => "general",
        }
    }
}

impl fmt::Display for Form {
    /// The [name](Form::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "a form", &Self::ALL, Form::name)
    }
}

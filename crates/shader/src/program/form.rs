//! `Form`: how a program moves elements.

use std::fmt;
use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::cursor::one_of;

/// How a program moves elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Both tensors are the same bytes: one run of words, four at a time.
    Linear,
    /// Runs of whole words that are together on both sides, or backwards on one: each invocation takes four
    /// groups of 1, 2 or 4 words.
    Rows,
    /// Tiles go through workgroup memory, so that reads and writes both come in runs.
    Transpose,
    /// A few rows of elements below a word become one, element by element, or one becomes several: an
    /// invocation takes a word of each.
    Interleave,
    /// Each invocation makes one word of the destination: it peels the digits off the word's offset and
    /// gathers each element. For every pair of layouts.
    General,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 5] = [Form::Linear, Form::Rows, Form::Transpose, Form::Interleave, Form::General];

    /// The form in lower case: `general`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Linear => "linear",
            Form::Rows => "rows",
            Form::Transpose => "transpose",
            Form::Interleave => "interleave",
            Form::General => "general",
        }
    }
}

impl Form {
    /// A program of this form, for a sentence.
    pub(super) fn program_name(self) -> &'static str {
        match self {
            Form::Linear => "program of the form `linear`",
            Form::Rows => "program of the form `rows`",
            Form::Transpose => "program of the form `transpose`",
            Form::Interleave => "program of the form `interleave`",
            Form::General => "program of the form `general`",
        }
    }
}

// `Target` and the library's `LayoutClass` have such a list as well. A macro for the three lists would not be
// shorter.
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

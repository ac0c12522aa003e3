//! `Form`: the ways in which a program moves elements.

use std::fmt;
use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::cursor::one_of;

/// The way in which a program moves elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The bytes of both tensors are equal. The program copies one run of words, four words at a time.
    Linear,
    /// Whole words are contiguous on both sides, or backwards on one side. Each invocation copies four groups
    /// of 1, 2 or 4 words.
    Rows,
    /// Tiles go through workgroup memory, so that reads and writes are both contiguous runs.
    Transpose,
    /// A few rows of elements that are narrower than a word are interleaved into one row, or one row is split
    /// into several. Each invocation takes one word of each row.
    Interleave,
    /// Each invocation makes one word of the destination. It splits the offset of the word into digits and
    /// gathers each element. This form applies to every pair of layouts.
    General,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 5] = [Form::Linear, Form::Rows, Form::Transpose, Form::Interleave, Form::General];

    /// The name of the form in lower case: `general`.
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
    /// The name of a program of this form, for error messages.
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

// `Target` and the library's `LayoutClass` have lists of names like this list. A macro for all three would be
// as long.
impl fmt::Display for Form {
    /// Writes the [name](Form::name) of the form.
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

/// The options of a program, besides the pair of layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramOptions {
    /// The form of the program, or `None` for the form that should be fastest.
    pub form: Option<Form>,
    /// The offset of the source in its buffer, in bytes: a multiple of 4.
    pub source_offset: u64,
    /// The offset of the destination in its buffer, in bytes: a multiple of 4. (A tensor that begins inside a
    /// word needs a layout with a [base](tensor_layout::IndexMap::with_base).)
    pub destination_offset: u64,
}

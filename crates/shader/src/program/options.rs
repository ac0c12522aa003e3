//! `ProgramOptions`.

use super::form::Form;

/// What a program can be made to do besides the pair of layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramOptions {
    /// The form it must have; `None` for the one that should be fastest.
    pub form: Option<Form>,
    /// Where the source begins in its buffer, in bytes: a multiple of 4.
    pub source_offset: u64,
    /// Where the destination begins in its buffer, in bytes: a multiple of 4. (A tensor that begins inside a
    /// word is one with a [base](tensor_layout::IndexMap::with_base).)
    pub destination_offset: u64,
}

//! `ProgramOptions`: choices of the caller for a program.

use super::form::Form;

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

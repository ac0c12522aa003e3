//! Windows: the parts of a tensor that one dispatch binds, if the whole tensor does not fit in a binding.

use std::ops::Range;

use tensor_layout::Error;
use tensor_layout::checked;

use super::super::profile::Profile;

pub(super) const WORDS: &str = "the words of a buffer in a shader";

/// A range of 32-bit words of a tensor, and the byte range of the buffer that is bound for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    /// The words of the tensor that the dispatch works on, counted from the start of the tensor.
    pub(super) words: Range<u64>,
    /// The byte range of the buffer that is bound. It begins at a multiple of the offset alignment, at or
    /// before the first word.
    pub(super) bytes: Range<u64>,
    /// The index of the first of `words`, counted from the start of the binding.
    pub(super) base: u64,
}

impl Window {
    /// Returns the window for some words of a tensor that begins at byte `start` of its buffer. The binding
    /// ends with word `bound_to` - 1. Returns `None` if it would be longer than the largest binding.
    pub(super) fn new(
        start: u64,
        words: Range<u64>,
        bound_to: u64,
        profile: &Profile,
    ) -> Result<Option<Window>, Error> {
        let first = checked::add(start, checked::mul(words.start, 4, checked::BYTES)?, checked::BYTES)?;
        let end = checked::add(start, checked::mul(bound_to, 4, checked::BYTES)?, checked::BYTES)?;
        let rest = first.checked_rem(profile.offset_alignment).unwrap_or(0);
        let bytes = first.saturating_sub(rest)..end;
        let fits = bytes.end.saturating_sub(bytes.start) <= profile.max_binding;
        Ok(fits.then_some(Window { words, bytes, base: rest.div_euclid(4) }))
    }

    /// Divides a tensor of `words` words that begins at byte `start` of its buffer into windows. Each window
    /// also binds `more` words after its own, for elements that continue there.
    pub(super) fn all(start: u64, words: u64, more: u64, profile: &Profile) -> Result<Vec<Window>, Error> {
        if let Some(whole) = Window::new(start, 0..words, words, profile)? {
            return Ok(vec![whole]);
        }
        let alignment = profile.offset_alignment.div_euclid(4).max(1);
        // The length of a window is a multiple of the alignment, so all windows begin equally far after an
        // aligned offset.
        let room = profile.max_binding.div_euclid(4).saturating_sub(alignment).saturating_sub(more);
        let length = room.saturating_sub(room.checked_rem(alignment).unwrap_or(0));
        if length == 0 {
            let least = alignment.saturating_mul(2).saturating_add(more).saturating_mul(4);
            let (value, max) = (profile.max_binding, u64::MAX);
            return Err(Error::out_of_limits("the largest binding of the profile", value, least, max));
        }
        let mut windows = Vec::new();
        let mut first = 0;
        while first < words {
            let end = first.saturating_add(length).min(words);
            windows.extend(Window::new(start, first..end, end.saturating_add(more).min(words), profile)?);
            first = end;
        }
        Ok(windows)
    }

    pub(super) fn count(&self) -> u64 {
        self.words.end.saturating_sub(self.words.start)
    }
}

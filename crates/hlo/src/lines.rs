//! Reads the lines of a stream. Of a very long line only the beginning is kept.

use std::io::{self, BufRead, Read};

/// The most bytes that are kept of a line, or of an instruction of several lines: 1 MiB.
///
/// A longer line is mostly a large constant, whose values are not needed. Another instruction is read without
/// its last attributes if its operands end before the limit, and is unreadable otherwise.
///
/// ```
/// use tensor_layout_hlo::{MAX_LINE_BYTES, Module};
///
/// let constant = format!("  %c = s32[600000]{{0}} constant({{{}}})", vec!["0"; 600_000].join(","));
/// assert!(constant.len() > MAX_LINE_BYTES);
/// let dump =
///     format!("ENTRY %e () -> s32[600000] {{\n{constant}\n  ROOT %r = s32[600000]{{0}} copy(%c)\n}}\n");
/// let module = Module::read(dump.as_bytes())?;
/// assert_eq!((module.instructions(), module.unreadable()), (2, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
pub const MAX_LINE_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: String,
    /// Whether the line is longer than [`MAX_LINE_BYTES`], so that the end of `text` is missing.
    pub(super) cut: bool,
}

impl Line {
    pub(super) fn append(&mut self, next: &Line) {
        self.text.push('\n');
        self.text.push_str(&next.text);
    }
}

#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    number: u64,
    bytes: u64,
    put_back: Option<Line>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, bytes: 0, put_back: None }
    }

    /// The number of bytes that were read from the stream so far, line feeds included.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the last line that was read. The first line is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Puts `line` back: the next call of [`next`](Self::next) returns it. Only one line can be put back at a
    /// time.
    pub(super) fn put_back(&mut self, line: Line) {
        self.put_back = Some(line);
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.put_back.take() {
            return Ok(Some(line));
        }
        let mut kept = Vec::new();
        // One byte above the limit shows whether the line is longer.
        let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let mut taken = self.input.by_ref().take(most).read_until(b'\n', &mut kept)?;
        if taken == 0 {
            return Ok(None);
        }
        kept.pop_if(|byte| *byte == b'\n');
        let cut = kept.len() > MAX_LINE_BYTES;
        if cut {
            kept.truncate(MAX_LINE_BYTES);
            taken = taken.saturating_add(self.input.skip_until(b'\n')?);
        }
        self.bytes = self.bytes.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        self.number = self.number.saturating_add(1);
        let text =
            String::from_utf8(kept).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Some(Line { number: self.number, text, cut }))
    }
}

#[cfg(test)]
mod tests;

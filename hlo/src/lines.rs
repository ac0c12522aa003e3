//! Lines of a stream, of which only the beginning is kept when they are very long.

use std::io::{self, BufRead};

/// The most bytes of a line (or of an instruction that goes over several) that are kept: 1 MiB.
///
/// Longer lines are large constants, whose values no one needs here.
///
/// ```
/// use tensor_layout_hlo::MAX_LINE_BYTES;
///
/// println!("a line of more than {MAX_LINE_BYTES} bytes is unreadable, and the next one is read");
/// ```
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// One line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: String,
    /// Was it longer than what is kept?
    pub(super) cut: bool,
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

    /// The bytes taken from the stream.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the last line taken.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Makes `line` the next one again.
    pub(super) fn put_back(&mut self, line: Line) {
        self.put_back = Some(line);
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.put_back.take() {
            return Ok(Some(line));
        }
        let (mut kept, mut cut, mut any) = (Vec::new(), false, false);
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            any = true;
            let end = available.iter().position(|&byte| byte == b'\n');
            let line = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
            let room = MAX_LINE_BYTES.saturating_sub(kept.len()).min(line.len());
            kept.extend_from_slice(line.get(..room).unwrap_or(&[]));
            cut |= room < line.len();
            let taken = line.len().saturating_add(usize::from(end.is_some()));
            self.input.consume(taken);
            self.bytes = self.bytes.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let text =
            String::from_utf8(kept).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Some(Line { number: self.number, text, cut }))
    }
}

#[cfg(test)]
mod tests;

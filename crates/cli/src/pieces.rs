//! A copy in pieces. Only one piece is in memory at a time.

use std::ops::Range;

use indicatif::ProgressBar;
use tensor_layout::Error;
use tensor_layout::relayout::{Piece, Relayout};

use crate::input_file::zeroed;
use crate::output::Stop;

/// How a copy ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Done,
    /// The copy was refused with this error. Other copies can go on.
    Refused(Error),
}

/// About how many bytes of its output a copy has in memory at once. A copy that cannot be divided has all of
/// it in memory.
pub(crate) const PIECE: u64 = 64 << 20;

/// A copy that is divided into pieces, in the order of its output.
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    longest: u64,
}

impl Pieces {
    /// Divides a copy into pieces of about `length` bytes, or longer pieces if the layouts do not allow that.
    /// A copy that keeps its padding needs [`run_over`](Self::run_over), because the buffer still has the
    /// bytes of the piece before.
    pub(crate) fn of(plan: &Relayout, length: u64) -> Result<Pieces, Error> {
        let wanted = plan.destination_size_in_bytes().div_ceil(length);
        let pieces = plan.partition(usize::try_from(wanted).unwrap_or(1), 1)?;
        let longest = pieces.iter().map(|piece| piece.destination_range().len() as u64).max().unwrap_or(0);
        Ok(Pieces { pieces, longest })
    }

    /// The length of the longest piece, in bytes.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    /// Runs the pieces in order. The bytes of each piece are passed to `take`, and counted on the progress
    /// bar.
    pub(crate) fn run(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut take: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<Outcome, Stop> {
        self.run_over(source, bar, |_, _| (), |_, bytes| take(bytes))
    }

    /// Runs the pieces in order. Before each piece, `prepare` may write to its buffer, and the copy keeps
    /// these bytes where it writes nothing. `take` gets the result. Both functions get the range of the piece
    /// in the whole output, in bytes.
    pub(crate) fn run_over(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut prepare: impl FnMut(Range<usize>, &mut [u8]),
        mut take: impl FnMut(Range<usize>, &[u8]) -> Result<(), Stop>,
    ) -> Result<Outcome, Stop> {
        let mut buffer = zeroed(self.longest)?;
        for piece in &self.pieces {
            let range = piece.destination_range();
            let bytes = buffer.get_mut(..range.len()).unwrap_or_default();
            prepare(range.clone(), bytes);
            if let Err(error) = piece.run(source, &mut *bytes) {
                return Ok(Outcome::Refused(error));
            }
            take(range, bytes)?;
            bar.inc(bytes.len() as u64);
        }
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests;

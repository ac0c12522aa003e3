//! A copy in pieces, one after the other: only one of them is stored in memory at a time.

use std::ops::Range;

use indicatif::ProgressBar;
use tensor_layout::Error;
use tensor_layout::relayout::{Piece, Relayout};

use crate::input_file::zeroed;
use crate::output::Stop;

/// The end of a copy.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Done,
    /// This copy is refused; others go on.
    Refused(Error),
}

/// How many bytes of its output a copy has in memory at once, if it can be cut.
pub(crate) const PIECE: u64 = 64 << 20;

/// A copy that was cut, in the order of its output.
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    longest: u64,
}

impl Pieces {
    /// Cuts a copy into pieces of about `length` bytes. They are longer if the layouts cannot be cut as
    /// often. A copy that keeps its padding is for [`run_over`](Self::run_over): otherwise there is in it
    /// what the piece before left in memory.
    pub(crate) fn of(plan: &Relayout, length: u64) -> Result<Pieces, Error> {
        let wanted = plan.destination_size_in_bytes().div_ceil(length);
        let pieces = plan.partition(usize::try_from(wanted).unwrap_or(1))?;
        let longest = pieces.iter().map(|piece| piece.destination_range().len() as u64).max().unwrap_or(0);
        Ok(Pieces { pieces, longest })
    }

    /// The bytes of the longest piece.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    /// Runs one piece after the other, hands its bytes to `take` and counts them on the bar.
    pub(crate) fn run(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut take: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<Outcome, Stop> {
        self.run_over(source, bar, |_, _| (), |_, bytes| take(bytes))
    }

    /// Like [`run`](Self::run), each piece over what `prepare` leaves in its buffer. Both get the range of
    /// bytes in the whole output they are given.
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
            if let Err(error) = piece.run(source, bytes) {
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

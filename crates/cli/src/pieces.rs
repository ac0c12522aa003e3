//! A copy in pieces, of which one is in memory at a time, and its progress bar.

use std::ops::Range;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tensor_layout::Error;
use tensor_layout::relayout::{Piece, Relayout};

use crate::input::zeroed;
use crate::output::Stop;

/// About how many bytes of its output a copy has in memory at once. A copy that cannot be divided has all of
/// it in memory.
pub(crate) const PIECE: u64 = 64 << 20;

pub(crate) struct Pieces(Vec<Piece>);

impl Pieces {
    /// Divides a copy into pieces of about [`PIECE`] bytes, or longer pieces if the layouts do not allow
    /// that.
    pub(crate) fn of(plan: &Relayout) -> Result<Pieces, Error> {
        let wanted = plan.destination_size_in_bytes().div_ceil(PIECE);
        plan.partition(usize::try_from(wanted).unwrap_or(1), 1).map(Pieces)
    }

    pub(crate) fn longest(&self) -> u64 {
        self.0.iter().map(|piece| piece.destination_range().len() as u64).max().unwrap_or(0)
    }

    /// Runs the pieces in order. Before each piece, `prepare` may write to its buffer, and the copy keeps
    /// these bytes where it writes nothing. `take` gets the result. Both functions get the range of the piece
    /// in the whole output, in bytes. The inner error says why the copy was refused.
    pub(crate) fn run(
        &self,
        source: &[u8],
        bar: &ProgressBar,
        mut prepare: impl FnMut(Range<usize>, &mut [u8]),
        mut take: impl FnMut(Range<usize>, &[u8]) -> Result<(), Stop>,
    ) -> Result<Result<(), Error>, Stop> {
        let mut buffer = zeroed(self.longest())?;
        for piece in &self.0 {
            let range = piece.destination_range();
            let bytes = buffer.get_mut(..range.len()).unwrap_or_default();
            prepare(range.clone(), bytes);
            if let Err(error) = piece.run(source, &mut *bytes) {
                return Ok(Err(error));
            }
            take(range, bytes)?;
            bar.inc(bytes.len() as u64);
        }
        Ok(Ok(()))
    }
}

/// Returns a progress bar on standard error for work of this many bytes. Short work, and work whose standard
/// error is no terminal, has none.
pub(crate) fn progress_bar(bytes: u64) -> ProgressBar {
    if bytes < PIECE {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {binary_bytes} of {binary_total_bytes}, {eta} left  {wide_msg}";
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

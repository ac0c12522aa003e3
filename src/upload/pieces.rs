//! `Pieces`: divides a range of bytes so that every piece fits a limit and begins aligned.

use crate::checked::Exact;
use core::iter::FusedIterator;
use core::ops::Range;

use crate::error::{Code, Error};

/// Consecutive byte ranges that cover a longer range. Each piece is at most as long as a limit and begins at
/// a multiple of an alignment.
///
/// The iterator holds three numbers and counts its pieces without iterating, so a report about a huge range
/// costs nothing. All pieces but the last are as long as the first.
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Pieces, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::U8, &[1144])?;
/// let mut limits = DeviceLimits::webgpu();
/// limits.max_binding = 600;
/// let errors = validate(&desc, &UploadBuffer::new(1400, 256, Role::Input), &limits).unwrap_err();
/// let pieces: Pieces = errors.report.pieces.unwrap();
/// assert_eq!(pieces.count(), 3);
/// assert_eq!(pieces.collect::<Vec<_>>(), [256..768, 768..1280, 1280..1400]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces {
    next: u64,
    end: u64,
    step: u64,
}

impl Pieces {
    /// Returns the pieces of `range`, each at most `max` bytes long. The length of every piece but the last
    /// is a multiple of `alignment`. If `range` begins at a multiple of `alignment`, so does every piece.
    ///
    /// # Errors
    ///
    /// `no_pieces` if the range does not fit one piece and `max` is
    /// below `alignment`.
    pub(crate) fn new(range: Range<u64>, max: u64, alignment: u64) -> Result<Pieces, Error> {
        let length = range.end.saturating_sub(range.start);
        let alignment = alignment.max(1);
        let rest = max.checked_rem(alignment).unwrap_or_default();
        let step = if length <= max { length } else { max.minus(rest) };
        if step == 0 && length > 0 {
            return Err(Code::NoPieces.by(max, alignment));
        }
        Ok(Pieces::in_steps(range, step))
    }

    /// Returns pieces of `step` bytes. A step of 0 counts as 1.
    pub(super) fn in_steps(range: Range<u64>, step: u64) -> Pieces {
        Pieces { next: range.start, end: range.end, step }
    }

    /// The number of pieces that have not been returned.
    pub(super) fn number(&self) -> u64 {
        let left = self.end.saturating_sub(self.next);
        if left == 0 { 0 } else { left.div_ceil(self.step.max(1)) }
    }

    /// The length of every piece but the last, in bytes.
    pub(super) fn step(&self) -> u64 {
        self.step
    }
}

impl Iterator for Pieces {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        if self.next >= self.end {
            return None;
        }
        let start = self.next;
        self.next = start.saturating_add(self.step.max(1)).min(self.end);
        Some(start..self.next)
    }

    fn count(self) -> usize {
        usize::try_from(self.number()).unwrap_or(usize::MAX)
    }
}

impl FusedIterator for Pieces {}

#[cfg(test)]
mod tests;

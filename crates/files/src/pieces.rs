//! A copy in pieces, of which one is in memory at a time.

use std::ops::Range;

use tensor_layout::relayout::{Piece, Relayout};

/// About how many bytes of its output a copy has in memory at once. A copy that cannot be divided has all of
/// it in memory.
pub const PIECE: u64 = 64 << 20;

/// A function that is called with the number of bytes whenever some were written.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// Why a copy in pieces ended before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceError<E> {
    /// There is not enough memory for a piece of this many bytes.
    Memory(u64),
    /// The copy was refused.
    Copy(tensor_layout::Error),
    /// The result could not be taken.
    Taken(E),
}

/// The pieces of a copy, in the order of the bytes that they write.
#[derive(Debug)]
pub struct Pieces(Vec<Piece>);

impl Pieces {
    /// Divides a copy into pieces of about [`PIECE`] bytes, or longer pieces if the layouts do not allow
    /// that.
    ///
    /// # Errors
    ///
    /// `overflow` if the destination has more bytes than memory has addresses.
    pub fn of(plan: &Relayout) -> Result<Pieces, tensor_layout::Error> {
        let wanted = plan.destination_size_in_bytes().div_ceil(PIECE);
        plan.partition(usize::try_from(wanted).unwrap_or(1), 1).map(Pieces)
    }

    /// The size of the longest piece, in bytes.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.0.iter().map(|piece| bytes(piece.destination_range().len())).max().unwrap_or(0)
    }

    /// Runs the pieces in order. Before each piece, `prepare` may write to its buffer, and the copy keeps
    /// these bytes where it writes nothing. `take` gets the result. Both functions get the range of the piece
    /// in the whole output, in bytes.
    ///
    /// # Errors
    ///
    /// The memory is not enough, a piece is refused, or the error of `take`.
    pub fn run<E>(
        &self,
        source: &[u8],
        progress: Progress<'_>,
        mut prepare: impl FnMut(Range<usize>, &mut [u8]),
        mut take: impl FnMut(Range<usize>, &[u8]) -> Result<(), E>,
    ) -> Result<(), PieceError<E>> {
        let mut buffer = zeroed(self.longest()).ok_or(PieceError::Memory(self.longest()))?;
        for piece in &self.0 {
            let range = piece.destination_range();
            let part = buffer.get_mut(..range.len()).unwrap_or_default();
            prepare(range.clone(), part);
            piece.run(source, &mut *part).map_err(PieceError::Copy)?;
            take(range, part).map_err(PieceError::Taken)?;
            progress(bytes(part.len()));
        }
        Ok(())
    }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Allocates a buffer of zeros. `None` if the memory is not enough.
#[must_use]
pub fn zeroed(length: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok()?;
    let mut bytes: Vec<u8> = Vec::new();
    bytes.try_reserve_exact(length).ok()?;
    // The pages of a new allocation are zeros already.
    drop(bytes);
    Some(vec![0; length])
}

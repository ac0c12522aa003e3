//! Rows of sub-byte elements: elements of 1, 2 or 4 bits, and rows of bits that start inside a byte.

/// Several rows of sub-byte elements on one side, and on the other side one row in which their elements are
/// interleaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitInterleave {
    /// Bits of an element: 1, 2 or 4.
    pub bits: usize,
    /// How many rows are interleaved: one of [`ROWS`](BitInterleave::ROWS).
    pub rows: usize,
    /// The length of each of these rows, in whole bytes.
    pub row: usize,
    /// The pitch of these rows: how many bytes a row begins after the previous one.
    pub pitch: usize,
    /// Which side has the single row.
    pub direction: Direction,
}

impl BitInterleave {
    /// The numbers of rows that there are kernels for.
    pub const ROWS: [usize; 5] = [2, 4, 8, 16, 32];
}

/// The side that has the single row, in which the elements are interleaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The destination.
    Interleave,
    /// The source.
    Deinterleave,
}

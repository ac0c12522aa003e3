//! Rows and planes of sub-byte elements: 1, 2 or 4 bits, and rows of any bits that begin inside a byte.

/// Rows of sub-byte elements on one side, and on the other one row in which they are interleaved element by
/// element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitInterleave {
    /// Bits of an element: 1, 2 or 4.
    pub bits: usize,
    /// How many rows: one of [`ROWS`](BitInterleave::ROWS).
    pub rows: usize,
    /// Bytes of each, which are whole.
    pub row: usize,
    /// Bytes from the beginning of one row to the next.
    pub pitch: usize,
    /// Which side has the single row.
    pub direction: Direction,
}

impl BitInterleave {
    /// How many rows there are kernels for.
    pub const ROWS: [usize; 5] = [2, 4, 8, 16, 32];
}

/// Which side has the single row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The destination.
    Interleave,
    /// The source.
    Deinterleave,
}

/// Rows of bits that begin anywhere; everything is counted in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitRows {
    /// The length of a row.
    pub bits: u64,
    /// How many rows.
    pub count: u64,
    /// From the beginning of one row to the next.
    pub source: u64,
    /// The same on the destination.
    pub destination: u64,
}

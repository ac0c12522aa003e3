//! Rows and planes of sub-byte elements: 1, 2 or 4 bits, and rows of any bits that begin inside a byte.

use super::stride::Stride;

/// Rows of sub-byte elements on one side, and on the other one row in which they are interleaved element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitInterleave {
    /// Bits of an element: 1, 2 or 4.
    pub(crate) bits: usize,
    /// How many rows: one of [`ROWS`](BitInterleave::ROWS).
    pub(crate) rows: usize,
    /// Bytes of each, which are whole.
    pub(crate) row: usize,
    /// Bytes from the beginning of one row to the next.
    pub(crate) pitch: usize,
    pub(crate) direction: Direction,
}

impl BitInterleave {
    /// How many rows there are kernels for.
    pub(crate) const ROWS: [usize; 5] = [2, 4, 8, 16, 32];
}

/// Which side has the single row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The destination.
    Interleave,
    /// The source.
    Deinterleave,
}

/// Rows of bits that begin anywhere; everything is counted in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitRows {
    /// The length of a row.
    pub(crate) bits: u64,
    pub(crate) count: u64,
    /// From the beginning of one row to the next.
    pub(crate) source: u64,
    pub(crate) destination: u64,
}

/// A plane of sub-byte elements that begins anywhere: element (row, column) goes from `column + row * rows.source` to
/// `column * columns.destination + row`, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitPlane {
    /// Bits of an element: 1, 2 or 4.
    pub(crate) bits: usize,
    /// Packed on the source.
    pub(crate) columns: Stride,
    /// Packed on the destination.
    pub(crate) rows: Stride,
}

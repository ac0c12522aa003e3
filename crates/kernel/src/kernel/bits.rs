//! Rows of elements of 1, 2 or 4 bits. They are interleaved into words of 32 bits and back, or unpacked to a
//! byte for each element and packed again.

/// Rows of packed elements on one side, and on the other side one row of words of 32 bits. A word has one
/// element of each row. TPUs store `s4` in tiles of `(8,1)` in this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitInterleave {
    /// Bits of an element: 1, 2 or 4.
    pub bits: usize,
    /// The length of each of the separate rows, in whole bytes.
    pub row: usize,
    /// The pitch of the rows: how many bytes a row begins after the previous one.
    pub pitch: usize,
    /// Which side has the single row.
    pub direction: Direction,
}

impl BitInterleave {
    /// The number of rows, which is the number of elements in a word: 32, 16 or 8.
    pub fn rows(&self) -> usize {
        32_usize.checked_div(self.bits).unwrap_or(0)
    }

    /// The length of the row of words, in bytes.
    pub fn interleaved(&self) -> usize {
        let bytes = if self.direction == Direction::Pack { 4 } else { self.rows() };
        self.row.saturating_mul(bytes)
    }
}

/// The side that has the single row, in which the elements are interleaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The destination.
    Interleave,
    /// The destination. Each source row has a byte for each element, and their low bits are packed.
    Pack,
    /// The source.
    Deinterleave,
}

/// How an element changes between the source and the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WidthChange {
    /// The source is packed. In each unpacked byte, the bits above the element become copies of its sign, or
    /// zeros.
    Unpack {
        /// Whether the bits above the element are copies of its sign.
        signed: bool,
    },
    /// The destination is packed. Each element is the low bits of a source byte.
    Pack,
}

/// A row of elements that is packed on one side, and has a byte for each element on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WidthRow {
    /// Bits of a packed element: 1, 2 or 4.
    pub bits: usize,
    /// Whether the row is packed or unpacked.
    pub change: WidthChange,
    /// The length of the packed row, in whole bytes.
    pub packed: usize,
}

impl WidthRow {
    /// The length of the row with a byte for each element, in bytes.
    pub fn unpacked(&self) -> usize {
        self.packed.saturating_mul(8_usize.checked_div(self.bits).unwrap_or(0))
    }
}

//! Rows of elements of 1, 2 or 4 bits. Kernels interleave such rows into words of 32 bits, and back, or
//! unpack each element to a byte, and back.

/// Rows of packed elements on one side, and on the other side one row of words of 32 bits. A word has one
/// element of each row. XLA's tiles `(8,1)` of `s4`, for TPUs, have this form.
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

/// Which side has the row of interleaved words, and whether the rows of the other side are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The words are the destination. The source rows are packed.
    Interleave,
    /// The words are the destination. Each source row has a byte for each element, whose low bits are packed.
    Pack,
    /// The words are the source. The destination rows are packed.
    Deinterleave,
}

/// Whether elements are unpacked or packed on the way from the source to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WidthChange {
    /// The source is packed. In each byte of the destination, the bits above the element become copies of the
    /// element's sign, or zeros.
    Unpack {
        /// Whether the bits above the element are copies of its sign.
        signed: bool,
    },
    /// The destination is packed. Each element has the low bits of a byte of the source.
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

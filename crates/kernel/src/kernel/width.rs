//! Elements whose storage width changes: packed into 1, 2 or 4 bits on one side, and a byte for each element
//! on the other side.

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

/// Rows that have a byte for each element on one side. On the other side, the rows are interleaved in one
/// packed row: each word of 32 bits holds one element of every row. TPUs store `s4` in tiles of `(8,1)` in
/// this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedWords {
    /// Bits of a packed element: 1, 2 or 4.
    pub bits: usize,
    /// Whether the words are packed or unpacked.
    pub change: WidthChange,
    /// How many words there are. Each row has this many elements.
    pub words: usize,
    /// The pitch of the rows, in bytes.
    pub pitch: usize,
}

impl PackedWords {
    /// Size of a word in bytes.
    pub const WORD: usize = 4;

    /// The number of rows, which is the number of elements in a word.
    pub fn rows(&self) -> usize {
        PackedWords::WORD.saturating_mul(8).checked_div(self.bits).unwrap_or(0)
    }

    /// The length of the packed row in bytes.
    pub fn packed(&self) -> usize {
        self.words.saturating_mul(PackedWords::WORD)
    }
}

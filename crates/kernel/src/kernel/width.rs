//! Elements whose storage width changes: packed into 1, 2 or 4 bits on one side, a byte each on the other.

/// What happens to an element between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WidthChange {
    /// The source is packed: the bits above the element are copies of its sign, or zero.
    Unpack {
        /// Copies of the sign.
        signed: bool,
    },
    /// The destination is packed, and gets the low bits.
    Pack,
}

/// A row of elements that is packed on one side and has a byte for each on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WidthRow {
    /// Bits of a packed element: 1, 2 or 4.
    pub bits: usize,
    /// Which way.
    pub change: WidthChange,
    /// Bytes of the row where it is packed, which are whole.
    pub packed: usize,
}

impl WidthRow {
    /// Bytes of the row where each element has one.
    pub fn unpacked(&self) -> usize {
        self.packed.saturating_mul(8_usize.checked_div(self.bits).unwrap_or(0))
    }
}

/// Rows that have a byte for each element on one side; on the other one packed row, in which they are
/// interleaved element by element: a word of 32 bits holds an element of each, as TPUs have them (`s4` in
/// tiles of `(8,1)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedWords {
    /// Bits of a packed element: 1, 2 or 4.
    pub bits: usize,
    /// Which way.
    pub change: WidthChange,
    /// How many words: the elements of each row.
    pub words: usize,
    /// Bytes from the beginning of one row to the next.
    pub pitch: usize,
}

impl PackedWords {
    /// Bytes of a word.
    pub const WORD: usize = 4;

    /// How many rows: the elements of a word.
    pub fn rows(&self) -> usize {
        PackedWords::WORD.saturating_mul(8).checked_div(self.bits).unwrap_or(0)
    }

    /// Bytes of the packed row.
    pub fn packed(&self) -> usize {
        self.words.saturating_mul(PackedWords::WORD)
    }
}

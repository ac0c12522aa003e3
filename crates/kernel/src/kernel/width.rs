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

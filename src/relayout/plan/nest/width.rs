//! Elements whose storage width changes: packed into 1, 2 or 4 bits on one side, a byte each on the other.

/// What happens to an element between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WidthChange {
    /// The source is packed: the bits above the element are copies of its sign, or zero.
    Unpack { signed: bool },
    /// The destination is packed, and gets the low bits.
    Pack,
}

/// A row of elements that is packed on one side and has a byte for each on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WidthRow {
    /// Bits of a packed element: 1, 2 or 4.
    pub(crate) bits: usize,
    pub(crate) change: WidthChange,
    /// Bytes of the row where it is packed, which are whole.
    pub(crate) packed: usize,
}

impl WidthRow {
    /// Bytes of the row where each element has one.
    pub(crate) fn unpacked(&self) -> usize {
        self.packed.saturating_mul(8_usize.checked_div(self.bits).unwrap_or(0))
    }

    /// Bytes of the row on the source and on the destination.
    pub(crate) fn span(&self) -> (usize, usize) {
        match self.change {
            WidthChange::Unpack { .. } => (self.packed, self.unpacked()),
            WidthChange::Pack => (self.unpacked(), self.packed),
        }
    }
}

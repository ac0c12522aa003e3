//! How many bits an element has on either side of a copy, and how elements are unpacked or packed.

use std::cmp::Ordering;

use strided_copy::kernel::{WidthChange, WidthRow};

use crate::element::{DataType, ElementKind};
use crate::map::IndexMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Widths {
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Whether an element is sign-extended when it becomes wider.
    pub(crate) signed: bool,
}

impl Widths {
    pub(crate) fn between(source: &IndexMap, destination: &IndexMap) -> Widths {
        let signed = destination.data_type().kind() == ElementKind::Signed;
        Widths { source: source.element_bits(), destination: destination.element_bits(), signed }
    }

    pub(crate) fn can_hold(self, data_type: DataType) -> bool {
        let packed = self.source.min(self.destination);
        // XLA packs truth values as bits.
        let value = if data_type == DataType::Pred { 1 } else { data_type.bits() };
        self.source == self.destination || packed < 8 && self.source.max(self.destination) == 8 && value <= packed
    }

    pub(crate) fn change(self) -> Option<Change> {
        match self.source.cmp(&self.destination) {
            Ordering::Equal => None,
            Ordering::Less => self.unpacking(),
            Ordering::Greater => self.packing(),
        }
    }

    /// How a staging buffer of one byte for each element is filled from the source, and how the destination
    /// is filled from such a buffer. `None` for a side with a byte for each element, which needs no buffer.
    pub(crate) fn changes(self) -> (Option<Change>, Option<Change>) {
        (self.unpacking().filter(|_| self.source < 8), self.packing().filter(|_| self.destination < 8))
    }

    fn unpacking(self) -> Option<Change> {
        // An element that is packed again needs no sign extension, because only its low bits are packed.
        Change::new(self.source, WidthChange::Unpack { signed: self.signed && self.destination == 8 })
    }

    fn packing(self) -> Option<Change> {
        Change::new(self.destination, WidthChange::Pack)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) bits: u16,
    /// The least number of packed elements that fill a whole number of bytes.
    pub(crate) group: u64,
    /// The number of bytes that `group` packed elements fill.
    pub(crate) group_bytes: u64,
    pub(crate) change: WidthChange,
}

impl Change {
    /// The change between elements of `bits` bits and elements of a byte. `None` if elements have a byte or
    /// more.
    fn new(bits: u32, change: WidthChange) -> Option<Change> {
        let (group, group_bytes) = match bits {
            1 | 2 | 4 => (u64::from(8_u32.div_euclid(bits)), 1),
            6 => (4, 3),
            3 | 5 | 7 => (8, bits.into()),
            _ => return None,
        };
        Some(Change { bits: u16::try_from(bits).ok()?, group, group_bytes, change })
    }

    pub(crate) fn unpacks(&self) -> bool {
        matches!(self.change, WidthChange::Unpack { .. })
    }

    /// Converts a pair of values from (source, destination) to (packed side, other side), or back.
    pub(crate) fn sides<T>(&self, (source, destination): (T, T)) -> (T, T) {
        if self.unpacks() { (source, destination) } else { (destination, source) }
    }

    /// Whether there are kernels that unpack or pack these elements: those of 1, 2 and 4 bits.
    pub(crate) fn has_kernels(&self) -> bool {
        self.group_bytes == 1
    }

    pub(crate) fn row(&self, packed: usize) -> WidthRow {
        WidthRow { bits: self.bits.into(), change: self.change, packed }
    }

    /// How many bytes `elements` packed elements fill. `None` if these are not whole bytes.
    pub(super) fn whole_bytes(&self, elements: u64) -> Option<u64> {
        let groups = elements.is_multiple_of(self.group).then(|| elements.checked_div(self.group)).flatten();
        groups?.checked_mul(self.group_bytes)
    }

    /// Converts offsets of elements to bytes. `None` if the offset on the packed side is not whole bytes.
    pub(super) fn in_bytes(&self, sides: (u64, u64)) -> Option<(usize, usize)> {
        let (packed, unpacked) = self.sides(sides);
        let packed = usize::try_from(self.whole_bytes(packed)?).ok()?;
        Some(self.sides((packed, usize::try_from(unpacked).ok()?)))
    }
}

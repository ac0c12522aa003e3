//! `Besides`: the properties of a layout that its index map does not contain.

/// The properties of a layout besides its index map. Only the feature `plan` names this trait, so a crate
/// cannot implement [`ToIndexMap`](super::ToIndexMap) by accident: a layout that leaves out a method is copied
/// and checked by wrong rules.
pub trait Besides {
    /// The order of the dimensions in memory, the fastest dimension first, if the layout has such an order.
    /// The strides of dimensions of size 1 follow this order.
    fn minor_to_major(&self) -> Option<&[usize]> {
        None
    }

    /// The requirements of this layout on its buffer: an alignment, or zeros in the padding. Only named
    /// layouts may have requirements.
    fn storage_rule(&self) -> StorageRule {
        StorageRule::NONE
    }
}

/// The requirements of a layout on its buffer, besides the offsets of its elements. Most layouts have none. A
/// layout with a name may have some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StorageRule {
    /// The alignment of the start of the buffer, in bytes.
    pub alignment: u64,
    /// Whether the padding must hold zeros.
    pub zero_padding: bool,
}

impl StorageRule {
    /// The rule without requirements: the buffer may start anywhere, and the padding may hold any bytes.
    pub const NONE: StorageRule = StorageRule { alignment: 1, zero_padding: false };
}

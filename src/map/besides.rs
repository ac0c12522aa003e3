//! `Besides`: what the library reads of a layout that its index map does not say.

/// What a layout knows besides its index map. Nobody else can name this trait, so only the layouts of this
/// crate implement [`ToIndexMap`](super::ToIndexMap): another crate's layout that left a method out would be
/// copied or checked by rules that are not its own.
pub trait Besides {
    /// The order of the dimensions in memory, the fastest first, where the layout has one. The strides of
    /// dimensions of size 1 follow that order.
    fn minor_to_major(&self) -> Option<&[usize]> {
        None
    }

    /// What this layout demands of its buffer: an alignment, or zeros in its padding. A named layout may;
    /// others do not.
    fn storage_rule(&self) -> StorageRule {
        StorageRule::NONE
    }
}

/// What a layout demands of its buffer, besides the places of its elements. Most demand nothing; a layout
/// with a name may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StorageRule {
    /// What the start of the buffer must be a multiple of, in bytes.
    pub alignment: u64,
    /// Must its padding hold zeros?
    pub zero_padding: bool,
}

impl StorageRule {
    /// Any start, and padding that holds anything.
    pub const NONE: StorageRule = StorageRule { alignment: 1, zero_padding: false };
}

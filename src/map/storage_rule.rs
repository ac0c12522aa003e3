//! `StorageRule`: what a layout demands of the buffer it is stored in.

/// What a layout demands of its buffer, besides the places of its elements. Most demand nothing; a layout
/// with a name may.
#[doc(hidden)]
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

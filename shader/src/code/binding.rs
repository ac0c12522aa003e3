//! The memory that a shader reads and writes.

use std::sync::Arc;

/// How a shader uses a storage buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    ReadWrite,
}

/// A storage buffer of words, bound in group 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buffer {
    pub(crate) name: Arc<str>,
    /// The number of its binding.
    pub(super) place: usize,
    pub(crate) access: Access,
    /// Its words in groups of four (`vec4<u32>`), which are read and written together.
    pub(super) wide: bool,
}

/// An array of words in workgroup memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedArray {
    pub(crate) name: Arc<str>,
    pub(super) place: usize,
    pub(crate) words: u32,
}

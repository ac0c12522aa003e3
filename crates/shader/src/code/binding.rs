//! The memory that a shader reads and writes.

use std::sync::Arc;

/// What a shader does with a storage buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// Words that a shader reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) name: Arc<str>,
    /// Its number among those of the shader: of a storage buffer that of its binding.
    pub(super) place: usize,
    pub(crate) kind: MemoryKind,
}

impl Memory {
    /// How many words are read and written together.
    pub(super) fn width(&self) -> u32 {
        if matches!(self.kind, MemoryKind::Buffer { wide: true, .. }) { 4 } else { 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// A storage buffer, bound in group 0.
    Buffer {
        access: Access,
        /// Its words in groups of four (`vec4<u32>`), which are read and written together.
        wide: bool,
    },
    /// An array of this many words in workgroup memory.
    Workgroup(u32),
}

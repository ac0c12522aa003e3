//! The memory that a shader reads and writes.

use std::sync::Arc;

use super::language::{Language, Style};

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
        match self.kind {
            MemoryKind::Buffer { width, .. } => width,
            MemoryKind::Workgroup(_) => 1,
        }
    }

    /// The name as it is written: in WGSL memory is declared outside the entry point.
    pub(super) fn called(&self, style: Style<'_>) -> String {
        match style.language {
            Language::Wgsl => format!("{}{}", self.name, style.suffix),
            Language::Cuda => self.name.to_string(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// A storage buffer, bound in group 0.
    Buffer {
        access: Access,
        /// The words that are read and written together: 1, 2 (`vec2<u32>`) or 4 (`vec4<u32>`).
        width: u32,
    },
    /// An array of this many words in workgroup memory.
    Workgroup(u32),
}

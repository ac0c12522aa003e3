//! The buffers and arrays that a shader reads and writes.

use std::sync::Arc;

use super::language::{Language, Style};

/// How a shader uses a storage buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// The shader only reads the buffer: `var<storage, read>`.
    Read,
    /// The shader reads and writes the buffer: `var<storage, read_write>`.
    ReadWrite,
}

/// A storage buffer or a workgroup array of 32-bit words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) name: Arc<str>,
    /// The index among the memories of the shader, which for a storage buffer is the number of its binding.
    pub(super) place: usize,
    pub(crate) kind: MemoryKind,
}

impl Memory {
    /// How many words one access reads or writes.
    pub(super) fn width(&self) -> u32 {
        match self.kind {
            MemoryKind::Buffer { width, .. } => width,
            MemoryKind::Workgroup(_) => 1,
        }
    }

    /// The name in the text. In WGSL the declaration is outside the entry point, so the name has the shader's
    /// suffix.
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
        /// How many words one access reads or writes: 1, 2 (`vec2<u32>`) or 4 (`vec4<u32>`).
        width: u32,
    },
    /// An array in workgroup memory, with its length in words.
    Workgroup(u32),
}

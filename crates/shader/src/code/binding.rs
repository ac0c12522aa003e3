//! The memories of a shader: the storage buffers and the workgroup arrays that it reads and writes.

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
    /// The index of this memory in the shader's list of memories. For a storage buffer it is also the number
    /// of the binding.
    pub(super) place: usize,
    pub(crate) kind: MemoryKind,
}

impl Memory {
    /// The number of words that one access to this memory reads or writes.
    pub(super) fn width(&self) -> u32 {
        match self.kind {
            MemoryKind::Buffer { width, .. } => width,
            MemoryKind::Workgroup(_) => 1,
        }
    }

    /// The name of the memory in the printed text. In WGSL the memory is declared outside the entry point, so
    /// its name has the shader's suffix.
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
    /// An array in workgroup memory. The number is its length in words.
    Workgroup(u32),
}

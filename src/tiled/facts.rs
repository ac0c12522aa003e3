//! Facts about tiled shapes: the names of memory spaces, and the size of the whole buffer.

use crate::checked::{self, BYTES};
use crate::error::Error;

use super::array::ArrayShape;

/// Returns the name of the memory space `S(n)` in TPU dumps, or `None` for an unknown memory space.
///
/// The function needs the feature `plan`.
///
/// | n | name | holds | source |
/// |---|---|---|---|
/// | 0 | HBM | everything without an `S`; on other devices, simply their memory | XLA's page *Shapes and layout* |
/// | 1 | VMEM | the vector units' memory | the same page |
/// | 2 | SFLAG | flags that asynchronous copies wait for (JAX: `SEMAPHORE_MEM`) | JAX's `tpu_custom_call`, libtpu 0.0.51 |
/// | 3 | CMEM | v4's common memory of 128 MiB, where others use VMEM | what libtpu 0.0.52 writes for v4; XProf's *Memory Viewer* has the name |
/// | 4 | SMEM | the scalar unit's memory | JAX's `tpu_custom_call` |
/// | 5 | host | the host's memory | XLA's page |
/// | 6 | SREG | scalars that stay in the scalar unit's registers: no memory | what libtpu 0.0.51 generates for them |
/// | 8 | SparseCore SFLAG | the flags of a SparseCore's scalar unit (JAX: `SC_SCALAR_SEMAPHORE_MEM`) | JAX's `tpu_custom_call` |
///
/// ```
/// use tensor_layout::tiled::memory_space_name;
///
/// assert_eq!(memory_space_name(1), Some("VMEM"));
/// assert_eq!((memory_space_name(2), memory_space_name(6)), (Some("SFLAG"), Some("SREG")));
/// assert_eq!((memory_space_name(3), memory_space_name(7)), (Some("CMEM"), None));
/// ```
#[must_use]
pub fn memory_space_name(memory_space: u64) -> Option<&'static str> {
    match memory_space {
        0 => Some("HBM"),
        1 => Some("VMEM"),
        2 => Some("SFLAG"),
        3 => Some("CMEM"),
        4 => Some("SMEM"),
        5 => Some("host"),
        6 => Some("SREG"),
        8 => Some("SparseCore SFLAG"),
        _ => None,
    }
}

impl ArrayShape {
    /// The size of the whole buffer in bytes: the prefix `M(n)` in front of the data, and the [physical
    /// size](ArrayShape::physical_size_in_bytes).
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn buffer_size_in_bytes(&self) -> Result<u64, Error> {
        checked::add(self.layout().metadata_prefix_bytes, self.physical_size_in_bytes()?, BYTES)
    }
}

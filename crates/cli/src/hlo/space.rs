//! How tables and objects write a memory space and its bytes.

use tensor_layout::tiled::memory_space_name;

/// A total as 64 bits: the largest number if it is larger.
pub(super) fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The name of a memory space, or its number as HLO writes it.
pub(super) fn space_name(space: u64) -> String {
    memory_space_name(space).map_or_else(|| format!("S({space})"), str::to_owned)
}

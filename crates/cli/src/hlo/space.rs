//! Memory spaces and their bytes, as tables and objects write them.

use tensor_layout::tiled::memory_space_name;

/// The total as a number of 64 bits. A larger total becomes the largest number.
pub(super) fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The name of a memory space, or its number as HLO writes it.
pub(super) fn space_name(space: u64) -> String {
    memory_space_name(space).map_or_else(|| format!("S({space})"), str::to_owned)
}

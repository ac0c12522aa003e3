//! Memory spaces and their bytes, as tables and objects write them.

use tensor_layout_hlo::memory_name;

/// Converts a number of bytes to 64 bits. A larger number becomes the largest.
pub(super) fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(super) fn space_name(space: u64, is_for_tpu: bool) -> String {
    memory_name(space, is_for_tpu).map_or_else(|| format!("S({space})"), str::to_owned)
}

//! Axes that run backwards: negative steps of a slice, and negative strides of NumPy, CuTe, MLIR and ndarray.
//!
//! A layout has no direction. Its elements are described from the lowest address on, and the axes that run
//! backwards are listed beside it, as in `SignedDesc` and `Settings::reversed` of the library. Index 0 of
//! such an axis is stored where the layout has the last index.

use tensor_layout::IndexMap;

use crate::table::write_list;

pub(crate) fn first(map: &IndexMap, reversed: &[usize]) -> Option<u64> {
    let last = |(axis, &size): (usize, &u64)| if reversed.contains(&axis) { size.saturating_sub(1) } else { 0 };
    let index: Vec<u64> = map.sizes().iter().enumerate().map(last).collect();
    map.offset(&index).ok()
}

/// Says where index 0 is stored. Of a tensor of blocks, `is_blocks`, the last axis of the map is the bytes of
/// a block, and indices count values.
pub(crate) fn line(map: &IndexMap, reversed: &[usize], is_blocks: bool) -> Option<String> {
    let axes: Vec<u64> = reversed.iter().map(|&axis| axis as u64).collect();
    let (first, unit) = (first(map, reversed)?, if is_blocks { "byte" } else { "element" });
    let zeros = vec![0; map.sizes().len().saturating_sub(usize::from(is_blocks))];
    (!axes.is_empty()).then(|| {
        format!("  reversed   axes {}: index {} is stored at {unit} {first}", write_list(&axes), write_list(&zeros))
    })
}

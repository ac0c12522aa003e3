//! Axes that run backwards: negative steps of a slice, and negative strides of NumPy, CuTe, MLIR and ndarray.
//!
//! A layout has no direction. Its elements are described from the lowest address on, and the axes that run
//! backwards are listed beside it, as in `SignedDesc` and `Settings::reversed` of the library. Index 0 of
//! such an axis is stored where the layout has the last index.

use tensor_layout::IndexMap;

use crate::table::write_list;

/// Returns NumPy's text of a layout with negative strides for these axes. `text` is its text without signs.
pub(crate) fn numpy_text(text: &str, reversed: &[usize]) -> Option<String> {
    let numbers = |key: &str| -> Option<Vec<i128>> {
        let list = text.split_once(key)?.1.split_once(')')?.0;
        let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().ok()).collect()
    };
    let (sizes, mut strides) = (numbers("shape=(")?, numbers("strides=(")?);
    let mut offset = numbers("offset=").map_or(Some(0), |offset| offset.first().copied())?;
    for &axis in reversed {
        let stride = strides.get_mut(axis)?;
        offset = offset.saturating_add(sizes.get(axis)?.saturating_sub(1).saturating_mul(*stride));
        *stride = stride.saturating_neg();
    }
    let list: Vec<String> = strides.iter().map(i128::to_string).collect();
    let comma = if list.len() == 1 { "," } else { "" };
    Some(format!("{}strides=({}{comma}), offset={offset})", text.split_once("strides=(")?.0, list.join(",")))
}

/// Turns the negative steps of a slice around: `5:1:-2` becomes `3:6:2`. Returns the slice and the axes that
/// run backwards.
pub(crate) fn turned(slice: &str, sizes: &[u64]) -> (String, Vec<usize>) {
    let mut reversed = Vec::new();
    let part = |(axis, part): (usize, &str)| {
        let fields: Vec<&str> = part.split(':').map(str::trim).collect();
        let (Some(&size), [start, stop, step]) = (sizes.get(axis), fields.as_slice()) else { return part.to_owned() };
        let Some(step) = step.parse::<i64>().ok().filter(|&step| step < 0) else { return part.to_owned() };
        let (size, step) = (i128::from(size), -i128::from(step));
        let place = |text: &str, otherwise: i128| match text.parse::<i64>() {
            Ok(place) if place < 0 => Some((size + i128::from(place)).max(-1)),
            Ok(place) => Some(i128::from(place).min(size - 1)),
            Err(_) => Some(otherwise).filter(|_| text.is_empty()),
        };
        let (Some(start), Some(stop)) = (place(start, size - 1), place(stop, -1)) else { return part.to_owned() };
        if start <= stop {
            return "0:0".into();
        }
        let steps = (start - stop - 1) / step;
        if steps > 0 {
            reversed.push(axis);
        }
        format!("{}:{}:{step}", start - steps * step, start + 1)
    };
    let written = slice.trim();
    let written = written.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(written);
    // NumPy's `...` is as many whole axes as the other parts leave.
    let left = sizes.len().saturating_sub(written.split(',').count().saturating_sub(1));
    let has_gap = left > 0 && written.matches("...").count() == 1;
    let whole = if has_gap { &written.replace("...", &vec![":"; left].join(",")) } else { written };
    let text = whole.split(',').enumerate().map(part).collect::<Vec<_>>().join(",");
    (if text == written { slice.to_owned() } else { text }, reversed)
}

pub(crate) fn permuted(axes: &str, reversed: &[usize], rank: usize) -> Vec<usize> {
    // A text that is no permutation is refused by its reader.
    let axes = axes.trim_matches(['[', ']']).split(',').map(|axis| axis.trim().parse::<isize>().unwrap_or(0));
    let axes = axes.map(|axis| usize::try_from(axis).unwrap_or(rank.saturating_sub(axis.unsigned_abs())));
    axes.enumerate().filter(|(_, axis)| reversed.contains(axis)).map(|(place, _)| place).collect()
}

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

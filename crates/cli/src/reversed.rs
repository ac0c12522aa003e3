//! Axes that run backwards: negative steps of a slice, and negative strides of NumPy, CuTe, MLIR and ndarray.
//!
//! A layout has no direction. Its elements are described from the lowest address on, and the axes that run
//! backwards are listed beside it, as in `SignedDesc` and `Settings::reversed` of the library. Index 0 of
//! such an axis is stored where the layout has the last index.

use std::ops::Range;

use tensor_layout::{Error, IndexMap};
use tensor_layout_text::{Notated, read_signed};

use crate::table::{counted, write_list};

/// Reads a layout, and returns it with the axes that run backwards.
pub(crate) fn read(text: &str) -> Result<(Notated, Vec<usize>), Error> {
    match forwards(text)? {
        Some((forwards, reversed)) => Ok((forwards.parse()?, reversed)),
        None => read_signed(text),
    }
}

/// Returns the numbers after `key` up to one of the characters `ends`, and their place in the text.
fn numbers(text: &str, key: &str, ends: &[char]) -> Option<(Range<usize>, Vec<i128>)> {
    let start = text.find(key)?.checked_add(key.len())?;
    let list = text.get(start..)?.split_once(ends)?.0;
    let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty()).map(|number| number.parse().ok());
    Some((start..start.checked_add(list.len())?, numbers.collect::<Option<_>>()?))
}

/// Returns the axes with a second index whose stride is negative.
fn backward_axes(sizes: &[i128], strides: &[i128]) -> Vec<usize> {
    let is_empty = sizes.contains(&0);
    let pairs = sizes.iter().zip(strides).enumerate();
    pairs.filter(|(_, (size, stride))| !is_empty && **size > 1 && **stride < 0).map(|(axis, _)| axis).collect()
}

/// Turns the strides of NumPy's text around, and moves its offset to the lowest address. `None` if no axis
/// runs backwards.
fn forwards(text: &str) -> Result<Option<(String, Vec<usize>)>, Error> {
    let lists = || Some((numbers(text, "shape=(", &[')'])?.1, numbers(text, "strides=(", &[')'])?));
    let Some((sizes, (place, strides))) = lists().filter(|_| text.trim_start().starts_with("ndarray(")) else {
        return Ok(None);
    };
    let reversed = backward_axes(&sizes, &strides);
    if reversed.is_empty() {
        return Ok(None);
    }
    let positive: Vec<i128> = strides.iter().map(|stride| stride.saturating_abs()).collect();
    // A text without an offset describes the bytes from the lowest address on.
    let offset = numbers(text, "offset=", &[',', ')']).and_then(|(_, offset)| Some(*offset.first()?));
    let offset = offset.map(|offset| offset.saturating_sub(distance(&sizes, &positive, &reversed)));
    match offset {
        Some(offset) if offset < 0 => {
            let bytes = offset.unsigned_abs();
            Err(Error::not_expressible(
                "layout",
                format!("an element would be stored {} before its buffer", counted(bytes, "byte")),
            ))
        }
        _ => Ok(Some((with_strides(text, &place, &positive, offset), reversed))),
    }
}

/// Returns how far the last index of these axes is from the first, in the unit of the strides.
fn distance(sizes: &[i128], strides: &[i128], axes: &[usize]) -> i128 {
    let steps = axes.iter().filter_map(|&axis| Some((sizes.get(axis)?, strides.get(axis)?)));
    steps.fold(0, |sum, (size, stride)| size.saturating_sub(1).saturating_mul(*stride).saturating_add(sum))
}

fn with_strides(text: &str, place: &Range<usize>, strides: &[i128], offset: Option<i128>) -> String {
    let list: Vec<String> = strides.iter().map(i128::to_string).collect();
    let comma = if strides.len() == 1 { "," } else { "" };
    let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
    let text = format!("{before}{}{comma}{after}", list.join(","));
    match (offset, numbers(&text, "offset=", &[',', ')'])) {
        (None, _) => text,
        (Some(offset), Some((at, _))) => {
            let (before, after) = (text.get(..at.start).unwrap_or_default(), text.get(at.end..).unwrap_or_default());
            format!("{before}{offset}{after}")
        }
        (Some(offset), None) => format!("{}, offset={offset})", text.trim_end().strip_suffix(')').unwrap_or(&text)),
    }
}

pub(crate) fn numpy_text(text: &str, reversed: &[usize]) -> Option<String> {
    let (sizes, (place, strides)) = (numbers(text, "shape=(", &[')'])?.1, numbers(text, "strides=(", &[')'])?);
    let offset = numbers(text, "offset=", &[',', ')']).and_then(|(_, offset)| Some(*offset.first()?)).unwrap_or(0);
    let offset = offset.saturating_add(distance(&sizes, &strides, reversed));
    let turn = |(axis, &stride): (usize, &i128)| if reversed.contains(&axis) { -stride } else { stride };
    let strides: Vec<i128> = strides.iter().enumerate().map(turn).collect();
    Some(with_strides(text, &place, &strides, Some(offset)))
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
    let text: Vec<String> = slice.split(',').enumerate().map(part).collect();
    (text.join(","), reversed)
}

pub(crate) fn permuted(axes: &str, reversed: &[usize], rank: usize) -> Vec<usize> {
    // A text that is no permutation is refused by its reader.
    let axes = axes.trim_matches(['[', ']']).split(',').map(|axis| axis.trim().parse::<isize>().unwrap_or(0));
    let axes = axes.map(|axis| usize::try_from(axis).unwrap_or(rank.saturating_sub(axis.unsigned_abs())));
    axes.enumerate().filter(|(_, axis)| reversed.contains(axis)).map(|(place, _)| place).collect()
}

/// Returns the offset of index 0 of all axes, in elements.
pub(crate) fn first(map: &IndexMap, reversed: &[usize]) -> Option<u64> {
    let last = |(axis, &size): (usize, &u64)| if reversed.contains(&axis) { size.saturating_sub(1) } else { 0 };
    let index: Vec<u64> = map.sizes().iter().enumerate().map(last).collect();
    map.offset(&index).ok()
}

pub(crate) fn line(map: &IndexMap, reversed: &[usize]) -> Option<String> {
    let axes: Vec<u64> = reversed.iter().map(|&axis| axis as u64).collect();
    let (first, zeros) = (first(map, reversed)?, vec![0; map.sizes().len()]);
    (!axes.is_empty()).then(|| {
        format!("  reversed   axes {}: index {} is stored at element {first}", write_list(&axes), write_list(&zeros))
    })
}

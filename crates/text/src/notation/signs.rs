//! Signs of strides. A layout of one tensor has strides without a sign.
//!
//! A layout is described from the lowest address on, and the axes that run backwards are listed beside it, as
//! in `SignedDesc` and `Settings::reversed` of the library.

use crate::numbers::python;

/// Returns NumPy's text of a layout with negative strides for these axes. `text` is its text without signs.
pub(crate) fn signed_numpy(text: &str, reversed: &[usize]) -> Option<String> {
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
    Some(format!("{}strides={}, offset={offset})", text.split_once("strides=(")?.0, python(&strides)))
}

/// Returns CuTe's text of a layout with negative strides for these modes. `text` is its text without signs.
pub(crate) fn signed_cute(text: &str, reversed: &[usize]) -> Option<String> {
    let (head, strides) = text.split_once("):(")?;
    let (mut mode, mut depth, mut begins, mut written) = (0_usize, 0_usize, true, String::new());
    for c in strides.chars() {
        if begins && c.is_ascii_digit() && reversed.contains(&mode) {
            written.push('-');
        }
        begins = !c.is_ascii_digit();
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => mode = mode.saturating_add(1),
            _ => {}
        }
        written.push(c);
    }
    Some(format!("{head}):({written}"))
}

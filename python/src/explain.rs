//! `explain`: lists the arrays of an out-of-memory error of XLA, with the cost of their padding.
//!
//! The report of a TPU lists the largest allocations ("1. Size: 32.00G", "Shape: ..", "Unpadded size: ..").
//! The report of a GPU lists its peak buffers ("Buffer 1:", "Size: 6.00MiB", "Shape: .."). Every line may
//! have a log prefix. Sizes in the text are rounded, so sizes of shapes with tiles are computed from the
//! shapes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tensor_layout::tiled::Layout;
use tensor_layout::{ArrayShape, Error};

use crate::error::refusal;

/// An allocation that the report lists.
#[derive(Default)]
struct Allocation {
    bytes: Option<u64>,
    unpadded: Option<u64>,
    shape: Option<String>,
    operator: Option<String>,
}

/// Reads a size in bytes: `32.00G`, `6.00MiB`, `384.0K`, `12B`.
fn size(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let shift = match unit.trim_start().chars().next() {
        None | Some('B' | ' ') => 0,
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some(_) => return None,
    };
    let factor = 1_u64.checked_shl(shift)?;
    let parts = u64::try_from(10_u128.checked_pow(fraction.len().try_into().ok()?)?).ok()?;
    let below: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let below = u128::from(below).checked_mul(factor.into())?.checked_div(parts.into())?;
    whole.parse::<u64>().ok()?.checked_mul(factor)?.checked_add(u64::try_from(below).ok()?)
}

/// Returns the allocations in the order of the text.
fn allocations(text: &str) -> Vec<Allocation> {
    let mut found: Vec<Allocation> = Vec::new();
    let after = |line: &str, key: &str| line.split_once(key).map(|(_, rest)| rest.trim().to_owned());
    for line in text.lines() {
        if let Some(rest) = after(line, "Unpadded size: ") {
            found.last_mut().into_iter().for_each(|last| last.unpadded = size(&rest));
        } else if let Some(rest) = after(line, " Size: ").or_else(|| after(line, "\tSize: ")) {
            found.push(Allocation { bytes: size(&rest), ..Allocation::default() });
        } else if let Some(rest) = after(line, "Shape: ").or_else(|| after(line, "Subshape: ")) {
            found.last_mut().into_iter().for_each(|last| last.shape = Some(rest.clone()));
        } else if let Some(rest) = after(line, "Operator: ") {
            let name = after(&rest, "op_name=\"").and_then(|name| Some(name.split_once('"')?.0.to_owned()));
            found.last_mut().into_iter().for_each(|last| last.operator = name.clone().or(Some(rest.clone())));
        }
    }
    found
}

/// Returns the order of the dimensions that takes the fewest bytes with the same tiles. Only the two fastest
/// dimensions matter.
fn best_order(shape: &ArrayShape) -> Result<ArrayShape, Error> {
    let rank = shape.rank();
    let mut best = (shape.physical_size_in_bytes()?, shape.clone());
    for minor in 0..rank {
        for second in (0..rank).filter(|&second| second != minor) {
            let order: Vec<usize> = [minor, second]
                .into_iter()
                .chain((0..rank).rev().filter(|dim| ![minor, second].contains(dim)))
                .collect();
            let layout = Layout::new(&order)?.with_tiles(shape.layout().tiles());
            let other = ArrayShape::new(shape.data_type(), shape.sizes(), layout)?;
            let bytes = other.physical_size_in_bytes()?;
            if bytes < best.0 {
                best = (bytes, other);
            }
        }
    }
    Ok(best.1)
}

/// Lists the arrays that took the memory, from the text of an XLA out-of-memory error (or the exception).
/// Returns a dict with "arrays", the largest first. Each has "bytes", "logical_bytes", "padding",
/// "expansion", "shape", "operator". If another order of the dimensions takes less, it also has "better"
/// (that shape) and "better_bytes". "text" describes the arrays in sentences.
///
/// >>> report = '''Largest program allocations in hbm:
/// ...   1. Size: 32.00G
/// ...      Operator: op_name="jit(update)/floor"
/// ...      Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
/// ...      Unpadded size: 1.00G'''
/// >>> (array,) = explain(report)["arrays"]
/// >>> array["expansion"], array["padding"] == 31 << 30, array["better"]
/// (32.0, True, 's32[8388608,8,4]{0,1,2:T(8,128)}')
#[pyfunction]
pub(crate) fn explain<'py>(error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = error.py();
    let mut found = allocations(&error.str()?.extract::<String>()?);
    if found.is_empty() {
        let reason = "this text lists no allocations: pass the whole message, from RESOURCE_EXHAUSTED to its end";
        return Err(refusal("no_allocations", reason));
    }
    found.sort_by_key(|allocation| std::cmp::Reverse(allocation.bytes));
    let (arrays, mut sentences) = (PyList::empty(py), Vec::new());
    for allocation in found {
        let shape = allocation.shape.as_deref().and_then(|text| text.parse::<ArrayShape>().ok());
        let tiled = shape.as_ref().filter(|shape| !shape.layout().tiles().is_empty());
        let bytes = tiled.and_then(|shape| shape.physical_size_in_bytes().ok()).or(allocation.bytes).unwrap_or(0);
        // Sizes in the text are rounded, and a shape without tiles does not determine its padding.
        let logical = tiled.and_then(|shape| shape.logical_size_in_bytes().ok());
        let logical = logical.or(allocation.unpadded).unwrap_or(bytes);
        let padding = bytes.saturating_sub(logical);
        let row = PyDict::new(py);
        row.set_item("bytes", bytes)?;
        row.set_item("logical_bytes", logical)?;
        row.set_item("padding", padding)?;
        let hundredths = u128::from(bytes).saturating_mul(100).checked_div(logical.into()).unwrap_or(100);
        row.set_item(
            "expansion",
            format!("{}.{:02}", hundredths.div_euclid(100), hundredths.rem_euclid(100)).parse::<f64>()?,
        )?;
        row.set_item("shape", &allocation.shape)?;
        row.set_item("operator", &allocation.operator)?;
        let what = allocation.shape.as_deref().unwrap_or("an allocation");
        let by = allocation.operator.as_ref().map(|operator| format!(" ({operator})")).unwrap_or_default();
        let mut sentence = match padding {
            0 => format!("{what} takes {bytes} bytes{by}."),
            _ => format!(
                "{what} takes {bytes} bytes for {logical} of elements: {} times as many, the rest is padding{by}.",
                hundredths.saturating_add(50).div_euclid(100)
            ),
        };
        let better = tiled.filter(|_| padding > 0).and_then(|shape| best_order(shape).ok());
        if let Some((better, fewer)) =
            better.and_then(|better| Some((better.to_string(), better.physical_size_in_bytes().ok()?)))
            && fewer < bytes
        {
            row.set_item("better", &better)?;
            row.set_item("better_bytes", fewer)?;
            sentence.push_str(&format!(" As {better} it takes {fewer}."));
        }
        arrays.append(row)?;
        sentences.push(sentence);
    }
    let answer = PyDict::new(py);
    answer.set_item("arrays", arrays)?;
    answer.set_item("text", sentences.join("\n"))?;
    Ok(answer)
}

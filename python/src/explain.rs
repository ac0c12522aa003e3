//! `explain`: lists the arrays of an out-of-memory error of XLA, with the cost of their padding.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tensor_layout::tiled::TpuGeneration;
use tensor_layout_hlo::{OutOfMemoryReport, ReportedSize, smaller_layout};

use crate::error::refusal;

/// Explains the text of an out-of-memory error of XLA (RESOURCE_EXHAUSTED): the arrays that took the memory,
/// the bytes of each that are padding, and the layout that a TPU compiler would choose if it is smaller.
/// `text` has a sentence for each array, `needed_bytes` and `available_bytes` what the report says of the
/// program and the device, `asked_bytes` and `free_bytes` what it says of the allocation that failed.
///
/// >>> report = """RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.
/// ...   1. Size: 2.44M
/// ...      Shape: f32[5000,1]{1,0:T(8,128)}"""
/// >>> explain(report)["arrays"][0]["expansion"]
/// 128.0
/// >>> explain("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.")["asked_bytes"]
/// 6291456
#[pyfunction]
pub(crate) fn explain<'py>(error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = error.py();
    let text: String = error.str()?.extract()?;
    let mut report = OutOfMemoryReport::read(text.as_bytes())?;
    if report.allocations.is_empty() && !report.has_sizes() {
        let reason = "this text lists no allocations: pass the whole message, from RESOURCE_EXHAUSTED to its end";
        return Err(refusal("no_allocations", reason));
    }
    report.allocations.sort_by_key(|allocation| std::cmp::Reverse(allocation.bytes));
    let (arrays, mut sentences) = (PyList::empty(py), Vec::new());
    for allocation in &report.allocations {
        let (bytes, logical) = (allocation.bytes, allocation.unpadded_bytes);
        let padding = bytes.saturating_sub(logical);
        let hundredths = u128::from(bytes).saturating_mul(100).checked_div(logical.into()).unwrap_or(100);
        let expansion = format!("{}.{:02}", hundredths.div_euclid(100), hundredths.rem_euclid(100));
        let named = |name: &str| if name.is_empty() { None } else { Some(name.to_owned()) };
        let (shape, operator) = (named(&allocation.shape), named(&allocation.op_name));
        let row = PyDict::new(py);
        row.set_item("bytes", bytes)?;
        row.set_item("logical_bytes", logical)?;
        row.set_item("padding", padding)?;
        row.set_item("expansion", expansion.parse::<f64>()?)?;
        row.set_item("shape", &shape)?;
        row.set_item("operator", &operator)?;
        row.set_item("label", named(&allocation.instruction))?;
        let what = shape.or_else(|| named(&allocation.instruction)).unwrap_or_else(|| "an allocation".to_owned());
        let by = operator.map(|operator| format!(" ({operator})")).unwrap_or_default();
        let mut sentence = match padding {
            0 => format!("{what} takes {bytes} bytes{by}."),
            _ => format!(
                "{what} takes {bytes} bytes for {logical} of elements: {} times as many, the rest is padding{by}.",
                hundredths.saturating_add(50).div_euclid(100)
            ),
        };
        let tiled = allocation.array.as_ref().filter(|shape| padding > 0 && !shape.layout().tiles().is_empty());
        if let Some((better, fewer)) = tiled.and_then(|shape| smaller_layout(shape, TpuGeneration::V5e)) {
            row.set_item("better", better.to_string())?;
            row.set_item("better_bytes", fewer)?;
            sentence.push_str(&format!(" As {better} it takes {fewer}."));
        }
        arrays.append(row)?;
        sentences.push(sentence);
    }
    let bytes = |size: &Option<ReportedSize>| size.as_ref().map(|size| size.bytes);
    let (asked, free) = (bytes(&report.asked), bytes(&report.free));
    if let Some(asked) = asked {
        let free = free.map(|free| format!(", and {free} were free")).unwrap_or_default();
        sentences.push(format!("The allocation that failed asked for {asked} bytes{free}."));
    }
    let answer = PyDict::new(py);
    answer.set_item("asked_bytes", asked)?;
    answer.set_item("free_bytes", free)?;
    answer.set_item("arrays", arrays)?;
    answer.set_item("needed_bytes", bytes(&report.used))?;
    answer.set_item("available_bytes", bytes(&report.capacity))?;
    answer.set_item("text", sentences.join("\n"))?;
    Ok(answer)
}

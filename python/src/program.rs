//! `hlo`: the memory use of a compiled XLA program.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tensor_layout_hlo::{BufferTable, Module};

use crate::error::refusal;

/// The most arrays that are listed.
const ROWS: usize = 1000;

/// The memory of a compiled program, in bytes. `arrays` are the arrays that are alive at the peak. `padded`
/// are the arrays that waste the most, the largest first. Both are lists of dicts with "shape",
/// "instruction", "op_name" and their bytes. A notebook shows the use of memory over the schedule.
#[pyclass(frozen, get_all, module = "relayout")]
pub(crate) struct Program {
    peak_bytes: u128,
    argument_bytes: u128,
    output_bytes: u128,
    alias_bytes: u128,
    temp_bytes: u128,
    constant_bytes: u128,
    /// The number of bytes of all buffers that belong to no element.
    padding_bytes: u128,
    is_scheduled: bool,
    unreadable_lines: u64,
    arrays: Py<PyList>,
    padded: Py<PyList>,
    svg: String,
}

#[pymethods]
impl Program {
    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __repr__(&self) -> String {
        format!("Program(peak_bytes={}, padding_bytes={})", self.peak_bytes, self.padding_bytes)
    }
}

/// Reads the text of an HLO module, or an object whose `as_text()` returns the text:
/// `jax.jit(f).lower(..).compile()`.
///
/// >>> dump = """ENTRY %main (p: f32[1000,1]) -> f32[1000,1] {
/// ...   ROOT %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
/// ... }"""
/// >>> program = hlo(dump)
/// >>> program.peak_bytes, program.padding_bytes, program.arrays[0]["used_as"]
/// (512000, 508000, 'aliased')
#[pyfunction]
pub(crate) fn hlo(text_or_compiled: &Bound<'_, PyAny>) -> PyResult<Program> {
    let py = text_or_compiled.py();
    let text: String = match text_or_compiled.extract() {
        Ok(text) => text,
        Err(_) => text_or_compiled.call_method0("as_text")?.extract()?,
    };
    let module = Module::read(text.as_bytes())?;
    let (Some(live), true) = (module.live_memory(), module.instructions() > 0) else {
        let reason = "this is no HLO text with an entry computation: pass compiled.as_text(), or a dump whose name ends \
                      in after_optimizations.txt";
        return Err(refusal("not_hlo", reason));
    };
    let (total, table) = (live.total(), BufferTable::of(&module, ROWS));
    let peak = live.spaces().iter().find(|space| space.space == 0).and_then(|space| space.peak_time);
    let arrays = PyList::empty(py);
    for buffer in live.live_at(0, peak.unwrap_or(0)).iter().take(ROWS) {
        let row = PyDict::new(py);
        row.set_item("bytes", buffer.bytes)?;
        row.set_item("used_as", buffer.used_as.name())?;
        row.set_item("shape", &buffer.shape)?;
        row.set_item("instruction", &buffer.place.instruction)?;
        row.set_item("opcode", &buffer.place.opcode)?;
        row.set_item("op_name", &buffer.place.op_name)?;
        row.set_item("source", buffer.place.source.as_ref().map(|source| format!("{}:{}", source.file, source.line)))?;
        arrays.append(row)?;
    }
    let padded = PyList::empty(py);
    for buffer in table.rows().iter().filter(|buffer| buffer.wasted_bytes() > 0) {
        let row = PyDict::new(py);
        row.set_item("padding", buffer.wasted_bytes())?;
        row.set_item("bytes", buffer.padded_bytes)?;
        row.set_item("logical_bytes", buffer.logical_bytes)?;
        row.set_item("shape", buffer.shape.to_string())?;
        row.set_item("instruction", &buffer.instruction)?;
        row.set_item("op_name", buffer.op_name.as_deref())?;
        padded.append(row)?;
    }
    let padding = table.totals().map(|(_, total)| total.padded_bytes.saturating_sub(total.logical_bytes));
    Ok(Program {
        peak_bytes: total.peak_bytes,
        argument_bytes: total.argument_bytes,
        output_bytes: total.output_bytes,
        alias_bytes: total.alias_bytes,
        temp_bytes: total.temp_bytes,
        constant_bytes: total.constant_bytes,
        padding_bytes: padding.fold(0, u128::saturating_add),
        is_scheduled: live.is_scheduled(),
        unreadable_lines: module.unreadable(),
        arrays: arrays.unbind(),
        padded: padded.unbind(),
        svg: live.to_svg(0),
    })
}

//! The commands of the command line as functions: `validate`, `names`, `convert_model`, and `main` for the
//! program itself.
//!
//! The commands run in this process and print into memory, in the form of `--json`: one object a line. The
//! pages of the command line describe the keys of the objects.

use std::ffi::OsString;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::refusal;
use crate::layout::Layout;

/// The result of a command.
struct Answer<'py> {
    status: u8,
    objects: Vec<Bound<'py, PyAny>>,
    /// The text that the command printed for people.
    sentence: String,
}

/// Runs a command of the program with `--json`, with the interpreter released.
fn command<'py>(py: Python<'py>, words: Vec<OsString>) -> PyResult<Answer<'py>> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["relayout", "--json"].map(OsString::from).into_iter().chain(words);
    let words: Vec<OsString> = words.collect();
    let status = py.detach(|| tensor_layout_cli::run(words, &mut out, &mut err));
    let loads = py.import("json")?.getattr("loads")?;
    let lines = String::from_utf8_lossy(&out);
    let objects = lines.lines().map(|line| loads.call1((line,))).collect::<PyResult<_>>()?;
    let sentence = String::from_utf8_lossy(&err);
    // clap appends a hint for the shell, which is removed.
    let sentence = sentence.split("\n\nFor more information").next().unwrap_or_default();
    let sentence = sentence.trim().trim_start_matches("error: ").to_owned();
    Ok(Answer { status, objects, sentence })
}

/// Checks whether a device accepts this tensor, at byte `offset` of a buffer of `buffer` bytes.
///
/// `limits` is "directml", "directml:5.0", "d3d12", "webgpu", "vulkan", "metal-tensor", "vulkan-tensor",
/// "cuda-tensor-map", "webnn" or "none". `role` is "input", or "output" for a buffer that is written. Without
/// `buffer`, the answer has the smallest sufficient size ("needed_buffer_bytes"). The answer is the object of
/// `check --json`: "ok", "errors" (each with "code" and "message"), "bound", "suggestion" and more.
///
/// >>> answer = validate("f32[4,100]:[100,1]", limits="webgpu", buffer=1024)
/// >>> answer["ok"], [error["code"] for error in answer["errors"]]
/// (False, ['binding_outside_buffer'])
#[pyfunction]
#[pyo3(signature = (layout, limits="webgpu", *, buffer=None, offset=0, role="input"))]
pub(crate) fn validate<'py>(
    layout: &Bound<'py, PyAny>,
    limits: &str,
    buffer: Option<u64>,
    offset: u64,
    role: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let text = Layout::of(layout)?.text()?;
    let mut words = vec!["check".to_owned(), text, format!("--limits={limits}"), format!("--role={role}")];
    words.push(format!("--offset={offset}"));
    words.extend(buffer.map(|bytes| format!("--buffer={bytes}")));
    let answer = command(layout.py(), words.into_iter().map(OsString::from).collect())?;
    match answer.objects.into_iter().next() {
        Some(object) if answer.status < 2 => Ok(object),
        _ => Err(refusal("unknown_limits", &answer.sentence)),
    }
}

/// Returns the layouts of devices and libraries whose names contain `word`: a list of dicts with "name",
/// "about", "axes", "types", "memory", "source" and more. `Layout(name, sizes=.., dtype=..)` makes one.
///
/// >>> [row["name"] for row in names("kCHW32")]
/// ['tensorrt.kCHW32']
#[pyfunction]
#[pyo3(signature = (word=""))]
pub(crate) fn names<'py>(py: Python<'py>, word: &str) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, command(py, vec!["names".into(), word.into()])?.objects)
}

/// Converts a safetensors model, or some parts of a sharded one, to the layouts that `rule` chooses. Returns
/// the summary: the last object of `model --json`, with "written" (the new file or index; None while parts
/// are missing).
///
/// `path` is a file, or the index of a sharded model. `rule` is "tpu:v5e", "nhwc", "packed", tiles, a oneDNN
/// tag or a device layout's name. `rules` has exceptions by patterns of tensor names. With `part=(i, n)`, the
/// i-th of n jobs (from 1) converts every n-th part. The job that finds all parts writes the index, so jobs
/// need not know each other, and a job that was killed can be run again. Every tensor is read back and
/// compared before a file gets its name.
#[pyfunction]
#[pyo3(signature = (path, rule, out, part=None, *, rules=None, limits="none", jobs=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub(crate) fn convert_model<'py>(
    py: Python<'py>,
    path: std::path::PathBuf,
    rule: &str,
    out: std::path::PathBuf,
    part: Option<(u64, u64)>,
    rules: Option<&Bound<'py, PyDict>>,
    limits: &str,
    jobs: Option<u16>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut words: Vec<OsString> = vec!["model".into(), path.into(), "--out".into(), out.into()];
    let mut options = vec![format!("--to={rule}"), format!("--limits={limits}")];
    options.extend(part.map(|(number, of)| format!("--part={number}/{of}")));
    options.extend(jobs.map(|jobs| format!("--jobs={jobs}")));
    for (pattern, rule) in rules.into_iter().flatten() {
        options.push(format!("--to-for={pattern}={rule}"));
    }
    words.extend(options.into_iter().map(OsString::from));
    let answer = command(py, words)?;
    match (answer.status, answer.objects.into_iter().next_back()) {
        (0, Some(summary)) => Ok(summary),
        (2, _) => Err(PyOSError::new_err(answer.sentence)),
        (_, Some(object)) if object.contains("error").unwrap_or(false) => {
            let error = object.get_item("error")?;
            let code: String = error.get_item("code")?.extract()?;
            Err(refusal(&code, &error.get_item("message")?.extract::<String>()?))
        }
        _ => Err(refusal("not_converted", &answer.sentence)),
    }
}

/// Runs the command line `tensor-layout`, which the wheel installs, and returns its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>) -> PyResult<u8> {
    let words: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    Ok(py.detach(|| tensor_layout_cli::run(words, &mut std::io::stdout().lock(), &mut std::io::stderr())))
}

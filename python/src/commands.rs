//! The commands of the command line as functions: `validate`, `names`, `convert_model`, and `main` for the
//! program itself.
//!
//! `validate` gives the object of `check --json`. The other commands run in this process and print into
//! memory, in the form of `--json`: one object a line. docs/JSON.md describes the keys of the objects.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};
use serde_json::Value;
use tensor_layout::upload::DeviceLimits;

use crate::error::{refusal, refused};
use crate::layout::Layout;
use crate::numbers::Number;
use crate::tensor_box::box_of;

const MOST_LIMITS: usize = 64;

/// What a command printed: its objects, and its text for people.
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
/// `limits` is a name, as `tensor-layout check --limits list` prints them: "webgpu", "directml:5.0". `role`
/// is "input", or "output" for a buffer that is written. Without `buffer`, the answer has the smallest
/// sufficient size ("needed_buffer_bytes"). The answer is the object of `check --json`: "ok", "errors" (each
/// with "code" and "message"), "bound", "suggestion" and more.
///
/// `box` is what a CUDA tensor map copies at once: its sizes, one for each axis, outermost first, or a dict
/// with "sizes", "element_strides", "interleave" (16 or 32) and "im2col", a dict with "lower", "upper",
/// "channels" and "pixels". The answer then has the box in shared memory ("box").
///
/// >>> answer = validate("f32[4,100]:[100,1]", limits="webgpu", buffer=1024)
/// >>> answer["ok"], [error["code"] for error in answer["errors"]]
/// (False, ['binding_outside_buffer'])
/// >>> answer = validate("f16[512,64]:[64,1]", "cuda-tensor-map:128", box=(64, 64))
/// >>> answer["box"]["layout"], answer["box"]["alignment"]
/// ('f16[64,64]:[64,1] xor<bytes 4-6 ^= 7-9>', 1024)
#[pyfunction]
#[pyo3(
    signature = (layout, limits="webgpu", *, buffer=None, offset=Number(0), role="input", r#box=None),
    text_signature = "(layout, limits=\"webgpu\", *, buffer=None, offset=0, role=\"input\", box=None)"
)]
pub(crate) fn validate<'py>(
    layout: &Bound<'py, PyAny>,
    limits: &str,
    buffer: Option<Number>,
    offset: Number,
    role: &str,
    r#box: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, layout) = (layout.py(), Layout::of(layout)?);
    let whole = &layout.get().whole;
    let ([plane], false) = (whole.planes(), whole.is_tuple()) else {
        let planes = whole.planes().len();
        let sentence =
            format!("the layout has {planes} planes, each in a place of its own: check each of layout.planes");
        return Err(refusal("not_expressible", &sentence));
    };
    let is_output = match role {
        "input" => false,
        "output" => true,
        _ => return Err(refusal("parse", &format!("role is `{role}`, but must be `input` or `output`"))),
    };
    let limits = limits_of(limits)?;
    let place = (buffer.map(|bytes| bytes.0), offset.0);
    let tensor_box = r#box.map(|given| box_of(&given, &limits)).transpose()?;
    let answer = tensor_layout_cli::check_object(plane, &limits, place, is_output, tensor_box.as_ref());
    to_python(py, &answer.map_err(refused)?)
}

/// Returns the limits with a name. Limits are kept for later calls, except those of a file, which may change.
fn limits_of(name: &str) -> PyResult<Arc<DeviceLimits>> {
    static KEPT: Mutex<BTreeMap<String, Arc<DeviceLimits>>> = Mutex::new(BTreeMap::new());
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = kept().get(name) {
        return Ok(Arc::clone(found));
    }
    let limits = tensor_layout_cli::limits_by_name(name).map_err(|sentence| refusal("unknown_limits", &sentence))?;
    let (limits, mut kept) = (Arc::new(limits), kept());
    if kept.len() >= MOST_LIMITS {
        kept.clear();
    }
    if !name.ends_with(".json") {
        kept.insert(name.to_owned(), Arc::clone(&limits));
    }
    Ok(limits)
}

/// Converts a value of JSON to an object of Python.
fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is_so) => PyBool::new(py, *is_so).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Object(fields) => {
            let object = PyDict::new(py);
            for (name, value) in fields {
                object.set_item(name, to_python(py, value)?)?;
            }
            object.into_any()
        }
    })
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
/// tag or a device layout's name. `rules` has exceptions by patterns of tensor names, and `words` says what
/// the words of tensors hold (`{"*.qweight": "gptq.qweight_u4"}`). With `part=(i, n)`, the
/// i-th of n jobs (from 1) converts every n-th part. The job that finds all parts writes the index, so jobs
/// need not know each other, and a job that was killed can be run again. Every tensor is read back and
/// compared before a file gets its name.
///
/// `recipe` is a file whose lines say which tensors the new model has: crates/files/README.md. Then `rule` is
/// for the outputs whose lines end without one, and `rank=(r, n)`, from 0 on, is the rank whose shares are
/// taken. With `align`, every tensor begins at a multiple of 64, 256, 4096 or 16384 bytes.
///
/// `out` is another file than `path`. With `limits`, a tensor that they refuse is a failure: the model is
/// written, and a `LayoutError` says which tensor.
#[pyfunction]
#[pyo3(signature = (path, rule, out, part=None, *, rules=None, words=None, limits="none", jobs=None, recipe=None, rank=None, align=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub(crate) fn convert_model<'py>(
    py: Python<'py>,
    path: PathBuf,
    rule: &str,
    out: PathBuf,
    part: Option<(Number, Number)>,
    rules: Option<&Bound<'py, PyDict>>,
    words: Option<&Bound<'py, PyDict>>,
    limits: &str,
    jobs: Option<Number>,
    recipe: Option<PathBuf>,
    rank: Option<(Number, Number)>,
    align: Option<Number>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = std::fs::canonicalize(&path).map_err(|error| {
        let sentence = format!("{} cannot be read: {error}", path.display());
        std::io::Error::new(error.kind(), sentence)
    })?;
    if std::fs::canonicalize(&out).is_ok_and(|out| out == source) {
        let sentence = format!("out is the model itself, {}: give the new model another name", path.display());
        return Err(refusal("same_file", &sentence));
    }
    let held = words;
    let mut words: Vec<OsString> = vec!["model".into(), no_option(path).into(), "--out".into(), no_option(out).into()];
    let mut options = vec![format!("--to={rule}"), format!("--limits={limits}")];
    options.extend(part.map(|(number, of)| format!("--part={}/{}", number.0, of.0)));
    options.extend(jobs.map(|jobs| format!("--jobs={}", jobs.0)));
    options.extend(rank.map(|(rank, of)| format!("--rank={}/{}", rank.0, of.0)));
    options.extend(align.map(|bytes| format!("--align={}", bytes.0)));
    words.extend(recipe.into_iter().flat_map(|recipe| ["--recipe".into(), no_option(recipe).into()]));
    for (pattern, rule) in rules.into_iter().flatten() {
        options.push(format!("--to-for={pattern}={rule}"));
    }
    for (pattern, content) in held.into_iter().flatten() {
        options.push(format!("--from-for={pattern}={content}"));
    }
    words.extend(options.into_iter().map(OsString::from));
    let answer = command(py, words)?;
    if answer.status == 0
        && let Some(summary) = answer.objects.last()
    {
        return Ok(summary.clone());
    }
    for object in &answer.objects {
        failure(object, limits)?;
    }
    let sentence = in_words_of_python(&answer.sentence);
    // A sentence that the operating system has for an error ends with the number of the error.
    if sentence.contains("(os error ") {
        return Err(PyOSError::new_err(sentence));
    }
    Err(refusal("not_converted", if sentence.is_empty() { "the model was not converted" } else { &sentence }))
}

/// Returns the path in a form that the command line does not take for an option: `./-x` for `-x`.
fn no_option(path: PathBuf) -> PathBuf {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") { Path::new(".").join(path) } else { path }
}

/// Returns the error that an object of `model --json` reports, if there is one: an error of the whole model,
/// of a tensor, or of the limits.
fn failure(object: &Bound<'_, PyAny>, limits: &str) -> PyResult<()> {
    let get = |key: &str| object.get_item(key).ok().filter(|value| !value.is_none());
    let name = get("name").map(|name| format!("tensor `{name}`: ")).unwrap_or_default();
    if let Some(error) = get("error") {
        let (code, message): (Option<String>, String) =
            (error.get_item("code")?.extract()?, error.get_item("message")?.extract()?);
        // A recipe's error names its output itself, and may have no code of the library.
        let name = if error.contains("line")? { "the recipe, " } else { name.as_str() };
        return Err(refusal(code.as_deref().unwrap_or("not_converted"), &format!("{name}{message}")));
    }
    let codes: Vec<String> = get("limit_errors").map(|codes| codes.extract()).transpose()?.unwrap_or_default();
    let Some(code) = codes.first() else { return Ok(()) };
    let sizes = get("sizes").map(|sizes| format!(" of sizes {sizes}")).unwrap_or_default();
    let sentence =
        format!("{name}the limits `{limits}` refuse the tensor{sizes} ({}); the model was written", codes.join(", "));
    Err(refusal(code, &sentence))
}

/// Replaces the options of the command line by the arguments of the function.
fn in_words_of_python(sentence: &str) -> String {
    let options = [
        ("'--to-for <PATTERN=RULE>'", "rules"),
        ("'--to <RULE>'", "rule"),
        ("'--part <NUMBER/OF>'", "part"),
        ("'--jobs <NUMBER>'", "jobs"),
        ("'--align <BYTES>'", "align"),
        ("'--recipe <FILE>'", "recipe"),
        ("'--limits <NAME>'", "limits"),
        ("'--from-for <PATTERN=CONTENT>'", "words"),
        ("--to-for", "rules"),
        ("--from-for", "words"),
        ("--part", "part"),
        ("--jobs", "jobs"),
        ("--recipe", "recipe"),
        ("--rank", "rank"),
        ("--align", "align"),
        ("--out", "out"),
        ("--to", "rule"),
    ];
    options.iter().fold(sentence.to_owned(), |sentence, (option, argument)| sentence.replace(option, argument))
}

/// Runs the command line `tensor-layout`, which the wheel installs, and returns its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>) -> PyResult<u8> {
    let words: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    Ok(py.detach(|| tensor_layout_cli::run(words, &mut std::io::stdout().lock(), &mut std::io::stderr())))
}

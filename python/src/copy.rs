//! `copy` and `ascontiguous`: copies elements from one layout to another, without a further copy of either
//! array.
//!
//! Both arrays are memory that Python objects lend ([`Elements`]). The layout of the source is its own sizes
//! and strides, or the layout that the caller passes. The destination is `out`, or a new array of the
//! source's library: NumPy, PyTorch or JAX. Copies of a few KiB run without a plan. A larger copy has a plan,
//! which is cached, and runs with the interpreter released.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use smallvec::SmallVec;
use tensor_layout::relayout::{Effort, Padding, Relayout, Settings, Strided, copy_strided};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_text::Notated;

use crate::error::{refusal, refused};
use crate::layout::Layout;
use crate::memory::Elements;
use crate::new_array::{Kind, contiguous_like, new_array};

/// The size from which the interpreter is released, in bytes. A smaller copy ends before another thread could
/// take the interpreter.
const RELEASE_FROM: usize = 32 << 10;

/// The size from which plans are used, in bytes. A smaller copy takes less time than the search for its plan.
const PLAN_FROM: usize = 16 << 10;

/// The most plans in the cache. A plan for the tensors of a large model takes some KiB.
const MOST_PLANS: usize = 1024;

/// The key of a cached plan: source, destination, reversed axes, and whether padding is set to zero.
type Pair = (Notated, Notated, Vec<usize>, bool);

/// How a plan is chosen: whether it is measured, and the choice of an earlier plan.
type How = (bool, Option<String>);

/// The most bytes of memory in which plans are timed, unless the caller says otherwise.
const MOST_MEASURED: u64 = 4 << 30;

type Plans = HashMap<(Pair, How), Arc<Relayout>>;

static PLANS: LazyLock<Mutex<Plans>> = LazyLock::new(Mutex::default);

/// Returns the plan of a copy, from the cache or new. If the cache has too many plans, it is cleared.
fn plan(py: Python<'_>, pair: Pair, how: How) -> PyResult<Arc<Relayout>> {
    let plans = || PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (pair, how);
    if let Some(plan) = plans().get(&key) {
        return Ok(Arc::clone(plan));
    }
    let ((from, to, reversed, zero), (measures, choice)) = &key;
    let effort = if *measures { Effort::Measure { most_bytes: MOST_MEASURED } } else { Effort::Estimate };
    let settings = Settings { reversed: reversed.clone(), effort, choice: choice.clone(), ..Settings::default() };
    let new = || Relayout::with(from, to, &settings);
    let plan = if *measures { py.detach(new) } else { new() }.map_err(refused)?;
    if let Some(reason) = plan.estimate_reason() {
        py.import("warnings")?.call_method1("warn", (reason,))?;
    }
    let plan = if *zero { plan.with_padding(Padding::Zero).map_err(refused)? } else { plan };
    let plan = Arc::new(plan);
    let mut plans = plans();
    if plans.len() >= MOST_PLANS {
        plans.clear();
    }
    plans.insert(key, Arc::clone(&plan));
    Ok(plan)
}

/// Pools of threads by process and number of threads. The process is part of the key, because the child of a
/// `fork` has none of its parent's threads.
type Pools = HashMap<(u32, usize), &'static ThreadPool>;

static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

/// Runs a plan on this thread, or on the threads of a pool. The interpreter is released if the copy is large
/// enough.
fn run(py: Python<'_>, plan: &Relayout, from: &[u8], to: &mut [u8], threads: usize) -> PyResult<()> {
    if to.len() < RELEASE_FROM {
        return plan.run(from, to).map_err(refused);
    }
    if threads == 1 {
        return py.detach(|| plan.run(from, to)).map_err(refused);
    }
    let key = (std::process::id(), threads);
    let kept = POOLS.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    let pool = match kept {
        Some(pool) => pool,
        None => {
            let made = ThreadPoolBuilder::new().num_threads(threads).build();
            let made = made.map_err(|error| refusal("no_threads", &format!("no threads could be started: {error}")))?;
            // A pool is never dropped, because dropping it in a child process would wait for threads that the
            // child does not have.
            let made: &'static ThreadPool = Box::leak(Box::new(made));
            POOLS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, made);
            made
        }
    };
    py.detach(|| pool.install(|| plan.run_parallel(from, to))).map_err(refused)
}

/// Returns the layout of an array, and the axes with negative strides.
pub(crate) fn described(elements: &Elements) -> PyResult<(Notated, Vec<usize>)> {
    let data_type = elements.data_type.ok_or_else(|| {
        refusal("unknown_data_type", "the elements are of a type that no layout has a name for: view them as integers")
    })?;
    if elements.packed_bits.is_some() {
        let signed = BufferTensorDesc::from_signed(data_type, &elements.sizes, &elements.strides).map_err(refused)?;
        return Ok((signed.desc.into(), signed.reversed));
    }
    let (mut sizes, lanes) = (elements.sizes.clone(), isize::try_from(elements.lanes).unwrap_or(isize::MAX));
    let item = isize::try_from(elements.item).unwrap_or(isize::MAX);
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    for (axis, (&size, &stride)) in elements.sizes.iter().zip(&elements.strides).enumerate() {
        if size > 1 && stride.checked_rem(item) != Some(0) {
            let reason = format!("axis {axis} has a stride of {stride} bytes, which is not a multiple of {item}");
            return Err(refusal("not_expressible", &reason));
        }
        strides.push(stride.checked_div(item).unwrap_or(0).saturating_mul(lanes));
    }
    if lanes > 1 {
        sizes.push(elements.lanes);
        strides.push(1);
    }
    let signed = BufferTensorDesc::from_signed(data_type, &sizes, &strides).map_err(refused)?;
    let is_packed = u64::from(data_type.bits()).checked_mul(u64::try_from(elements.lanes).unwrap_or(0))
        == u64::try_from(elements.item).ok().and_then(|item| item.checked_mul(8));
    if data_type.bits() >= 8 || is_packed {
        return Ok((signed.desc.into(), signed.reversed));
    }
    // Elements of fewer than 8 bits take a byte each, which NumPy's notation expresses.
    let list = |numbers: &[u64]| numbers.iter().map(|number| format!("{number},")).collect::<String>();
    let (sizes, strides) = (list(signed.desc.sizes()), list(signed.desc.strides()));
    let name = data_type.name_in(tensor_layout::element::Naming::Numpy).unwrap_or_default();
    let text = format!("ndarray(shape=({sizes}), dtype={name}, strides=({strides}))");
    Ok((text.parse().map_err(refused)?, signed.reversed))
}

/// Copies an array to another layout.
///
/// `to` is a `Layout` or its text. `out` is memory for it (any writable array or buffer, contiguous). Without
/// `to`, the elements are written to `out` with its own strides. Without `to` and `out`, the result is packed
/// row-major. Without `out`, a new array of the source's library (NumPy, PyTorch or JAX) is returned. It has
/// the tensor's sizes if strides describe the layout, otherwise it is one row of all physical elements,
/// padding included. Padding of a new array is zero. Padding in `out` is not changed.
///
/// `layout` is the layout of the bytes of `array`, if its own sizes and strides do not describe it, as for
/// tiles that are copied back. Arrays on the CPU are read and written in place.
///
/// `effort="measure"` times several plans in memory of up to 4 GiB when the pair of layouts is new, and keeps
/// the fastest. `choice` is an earlier answer of `measure`, with which nothing is timed. A choice that cannot
/// be used is ignored with a warning.
///
/// >>> import numpy
/// >>> a = numpy.arange(15, dtype=numpy.uint8).reshape(3, 5)
/// >>> tiles = copy(a, "u8[3,5]{1,0:T(2,2)}")
/// >>> tiles
/// array([ 0,  1,  5,  6,  2,  3,  7,  8,  4,  0,  9,  0, 10, 11,  0,  0, 12,
///        13,  0,  0, 14,  0,  0,  0], dtype=uint8)
/// >>> bool((copy(tiles, "u8[3,5]{1,0}", layout="u8[3,5]{1,0:T(2,2)}") == a).all())
/// True
#[pyfunction]
#[pyo3(signature = (array, to=None, out=None, threads=1, *, layout=None, effort="estimate", choice=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub(crate) fn copy<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: usize,
    layout: Option<&Bound<'py, PyAny>>,
    effort: &str,
    choice: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    check_threads(threads)?;
    let how = match effort {
        "estimate" => (false, choice),
        "measure" => (true, choice),
        _ => return Err(refusal("parse", &format!("effort is `{effort}`, but must be `estimate` or `measure`"))),
    };
    let source = Elements::of(array, false)?;
    let (from, mut reversed) = match layout {
        Some(layout) => {
            require_packed(&source, "the array", "layout")?;
            (Layout::of(layout)?.notated, Vec::new())
        }
        None => described(&source)?,
    };
    let Some(out) = out else {
        let to = match to {
            Some(to) => Layout::of(to)?,
            None => {
                let map = Layout::new(from.clone())?.map;
                let (data_type, sizes) = (map.data_type(), map.sizes());
                // XLA's layouts have a byte for each element of fewer than 8 bits, like ml_dtypes.
                let packed = match data_type.bits() < 8 {
                    true => ArrayShape::row_major(data_type, sizes).map(Notated::from),
                    false => BufferTensorDesc::packed(data_type, sizes).map(Notated::from),
                };
                Layout::new(packed.map_err(refused)?)?
            }
        };
        let plan = plan(py, (from, to.notated.clone(), reversed, true), how)?;
        let new = new_array(py, &to, plan.destination_size_in_bytes())?;
        let mut memory = Elements::by_buffer(&new.bytes, true)?;
        run(py, &plan, source.bytes(), memory.bytes_mut(&source)?, threads)?;
        drop(memory);
        return new.finish(Kind::of(array)?);
    };
    if Kind::of(out)? == Kind::Jax {
        return Err(refusal("read_only", "arrays of JAX are immutable, so `out` cannot be one"));
    }
    let mut memory = Elements::of(out, true)?;
    let (to, backwards) = match to {
        Some(to) => {
            require_packed(&memory, "`out`", "to")?;
            (Layout::of(to)?.notated, Vec::new())
        }
        None => described(&memory)?,
    };
    // If both sides have a negative stride for an axis, the axis is copied forwards.
    let both: Vec<usize> = reversed.iter().copied().filter(|axis| backwards.contains(axis)).collect();
    reversed.extend(backwards);
    reversed.retain(|axis| !both.contains(axis));
    reversed.sort_unstable();
    let plan = plan(py, (from, to, reversed, false), how)?;
    run(py, &plan, source.bytes(), memory.bytes_mut(&source)?, threads)?;
    Ok(out.clone())
}

/// Times several plans of a copy from one layout to another, in memory of at most `most_bytes` bytes, and
/// returns the choice of the fastest: a short text for the `choice` of `copy`, to be kept beside a model. It
/// takes up to a second.
///
/// >>> choice = measure("f32[64,96]{1,0}", "f32[64,96]{0,1}")
/// >>> choice.startswith("v1")
/// True
#[pyfunction]
#[pyo3(
    signature = (layout, to, *, most_bytes=MOST_MEASURED),
    text_signature = "(layout, to, *, most_bytes=4294967296)"
)]
pub(crate) fn measure(layout: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>, most_bytes: u64) -> PyResult<String> {
    let (from, to) = (Layout::of(layout)?.notated, Layout::of(to)?.notated);
    let settings = Settings { effort: Effort::Measure { most_bytes }, ..Settings::default() };
    let plan = layout.py().detach(|| Relayout::with(&from, &to, &settings)).map_err(refused)?;
    match plan.estimate_reason() {
        Some(reason) => Err(refusal("out_of_limits", &reason)),
        None => Ok(plan.choice()),
    }
}

/// Returns NumPy's array of a foreign array as one of the type that the foreign array has.
fn with_type_of<'py>(
    foreign: &Bound<'py, PyAny>,
    array: Bound<'py, PyAny>,
    wanted: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !wanted || array.is(foreign) || !foreign.hasattr(intern!(foreign.py(), "__dlpack__"))? {
        return Ok(array);
    }
    let (Ok(own), Ok(made)) = (Elements::by_dlpack(foreign, false), Elements::of(&array, false)) else {
        return Ok(array);
    };
    match own.data_type.filter(|_| own.data_type != made.data_type && own.item == made.item && own.lanes == 1) {
        Some(data_type) => match crate::new_array::dtype_of(foreign.py(), data_type)? {
            Some(dtype) => array.call_method1(intern!(foreign.py(), "view"), (dtype,)),
            None => Ok(array),
        },
        None => Ok(array),
    }
}

fn check_threads(threads: usize) -> PyResult<()> {
    if (1..=1024).contains(&threads) {
        return Ok(());
    }
    Err(refusal("out_of_limits", &format!("threads is {threads}, but must be between 1 and 1024")))
}

fn require_packed(elements: &Elements, what: &str, argument: &str) -> PyResult<()> {
    if elements.is_packed() {
        return Ok(());
    }
    let reason = format!("{what} is strided, but `{argument}` needs its bytes without gaps");
    Err(refusal("not_expressible", &reason))
}

/// A replacement for `numpy.ascontiguousarray`: returns the array itself if it is packed row-major, otherwise
/// a packed copy. For a PyTorch tensor it replaces `contiguous()`.
///
/// >>> import numpy
/// >>> a = numpy.arange(6).reshape(2, 3)
/// >>> ascontiguous(a) is a
/// True
/// >>> ascontiguous(a.T).strides == (16, 8)
/// True
#[pyfunction]
#[pyo3(signature = (a, dtype=None, *, threads=1))]
pub(crate) fn ascontiguous<'py>(
    a: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    check_threads(threads)?;
    let numpy = crate::new_array::numpy(py)?;
    let kind = Kind::of(a)?;
    let (array, source) = if kind == Kind::Torch {
        if let Some(dtype) = dtype {
            let converted = a.call_method1(intern!(py, "to"), (dtype,))?;
            return ascontiguous(&converted, None, threads);
        }
        let source = Elements::of(a, false)?;
        // A tensor with its conjugate or negative bit set is packed only once it is resolved.
        let is_itself = !a.call_method0(intern!(py, "is_neg"))?.is_truthy()?
            && !a.call_method0(intern!(py, "is_conj"))?.is_truthy()?;
        (
            if is_itself {
                a.clone()
            } else {
                a.call_method0(intern!(py, "resolve_conj"))?.call_method0(intern!(py, "resolve_neg"))?
            },
            source,
        )
    } else {
        let is_array = a.get_type().is(numpy.ndarray.bind(py)) && dtype.is_none();
        let array = match is_array {
            true => a.clone(),
            false => {
                let arguments = PyDict::new(py);
                arguments.set_item("dtype", dtype)?;
                numpy.module.bind(py).call_method(intern!(py, "asarray"), (a,), Some(&arguments))?
            }
        };
        // Paddle gives NumPy a bfloat16 as a number of 16 bits.
        let array = with_type_of(a, array, dtype.is_none())?;
        match Elements::of(&array, false) {
            Ok(source) if !source.sizes.is_empty() => (array, source),
            // NumPy handles objects, and numbers without an axis, to which it adds one.
            _ => return numpy.module.bind(py).call_method1(intern!(py, "ascontiguousarray"), (array,)),
        }
    };
    if source.is_packed() {
        return Ok(array);
    }
    if source.packed_bits.is_some() {
        return Err(refusal(
            "unsupported_element_bits",
            "the elements are packed to bits: copy(a, to) says where they go",
        ));
    }
    let (result, mut memory) = contiguous_like(&array, kind, &source)?;
    let (from, to) = (source.bytes(), memory.bytes_mut(&source)?);
    let (unit, sizes, strides) = units(&source);
    let to_strides = packed_units(&sizes);
    let bytes = unit.bits().div_ceil(8).try_into().unwrap_or(1_usize);
    let start = source.first_byte().checked_div(bytes).unwrap_or(0);
    let sides = (Strided { strides: &strides, offset: start }, Strided { strides: &to_strides, offset: 0 });
    if to.len() < PLAN_FROM {
        copy_strided(unit, &sizes, sides.0, sides.1, from, to).map_err(refused)?;
    } else {
        let signed = BufferTensorDesc::from_signed(unit, &sizes, &strides).map_err(refused)?;
        let packed = BufferTensorDesc::from_signed(unit, &sizes, &to_strides).map_err(refused)?;
        let plan = plan(py, (signed.desc.into(), packed.desc.into(), signed.reversed, false), How::default())?;
        run(py, &plan, from, to, threads)?;
    }
    Ok(result)
}

type Units = (DataType, SmallVec<[usize; 8]>, SmallVec<[isize; 8]>);

/// Returns the units that are copied: elements, or single bytes if strides or widths are not multiples of an
/// element.
fn units(elements: &Elements) -> Units {
    let item = isize::try_from(elements.item).unwrap_or(isize::MAX);
    let mut axes = elements.sizes.iter().zip(&elements.strides);
    let is_whole = axes.all(|(&size, stride)| size <= 1 || stride.checked_rem(item) == Some(0));
    let (mut sizes, mut strides) = (elements.sizes.clone(), elements.strides.clone());
    let unit = match elements.item {
        1 => DataType::U8,
        2 => DataType::U16,
        4 => DataType::U32,
        8 => DataType::U64,
        16 => DataType::C128,
        _ => DataType::U8,
    };
    let is_unit = usize::try_from(unit.bits().div_euclid(8)) == Ok(elements.item);
    if is_whole && is_unit {
        strides.iter_mut().for_each(|stride| *stride = stride.checked_div(item).unwrap_or(0));
        return (unit, sizes, strides);
    }
    sizes.push(elements.item);
    strides.push(1);
    (DataType::U8, sizes, strides)
}

/// Returns the strides of packed units, in units.
fn packed_units(sizes: &[usize]) -> SmallVec<[isize; 8]> {
    crate::memory::packed_strides(sizes, 1)
}

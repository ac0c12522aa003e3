//! `copy` and `ascontiguous`: elements from one layout to another, without a copy on the way in or out.
//!
//! Both sides are memory that Python objects lend ([`Elements`]). The source is described by its own sizes
//! and strides, or by the layout that the caller names; the destination is `out`, or a new array of NumPy,
//! PyTorch or JAX, whichever the source is of. Copies of a few KiB run as they are; a larger one has a plan,
//! which is kept, and is run with the interpreter released.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use smallvec::SmallVec;
use tensor_layout::notation::Notated;
use tensor_layout::relayout::{Padding, Relayout, Strided, copy_strided};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

use crate::error::{refusal, refused};
use crate::layout::Layout;
use crate::memory::Elements;
use crate::new_array::{Kind, contiguous_like, new_array};

/// A copy of fewer bytes is over before another thread could take the interpreter.
const RELEASE_FROM: usize = 32 << 10;

/// A copy of fewer bytes costs less than looking for its plan.
const PLAN_FROM: usize = 16 << 10;

/// How many plans are kept. A plan of a large model's tensors is some KiB.
const MOST_PLANS: usize = 1024;

/// What a kept plan copies: from, to, axes walked backwards, and whether padding is set to zero.
type Pair = (Notated, Notated, Vec<usize>, bool);

static PLANS: LazyLock<Mutex<HashMap<Pair, Arc<Relayout>>>> = LazyLock::new(Mutex::default);

/// The plan of a copy, kept or made. When there are too many, all go.
fn plan(pair: Pair) -> PyResult<Arc<Relayout>> {
    let plans = || PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = plans().get(&pair) {
        return Ok(Arc::clone(plan));
    }
    let (from, to, reversed, zero) = &pair;
    let plan = Relayout::reversing(from, to, reversed).map_err(refused)?;
    let plan = if *zero { plan.with_padding(Padding::Zero).map_err(refused)? } else { plan };
    let plan = Arc::new(plan);
    let mut plans = plans();
    if plans.len() >= MOST_PLANS {
        plans.clear();
    }
    plans.insert(pair, Arc::clone(&plan));
    Ok(plan)
}

/// Pools of threads by their size, each of the process that made it: the child of a `fork` has none of its
/// parent's threads.
type Pools = HashMap<(u32, usize), &'static ThreadPool>;

static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

/// Runs a plan on this thread, or on the threads of a pool, with the interpreter released if it is worth it.
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
            // A pool lives as long as its process: to drop one would wait for threads that a child does not
            // have.
            let made: &'static ThreadPool = Box::leak(Box::new(made));
            POOLS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, made);
            made
        }
    };
    py.detach(|| pool.install(|| plan.run_parallel(from, to))).map_err(refused)
}

/// The layout of an array, and the axes that it walks backwards.
pub(crate) fn described(elements: &Elements) -> PyResult<(Notated, Vec<usize>)> {
    let data_type = elements.data_type.ok_or_else(|| {
        refusal("unknown_data_type", "the elements are of a type that no layout has a name for: view them as integers")
    })?;
    let item = isize::try_from(elements.item).unwrap_or(isize::MAX);
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    for (axis, (&size, &stride)) in elements.sizes.iter().zip(&elements.strides).enumerate() {
        if size > 1 && stride.checked_rem(item) != Some(0) {
            let reason = format!("axis {axis} has a stride of {stride} bytes, which is not a multiple of {item}");
            return Err(refusal("not_expressible", &reason));
        }
        strides.push(stride.checked_div(item).unwrap_or(0));
    }
    let signed = BufferTensorDesc::from_signed(data_type, &elements.sizes, &strides).map_err(refused)?;
    if data_type.bits() >= 8 {
        return Ok((signed.desc.into(), signed.reversed));
    }
    // A byte for each element of fewer bits: NumPy's notation says so.
    let list = |numbers: &[u64]| numbers.iter().map(|number| format!("{number},")).collect::<String>();
    let (sizes, strides) = (list(signed.desc.sizes()), list(signed.desc.strides()));
    let name = data_type.name_in(tensor_layout::element::Naming::Numpy).unwrap_or_default();
    let text = format!("ndarray(shape=({sizes}), dtype={name}, strides=({strides}))");
    Ok((text.parse().map_err(refused)?, signed.reversed))
}

/// Copies an array into another layout.
///
/// `to` is a `Layout` or its text; `out` is memory for it (any writable array or buffer, contiguous). Without
/// `to`, the elements are written to `out` as it is strided; without either, they are packed row-major.
/// Without `out`, a new array is returned, of NumPy, PyTorch or JAX as the source is: with the tensor's sizes
/// where strides describe the layout, otherwise in one row of all places, padding included. Padding of a new
/// array is zero; in `out` it is left as it is.
///
/// `layout` says how the bytes of `array` are laid out, if that is not what its own sizes and strides say:
/// the way back from tiles. Arrays on the CPU are read and written where they are.
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
#[pyo3(signature = (array, to=None, out=None, threads=1, *, layout=None))]
pub(crate) fn copy<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: usize,
    layout: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    check_threads(threads)?;
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
                // XLA's layouts have a byte for an element of fewer bits, as ml_dtypes does.
                let packed = match data_type.bits() < 8 {
                    true => ArrayShape::row_major(data_type, sizes).map(Notated::from),
                    false => BufferTensorDesc::packed(data_type, sizes).map(Notated::from),
                };
                Layout::new(packed.map_err(refused)?)?
            }
        };
        let plan = plan((from, to.notated.clone(), reversed, true))?;
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
    // An axis that both sides walk backwards is walked forwards.
    let both: Vec<usize> = reversed.iter().copied().filter(|axis| backwards.contains(axis)).collect();
    reversed.extend(backwards);
    reversed.retain(|axis| !both.contains(axis));
    reversed.sort_unstable();
    let plan = plan((from, to, reversed, false))?;
    run(py, &plan, source.bytes(), memory.bytes_mut(&source)?, threads)?;
    Ok(out.clone())
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

/// A drop-in for `numpy.ascontiguousarray`: the array itself if it is packed row-major, otherwise a packed
/// copy. Of a PyTorch tensor, as its `contiguous()`.
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
        (a.clone(), Elements::by_dlpack(a)?)
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
        match Elements::of(&array, false) {
            Ok(source) if !source.sizes.is_empty() => (array, source),
            // Objects, and numbers without an axis, of which NumPy makes one.
            _ => return numpy.module.bind(py).call_method1(intern!(py, "ascontiguousarray"), (array,)),
        }
    };
    if source.is_packed() {
        return Ok(array);
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
        let plan = plan((signed.desc.into(), packed.desc.into(), signed.reversed, false))?;
        run(py, &plan, from, to, threads)?;
    }
    Ok(result)
}

type Units = (DataType, SmallVec<[usize; 8]>, SmallVec<[isize; 8]>);

/// What is moved together: elements, or their bytes where strides or widths are no multiple of an element.
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

/// The strides of packed units, in units.
fn packed_units(sizes: &[usize]) -> SmallVec<[isize; 8]> {
    crate::memory::packed_strides(sizes, 1)
}

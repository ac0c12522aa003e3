//! `copy` and `ascontiguous`: copies elements from one layout to another, without a further copy of either
//! array.
//!
//! Both arrays are memory that Python objects lend ([`Elements`]). The layout of the source is its own sizes
//! and strides, or the layout that the caller passes. The destination is `out`, or a new array of the
//! source's library: NumPy, PyTorch or JAX. Copies of a few KiB run without a plan. A larger copy has a plan,
//! which is cached, and runs with the interpreter released.

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use smallvec::SmallVec;
use tensor_layout::element::BlockType;
use tensor_layout::relayout::{Destination, Effort, Plans, Relayout, Settings};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{AnyLayout, ArrayShape, BufferTensorDesc, Error, ToIndexMap};
use tensor_layout_text::layout::{Copies, Layout as Whole, copies};

use crate::error::{refusal, refused};
use crate::layout::Layout;
use crate::memory::Elements;
use crate::new_array::{Kind, new_array};
use crate::numbers::{Count, Number};
use crate::small::Small;

/// The size from which the interpreter is released, in bytes. A smaller copy ends before another thread could
/// take the interpreter.
pub(crate) const RELEASE_FROM: usize = 32 << 10;

/// The size from which plans are used, in bytes. A smaller copy takes less time than the search for its plan.
pub(crate) const PLAN_FROM: usize = 16 << 10;

/// The most plans in the cache. A plan for the tensors of a large model takes some KiB.
const MOST_PLANS: usize = 1024;

/// A copy: source, destination and reversed axes.
type Pair = (AnyLayout, AnyLayout, Vec<usize>);

/// How a plan is chosen: whether it is measured, and the choice of an earlier plan.
pub(crate) type How = (bool, Option<String>);

/// The most bytes of memory in which plans are timed, unless the caller says otherwise.
const MOST_MEASURED: u64 = 4 << 30;

static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans::new(MOST_PLANS));

/// Returns the plan of a copy, from the cache or new.
pub(crate) fn plan(py: Python<'_>, (from, to, reversed): Pair, (measures, choice): How) -> PyResult<Arc<Relayout>> {
    let effort = if measures { Effort::Measure { most_bytes: MOST_MEASURED } } else { Effort::Estimate };
    let settings = Settings { reversed, effort, choice, ..Settings::default() };
    let find = || PLANS.get(&from, &to, &settings);
    let plan = if measures { py.detach(find) } else { find() }.map_err(refused)?;
    if let Some(reason) = plan.estimate_reason() {
        py.import("warnings")?.call_method1("warn", (reason,))?;
    }
    Ok(plan)
}

/// Pools of threads by process and number of threads. The process is part of the key, because the child of a
/// `fork` has none of its parent's threads.
type Pools = HashMap<(u32, usize), &'static ThreadPool>;

static POOLS: LazyLock<Mutex<Pools>> = LazyLock::new(Mutex::default);

/// Runs a plan on this thread, or on the threads of a pool. The interpreter is released if the copy is large
/// enough.
pub(crate) fn run(py: Python<'_>, plan: &Relayout, from: &[u8], to: &mut [u8], threads: usize) -> PyResult<()> {
    if to.len() < RELEASE_FROM {
        return plan.run(from, to).map_err(refused);
    }
    let pool = if threads == 1 { None } else { Some(pool_of(threads)?) };
    let copy = |to: Destination<'_>| match pool {
        None => plan.run(from, to),
        Some(pool) => pool.install(|| plan.run_parallel(from, to)),
    };
    let done = py.detach(|| {
        // Other threads may write the bytes between the elements of `to`, such as a fourth channel. A copy
        // into write-only memory does not touch these bytes. Elements that share a byte need memory that can
        // be read. SAFETY: `to` is borrowed exclusively and valid for writes until `copy` returns.
        let unread = unsafe { Destination::write_only(NonNull::from(&mut *to)) };
        match copy(unread) {
            Err(error) if error.code() == "destination_read" => copy(to.into()),
            done => done,
        }
    });
    done.map_err(refused)
}

/// Returns the pool of this process with so many threads.
fn pool_of(threads: usize) -> PyResult<&'static ThreadPool> {
    let key = (std::process::id(), threads);
    let kept = POOLS.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(pool) = kept {
        return Ok(pool);
    }
    let made = ThreadPoolBuilder::new().num_threads(threads).build();
    let made = made.map_err(|error| refusal("no_threads", &format!("no threads could be started: {error}")))?;
    // A pool is never dropped, because dropping it in a child process would wait for threads that the child
    // does not have.
    let made: &'static ThreadPool = Box::leak(Box::new(made));
    POOLS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, made);
    Ok(made)
}

#[allow(clippy::large_enum_variant, reason = "a side is made once a copy, and is not kept")]
pub(crate) enum Side<'a> {
    /// A layout in the library's types, the axes that run backwards, and the type of its blocks.
    One(AnyLayout, Vec<usize>, Option<BlockType>),
    /// A layout that lies in several parts.
    Parts(&'a Whole),
}

impl Side<'_> {
    pub(crate) fn of(layout: &Layout) -> PyResult<Side<'_>> {
        let values = layout.whole.values();
        if layout.whole.planes().len() != 1 || layout.whole.is_tuple() || values.parts().is_empty() {
            // The error says what the layout has instead of one map.
            layout.map()?;
        }
        Ok(match values.any() {
            Some(one) => {
                let block_type = values.blocks().map(BlockTensorDesc::block_type);
                Side::One(one.clone(), values.reversed().to_vec(), block_type)
            }
            None => Side::Parts(&layout.whole),
        })
    }
}

/// Returns the layout of an array as one side of a copy.
pub(crate) fn described(elements: &Elements) -> PyResult<(AnyLayout, Vec<usize>)> {
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
    let one = text.parse::<Whole>().and_then(|bytes| bytes.any().cloned());
    Ok((one.map_err(refused)?, signed.reversed))
}

/// How a copy is done.
pub(crate) enum Plan {
    /// One plan, which the cache keeps.
    One(Arc<Relayout>),
    /// The copies of a side that lies in several parts.
    Parts(Box<Copies>),
}

/// Returns how the elements of one side are copied to the other.
pub(crate) fn planned(py: Python<'_>, from: Side<'_>, to: Side<'_>, how: How) -> PyResult<Plan> {
    let copied = |from: &Whole, to: &Whole| {
        py.detach(|| copies(from, to, &Settings::default()))
            .map(|copies| Plan::Parts(Box::new(copies)))
            .map_err(refused)
    };
    match (from, to) {
        // A plan sees only the bytes of blocks. It would accept two block types of equal size.
        (Side::One(.., Some(expected)), Side::One(.., Some(found))) if expected != found => {
            Err(refused(Error::data_type_mismatch(expected.to_string(), found.to_string())))
        }
        (Side::One(from, mut reversed, _), Side::One(to, backwards, _)) => {
            turned_once(&mut reversed, backwards);
            plan(py, (from, to, reversed), how).map(Plan::One)
        }
        (Side::Parts(from), Side::Parts(to)) => copied(from, to),
        (Side::Parts(from), Side::One(to, reversed, _)) => copied(from, &Whole::turned(to, reversed)),
        (Side::One(from, reversed, _), Side::Parts(to)) => copied(&Whole::turned(from, reversed), to),
    }
}

impl Plan {
    /// Copies the elements, with the interpreter released where a copy is large enough.
    pub(crate) fn run(&self, py: Python<'_>, from: &[u8], to: &mut [u8], threads: usize) -> PyResult<()> {
        let copies = match self {
            Plan::One(plan) => return run(py, plan, from, to, threads),
            Plan::Parts(copies) => copies,
        };
        if copies.list().iter().any(|copy| copy.flip != 0) {
            return py.detach(|| copies.run(from, to)).map_err(refused);
        }
        // No byte is written to memory that is too short for a later copy.
        let needed = [copies.source_size_in_bytes(), copies.destination_size_in_bytes()];
        let found = [from.len(), to.len()].map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        for (what, needed, found) in [("source", needed[0], found[0]), ("destination", needed[1], found[1])] {
            if found < needed {
                return Err(refused(Error::buffer_too_short(what, needed, found)));
            }
        }
        for copy in copies.list() {
            let [start, begin] = copy.at.map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let (from, to) = (from.get(start..).unwrap_or_default(), to.get_mut(begin..).unwrap_or_default());
            run(py, &copy.plan, from, to, threads)?;
        }
        Ok(())
    }
}

/// Adds the axes that run backwards on the other side. If both sides run backwards along an axis, the axis is
/// copied forwards.
fn turned_once(reversed: &mut Vec<usize>, backwards: Vec<usize>) {
    let both: Vec<usize> = reversed.iter().copied().filter(|axis| backwards.contains(axis)).collect();
    reversed.extend(backwards);
    reversed.retain(|axis| !both.contains(axis));
    reversed.sort_unstable();
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
#[pyo3(
    signature = (array, to=None, out=None, threads=Count(1), *, layout=None, effort="estimate", choice=None),
    text_signature = "(array, to=None, out=None, threads=1, *, layout=None, effort=\"estimate\", choice=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub(crate) fn copy<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Count,
    layout: Option<&Bound<'py, PyAny>>,
    effort: &str,
    choice: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let threads = check_threads(threads)?;
    let how = match effort {
        "estimate" => (false, choice),
        "measure" => (true, choice),
        _ => return Err(refusal("parse", &format!("effort is `{effort}`, but must be `estimate` or `measure`"))),
    };
    let (layout, to) = (layout.map(Layout::of).transpose()?, to.map(Layout::of).transpose()?);
    if layout.is_none()
        && how == How::default()
        && let Some(small) = Small::of(array)
    {
        match (&to, out) {
            (None, None) => return small.packed(),
            (Some(to), None) => {
                if let Some(made) = small.copy_as(to.get().form()?) {
                    return made;
                }
            }
            (None, Some(out)) => {
                if let Some(into) = Small::of(out)
                    && small.copy_into(&into)?
                {
                    return Ok(out.clone());
                }
            }
            (Some(_), Some(_)) => {}
        }
    }
    let source = Elements::of(array, false)?;
    let from = match &layout {
        Some(layout) => {
            require_packed(&source, "the array", "layout")?;
            Side::of(layout.get())?
        }
        None => described(&source).map(|(one, reversed)| Side::One(one, reversed, None))?,
    };
    let Some(out) = out else {
        let to = to.map_or_else(|| Bound::new(py, packed_like(&from)?), Ok)?;
        let (to, form) = (to.get(), to.get().form()?);
        let plan = planned(py, from, Side::of(to)?, how)?;
        let mut new = new_array(py, form.bytes, !form.has_padding)?;
        plan.run(py, source.bytes(), new.bytes_mut(&source)?, threads)?;
        return new.finish(form, Kind::of(array)?);
    };
    if Kind::of(out)? == Kind::Jax {
        return Err(refusal("read_only", "arrays of JAX are immutable, so `out` cannot be one"));
    }
    let mut memory = Elements::of(out, true)?;
    let into = match &to {
        Some(to) => {
            require_packed(&memory, "`out`", "to")?;
            Side::of(to.get())?
        }
        None => described(&memory).map(|(one, reversed)| Side::One(one, reversed, None))?,
    };
    planned(py, from, into, how)?.run(py, source.bytes(), memory.bytes_mut(&source)?, threads)?;
    Ok(out.clone())
}

/// Returns the packed row-major layout of the same elements.
fn packed_like(side: &Side<'_>) -> PyResult<Layout> {
    let Side::One(one, ..) = side else {
        let sentence = "the layout lies in several parts: pass `to`, the layout of the result";
        return Err(refusal("not_expressible", sentence));
    };
    let map = one.to_index_map().map_err(refused)?;
    // XLA's layouts have a byte for each element of fewer than 8 bits, like ml_dtypes.
    let whole = match map.data_type().bits() < 8 {
        true => ArrayShape::row_major(map.data_type(), map.sizes()).map(Into::into),
        false => BufferTensorDesc::packed(map.data_type(), map.sizes()).map(Into::into),
    };
    Ok(Layout::new(whole.map_err(refused)?))
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
    signature = (layout, to, *, most_bytes=Number(MOST_MEASURED)),
    text_signature = "(layout, to, *, most_bytes=4294967296)"
)]
pub(crate) fn measure(layout: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>, most_bytes: Number) -> PyResult<String> {
    let (from, to) = (Layout::of(layout)?, Layout::of(to)?);
    let (from, to) = (from.get().whole.any().map_err(refused)?, to.get().whole.any().map_err(refused)?);
    let settings = Settings { effort: Effort::Measure { most_bytes: most_bytes.0 }, ..Settings::default() };
    let plan = layout.py().detach(|| Relayout::with_settings(from, to, &settings)).map_err(refused)?;
    match plan.estimate_reason() {
        Some(reason) => Err(refusal("out_of_limits", &reason)),
        None => Ok(plan.choice()),
    }
}

/// Returns the NumPy array of a foreign array, viewed as the element type of that array.
pub(crate) fn with_type_of<'py>(
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

pub(crate) fn check_threads(Count(threads): Count) -> PyResult<usize> {
    if (1..=1024).contains(&threads) {
        return Ok(threads);
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

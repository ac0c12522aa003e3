//! `ascontiguous`: an array as packed rows.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;
use tensor_layout::relayout::{Strided, copy_strided};
use tensor_layout::{BufferTensorDesc, DataType};

use crate::copy::{How, PLAN_FROM, check_threads, copy, plan, run, with_type_of};
use crate::error::{refusal, refused};
use crate::memory::Elements;
use crate::new_array::{Kind, contiguous_like, numpy, to_jax};
use crate::numbers::Count;
use crate::small::Small;

/// A replacement for `numpy.ascontiguousarray`: returns the array itself if it is packed row-major, otherwise
/// a packed copy. For a PyTorch tensor it replaces `contiguous()`. An array of JAX gives one of JAX. Lists
/// and numbers become arrays, as in NumPy; any other object that is no array is refused.
///
/// >>> import numpy
/// >>> a = numpy.arange(6).reshape(2, 3)
/// >>> ascontiguous(a) is a
/// True
/// >>> ascontiguous(a.T).strides == (16, 8)
/// True
#[pyfunction]
#[pyo3(signature = (a, dtype=None, *, threads=Count(1)), text_signature = "(a, dtype=None, *, threads=1)")]
pub(crate) fn ascontiguous<'py>(
    a: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Count,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, threads) = (a.py(), check_threads(threads)?);
    if dtype.is_none()
        && let Some(small) = Small::of(a).filter(|small| small.rank() > 0)
    {
        return if small.is_packed() { Ok(a.clone()) } else { small.packed() };
    }
    let kind = Kind::of(a)?;
    if let (Kind::Torch | Kind::Jax, Some(dtype)) = (kind, dtype) {
        let method = if kind == Kind::Torch { intern!(py, "to") } else { intern!(py, "astype") };
        return ascontiguous(&a.call_method1(method, (dtype,))?, None, Count(threads));
    }
    let (array, source) = match kind {
        Kind::Torch => {
            let source = Elements::of(a, false)?;
            // A tensor with its conjugate or negative bit set is packed only once it is resolved.
            let is_itself = !a.call_method0(intern!(py, "is_neg"))?.is_truthy()?
                && !a.call_method0(intern!(py, "is_conj"))?.is_truthy()?;
            let resolved = || a.call_method0(intern!(py, "resolve_conj"))?.call_method0(intern!(py, "resolve_neg"));
            (if is_itself { a.clone() } else { resolved()? }, source)
        }
        Kind::Jax => (a.clone(), Elements::of(a, false)?),
        Kind::Numpy => {
            let array = as_numpy(a, dtype)?;
            match Elements::of(&array, false) {
                Ok(source) if !source.sizes.is_empty() => (array, source),
                // NumPy copies arrays of objects. It also handles arrays without axes, to which it adds an
                // axis.
                _ => return numpy(py)?.module.bind(py).call_method1(intern!(py, "ascontiguousarray"), (array,)),
            }
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
        let plan = plan(py, (signed.desc.into(), packed.desc.into(), signed.reversed), How::default())?;
        run(py, &plan, from, to, threads)?;
    }
    drop(memory);
    if kind == Kind::Jax { to_jax(&result) } else { Ok(result) }
}

/// Returns an object as an array of NumPy, of its own type unless `dtype` names another one.
fn as_numpy<'py>(a: &Bound<'py, PyAny>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let numpy = numpy(py)?;
    let is_numpys = a.is_instance(numpy.ndarray.bind(py))?;
    if is_numpys && dtype.is_none() && a.get_type().is(numpy.ndarray.bind(py)) {
        return Ok(a.clone());
    }
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "dtype"), dtype)?;
    let asarray =
        |a: &Bound<'py, PyAny>| numpy.module.bind(py).call_method(intern!(py, "asarray"), (a,), Some(&arguments));
    let array = match asarray(a) {
        Ok(array) => array,
        // NumPy does not read the name that mlx has for bfloat16 in its buffers.
        Err(error) => match copy(a, None, None, Count(1), None, "estimate", None) {
            Ok(copied) => asarray(&copied)?,
            Err(_) => return Err(error),
        },
    };
    // NumPy turns an object that it does not know into an array of one element, the object.
    let is_one_object =
        || PyResult::Ok(array.getattr("ndim")?.eq(0)? && array.getattr("dtype")?.getattr("hasobject")?.is_truthy()?);
    if !is_numpys && is_one_object()? {
        Elements::of(a, false)?;
    }
    // Paddle gives NumPy a bfloat16 as a number of 16 bits.
    with_type_of(a, array, dtype.is_none())
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

//! New arrays of NumPy. PyTorch uses their memory as it is, and JAX copies it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyTuple};
use smallvec::SmallVec;
use tensor_layout::AnyLayout;
use tensor_layout::DataType;
use tensor_layout::element::{ElementKind, Naming};

use crate::error::refused;
use crate::layout::Layout;
use crate::memory::Elements;

/// The alignment of new memory, in bytes: a cache line, as DLPack requires.
const ALIGNMENT: u64 = 64;

/// The library whose arrays a function takes and returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Numpy,
    Torch,
    Jax,
}

impl Kind {
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let py = array.py();
        if array.get_type().is(numpy(py)?.ndarray.bind(py)) {
            return Ok(Kind::Numpy);
        }
        let module: String = array.get_type().getattr(intern!(py, "__module__"))?.extract()?;
        Ok(match module.split('.').next() {
            Some("torch") => Kind::Torch,
            Some("jax" | "jaxlib") => Kind::Jax,
            _ => Kind::Numpy,
        })
    }
}

/// The parts of NumPy that are used.
pub(crate) struct Numpy {
    pub(crate) module: Py<PyAny>,
    pub(crate) ndarray: Py<PyAny>,
    empty: Py<PyAny>,
}

pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Numpy> {
    static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let (ndarray, empty) = (module.getattr("ndarray")?.unbind(), module.getattr("empty")?.unbind());
        Ok(Numpy { module: module.into_any().unbind(), ndarray, empty })
    })
}

/// Returns a packed array of the same sizes and type, and its memory.
pub(crate) fn contiguous_like<'py>(
    array: &Bound<'py, PyAny>,
    kind: Kind,
    source: &Elements,
) -> PyResult<(Bound<'py, PyAny>, Elements)> {
    let py = array.py();
    let (shape, dtype) = (array.getattr(intern!(py, "shape"))?, array.getattr(intern!(py, "dtype"))?);
    if kind == Kind::Torch {
        let torch = py.import(intern!(py, "torch"))?;
        let arguments = PyDict::new(py);
        arguments.set_item(intern!(py, "dtype"), dtype)?;
        let result = torch.call_method(intern!(py, "empty"), (shape,), Some(&arguments))?;
        let memory = Elements::by_dlpack(&result, true)?;
        return Ok((result, memory));
    }
    let result = numpy(py)?.empty.bind(py).call1((shape, dtype))?;
    let memory = match source.data_type {
        // A view reaches the memory of types without a buffer format.
        None => Elements::of(&result, true)?,
        Some(_) => Elements::by_buffer(&result, true).or_else(|_| Elements::of(&result, true))?,
    };
    Ok((result, memory))
}

/// Memory for a layout, and the properties of the array that it will become.
pub(crate) struct NewArray<'py> {
    /// The whole memory, aligned, as bytes.
    pub(crate) bytes: Bound<'py, PyAny>,
    dtype: Bound<'py, PyAny>,
    shape: Bound<'py, PyTuple>,
    /// The strides, in bytes, or `None` for one row of all physical elements.
    strides: Option<Bound<'py, PyTuple>>,
    data_type: Option<DataType>,
}

/// Returns new memory for a layout of this many bytes.
pub(crate) fn new_array<'py>(py: Python<'py>, layout: &Layout, bytes: u64) -> PyResult<NewArray<'py>> {
    let numpy = numpy(py)?;
    let room = bytes.checked_add(ALIGNMENT).ok_or_else(|| pyo3::exceptions::PyMemoryError::new_err("too large"))?;
    let memory = numpy.empty.bind(py).call1((room, "u1"))?;
    let address = u64::try_from(Elements::by_buffer(&memory, true)?.address()).unwrap_or(0);
    let start = address.next_multiple_of(ALIGNMENT).wrapping_sub(address);
    let part = PySlice::new(py, isize::try_from(start)?, isize::try_from(start.saturating_add(bytes))?, 1);
    let bytes_of = memory.get_item(part)?;

    let map = &layout.map;
    let data_type = map.data_type();
    // NumPy sees packed elements of fewer than 8 bits as bytes.
    let dtype = match map.element_bits() {
        bits if bits.is_multiple_of(8) => dtype_of(py, data_type)?,
        _ => None,
    };
    let (known, width) = (dtype.is_some(), u64::from(map.element_bits().div_euclid(8)).max(1));
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => numpy.module.bind(py).call_method1(intern!(py, "dtype"), (format!("u{width}"),))?,
    };
    // A layout with tiles becomes one row of physical elements even if strides describe it, because copying
    // it back needs the whole buffer.
    let has_tiles = matches!(layout.notated.layout(), AnyLayout::Tiled(shape) if !shape.layout().tiles().is_empty());
    let strides = map.strides().filter(|_| map.base() == 0 && known && !has_tiles);
    let (shape, strides) = match strides {
        Some(strides) => {
            let strides: SmallVec<[u64; 8]> = match layout.notated.layout() {
                AnyLayout::Strided(desc) => desc.strides().into(),
                _ => strides.iter().copied().collect(),
            };
            let in_bytes = strides.iter().map(|stride| stride.saturating_mul(width));
            (PyTuple::new(py, map.sizes())?, Some(PyTuple::new(py, in_bytes.collect::<Vec<_>>())?))
        }
        None => (PyTuple::new(py, [map.physical_size_in_bytes().checked_div(width).unwrap_or(0)])?, None),
    };
    Ok(NewArray { bytes: bytes_of, dtype, shape, strides, data_type: known.then_some(data_type) })
}

/// Returns the type of NumPy or of ml_dtypes, or `None` if neither has it.
pub(crate) fn dtype_of<'py>(py: Python<'py>, data_type: DataType) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(name) = data_type.name_in(Naming::Numpy) else { return Ok(None) };
    let numpy = numpy(py)?.module.bind(py);
    if let Ok(dtype) = numpy.call_method1(intern!(py, "dtype"), (name,)) {
        return Ok(Some(dtype));
    }
    let found = py.import("ml_dtypes").and_then(|module| module.getattr(name));
    found.ok().map(|scalar| numpy.call_method1(intern!(py, "dtype"), (scalar,))).transpose()
}

impl<'py> NewArray<'py> {
    /// Returns the array, after its memory has been written.
    pub(crate) fn finish(self, kind: Kind) -> PyResult<Bound<'py, PyAny>> {
        let py = self.bytes.py();
        let arguments = PyDict::new(py);
        arguments.set_item("buffer", &self.bytes)?;
        arguments.set_item("strides", self.strides)?;
        let ndarray = numpy(py)?.ndarray.bind(py);
        let array = ndarray.call((self.shape, &self.dtype), Some(&arguments))?;
        match kind {
            Kind::Numpy => Ok(array),
            Kind::Jax => py.import("jax.numpy")?.call_method1("asarray", (array,)),
            Kind::Torch => to_torch(&array, self.data_type),
        }
    }
}

/// Returns the memory of a NumPy array as a tensor. Types that NumPy does not have are passed as integers of
/// their width.
fn to_torch<'py>(array: &Bound<'py, PyAny>, data_type: Option<DataType>) -> PyResult<Bound<'py, PyAny>> {
    let torch = array.py().import("torch")?;
    let from_numpy = |array: &Bound<'py, PyAny>| torch.call_method1("from_numpy", (array,));
    let Some(data_type) = data_type else { return from_numpy(array) };
    let own = matches!(data_type, DataType::F16 | DataType::F32 | DataType::F64);
    if own || data_type.kind() != ElementKind::Float {
        return from_numpy(array);
    }
    let name = data_type
        .name_in(Naming::Numpy)
        .ok_or_else(|| refused(tensor_layout::Error::unsupported_data_type("float", "PyTorch")))?;
    let integers = array.call_method1("view", (format!("i{}", data_type.bits().div_ceil(8)),))?;
    let tensor = from_numpy(&integers)?;
    // If PyTorch does not have the type, the result is a tensor of integers.
    match torch.getattr(name) {
        Ok(dtype) => tensor.call_method1("view", (dtype,)),
        Err(_) => Ok(tensor),
    }
}

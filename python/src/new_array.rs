//! New arrays of NumPy. PyTorch uses their memory as it is, and JAX copies it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use tensor_layout::element::Naming;
use tensor_layout::{AnyLayout, DataType};

use crate::error::{refusal, refused};
use crate::layout::Layout;
use crate::memory::Elements;

/// The alignment of new memory, in bytes: a cache line, as DLPack requires.
pub(crate) const ALIGNMENT: usize = 64;

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

/// The functions and types of NumPy that this module calls, looked up once.
pub(crate) struct Numpy {
    pub(crate) module: Py<PyAny>,
    pub(crate) ndarray: Py<PyAny>,
    empty: Py<PyAny>,
    zeros: Py<PyAny>,
    bytes: Py<PyAny>,
    /// Whether this version has the C interface that this module was built for.
    pub(crate) has_known_fields: bool,
}

pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Numpy> {
    static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let part = |name: &str| PyResult::Ok(module.getattr(name)?.unbind());
        let (ndarray, empty, zeros) = (part("ndarray")?, part("empty")?, part("zeros")?);
        let bytes = module.call_method1("dtype", ("u1",))?.unbind();
        let version: String = module.getattr("__version__")?.extract()?;
        let has_known_fields = ["1.", "2."].iter().any(|major| version.starts_with(major));
        Ok(Numpy { module: module.into_any().unbind(), ndarray, empty, zeros, bytes, has_known_fields })
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

/// New memory of NumPy for the elements of a layout.
pub(crate) struct NewArray<'py> {
    /// The whole memory as bytes. The layout takes `bytes` bytes of it, from `start` on.
    array: Bound<'py, PyAny>,
    memory: Elements,
    start: usize,
    bytes: usize,
}

/// Returns new memory of this many bytes, which are zero unless the caller promises to write all of them.
pub(crate) fn new_array(py: Python<'_>, bytes: u64, is_written_whole: bool) -> PyResult<NewArray<'_>> {
    let numpy = numpy(py)?;
    let too_large = || refusal("overflow", &format!("the result of {bytes} bytes is larger than memory can be"));
    let bytes = usize::try_from(bytes).map_err(|_| too_large())?;
    let room = bytes.checked_add(ALIGNMENT).filter(|&room| isize::try_from(room).is_ok()).ok_or_else(too_large)?;
    let new = if is_written_whole { &numpy.empty } else { &numpy.zeros };
    let array = new.bind(py).call1((room, numpy.bytes.bind(py)))?;
    let memory = Elements::by_buffer(&array, true)?;
    let start = memory.address().next_multiple_of(ALIGNMENT).wrapping_sub(memory.address());
    Ok(NewArray { array, memory, start, bytes })
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
    /// Returns the bytes of the layout, for writing.
    pub(crate) fn bytes_mut(&mut self, source: &Elements) -> PyResult<&mut [u8]> {
        let (start, end) = (self.start, self.start.saturating_add(self.bytes));
        let bytes = self.memory.bytes_mut(source)?.get_mut(start..end);
        bytes.ok_or_else(|| refusal("buffer_too_short", "NumPy gave less memory than it was asked for"))
    }

    /// Returns the memory as an array of a library, after it has been written.
    pub(crate) fn finish(self, form: &Form, kind: Kind) -> PyResult<Bound<'py, PyAny>> {
        let py = self.array.py();
        let numpy = numpy(py)?;
        // NumPy sees packed elements of fewer than 8 bits as bytes.
        let dtype = if form.is_whole { dtype_of(py, form.data_type)? } else { None };
        let dtype = match dtype {
            Some(dtype) => dtype,
            // If the library lacks the type, the array has unsigned integers of the same width.
            None => numpy.module.bind(py).call_method1(intern!(py, "dtype"), (format!("u{}", form.width),))?,
        };
        let arguments = PyDict::new(py);
        arguments.set_item(intern!(py, "buffer"), &self.array)?;
        arguments.set_item(intern!(py, "offset"), self.start.saturating_add(form.first))?;
        if let Some(strides) = &form.strides {
            arguments.set_item(intern!(py, "strides"), PyTuple::new(py, strides)?)?;
        }
        drop(self.memory);
        let shape = PyTuple::new(py, &form.sizes)?;
        let array = numpy.ndarray.bind(py).call((shape, dtype), Some(&arguments))?;
        match kind {
            Kind::Numpy => Ok(array),
            Kind::Jax => to_jax(&array),
            Kind::Torch => to_torch(&array, form.is_whole.then_some(form.data_type)),
        }
    }
}

/// What a new array of a layout looks like: with the sizes of the tensor where strides describe the layout,
/// otherwise one row of all physical elements.
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) data_type: DataType,
    /// The size of an element, in bytes.
    width: usize,
    /// Whether elements take whole bytes.
    is_whole: bool,
    pub(crate) sizes: SmallVec<[usize; 8]>,
    /// The strides, in bytes. `None` for a row.
    pub(crate) strides: Option<SmallVec<[isize; 8]>>,
    /// The offset of index 0 of all axes, in bytes. It is above 0 if an axis runs backwards.
    first: usize,
    pub(crate) bytes: u64,
    /// Whether the buffer has bits that belong to no element.
    pub(crate) has_padding: bool,
    /// Whether no stride is negative, and no two elements share an offset.
    pub(crate) is_simple: bool,
}

impl Form {
    pub(crate) fn of(layout: &Layout) -> PyResult<Form> {
        let ((data_type, bits), bytes) = (layout.element()?, layout.whole.values().size_in_bytes().map_err(refused)?);
        let elements = layout.whole.values().parts().iter().map(|part| u128::from(part.map.element_count()));
        let used = elements.fold(0, u128::saturating_add).saturating_mul(bits.into());
        let has_padding = used != u128::from(bytes).saturating_mul(8);
        let (is_whole, width) = (bits.is_multiple_of(8), usize::try_from(bits.div_euclid(8)).unwrap_or(1).max(1));
        let row = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_div(width)).unwrap_or(usize::MAX);
        let row = Form {
            data_type,
            width,
            is_whole,
            sizes: SmallVec::from_iter([row]),
            strides: None,
            first: 0,
            bytes,
            has_padding,
            is_simple: false,
        };
        let Some(strides) = layout.strides_of_array().filter(|_| is_whole) else { return Ok(row) };
        let in_bytes = isize::try_from(width).unwrap_or(1);
        let strides: SmallVec<[isize; 8]> = strides.iter().map(|stride| stride.saturating_mul(in_bytes)).collect();
        let sizes = layout.sizes_ref().iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX));
        let sizes: SmallVec<[usize; 8]> = sizes.collect();
        let last = |(&size, stride): (&usize, &isize)| size.saturating_sub(1).saturating_mul(stride.unsigned_abs());
        let first =
            sizes.iter().zip(&strides).filter(|(_, stride)| **stride < 0).map(last).fold(0, usize::saturating_add);
        let is_simple = first == 0 && layout.map().is_ok_and(|map| map.check_injective().is_ok());
        Ok(Form { sizes, strides: Some(strides), first, is_simple, ..row })
    }
}

/// Returns NumPy's array as an array of JAX, which copies it.
pub(crate) fn to_jax<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.py().import("jax.numpy")?.call_method1("asarray", (array,))
}

/// Returns the memory of a NumPy array as a tensor of PyTorch's own type. Types that NumPy does not have are
/// passed as integers of their width. If PyTorch does not have the type either, it stays these integers.
fn to_torch<'py>(array: &Bound<'py, PyAny>, data_type: Option<DataType>) -> PyResult<Bound<'py, PyAny>> {
    use DataType::*;
    let torch = array.py().import("torch")?;
    let from_numpy = |array: &Bound<'py, PyAny>| torch.call_method1("from_numpy", (array,));
    let own = [Pred, S8, S16, S32, S64, U8, U16, U32, U64, F16, F32, F64, C64, C128];
    let Some(data_type) = data_type.filter(|data_type| !own.contains(data_type)) else { return from_numpy(array) };
    let integers = array.call_method1("view", (format!("i{}", data_type.bits().div_ceil(8)),))?;
    let tensor = from_numpy(&integers)?;
    let name = data_type.name_in(Naming::Numpy).unwrap_or_default();
    match torch.getattr(name) {
        Ok(dtype) if data_type.bits() >= 8 => tensor.call_method1("view", (dtype,)),
        _ => Ok(tensor),
    }
}

/// Whether a layout has tiles. A new array of such a layout is one row of physical elements, even if strides
/// describe the layout, because copying it back needs the whole buffer.
pub(crate) fn has_tiles(layout: &AnyLayout) -> bool {
    matches!(layout, AnyLayout::Tiled(shape) if !shape.layout().tiles().is_empty())
}

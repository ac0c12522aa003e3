//! `Elements`: the memory of a Python array, lent by the buffer protocol or by DLPack, never copied.
//!
//! The memory of an array is reached in one of three ways, which are tried in this order:
//!
//! 1. by the buffer protocol (NumPy, JAX on the CPU, `bytearray`, `mmap`, `array`),
//! 2. by the buffer protocol of a view with unsigned integers, for NumPy arrays of types that have no buffer
//!    format (`bfloat16`, `float8_e4m3fn`, `int4` of ml_dtypes, `datetime64`),
//! 3. by DLPack (PyTorch),
//! 4. by `__array__`, for types that a library does not lend by DLPack (`float4_e2m1fn` of JAX). Read only.
//!
//! The lender keeps the memory alive until its [`Elements`] are dropped. The structures are declared here
//! because the limited API has them only since Python 3.11. Their fields are the same in 3.10. Sources: PEP
//! 3118 for `Py_buffer`, and dlpack.h for the managed tensors.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use tensor_layout::DataType;
use tensor_layout::element::Naming;
use tensor_layout::interop::dlpack::{DlManagedTensor, DlOwned, DlTensor};

use crate::error::{LayoutError, refusal, refused};
use crate::formats::type_of_format;

/// `Py_buffer` of Python 3.3 and newer.
#[repr(C)]
struct PyBuffer {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: isize,
    itemsize: isize,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut isize,
    strides: *mut isize,
    suboffsets: *mut isize,
    internal: *mut c_void,
}

/// The most axes of a buffer (`PyBUF_MAX_NDIM`).
const MOST_AXES: usize = 64;

const WRITABLE: c_int = 1;
/// `PyBUF_STRIDES | PyBUF_FORMAT`: the call fills in shape, strides and format. What is NULL nevertheless has
/// a meaning, or is refused.
const STRIDED: c_int = 0x18 | 0x4;

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut ffi::PyObject, view: *mut PyBuffer, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut PyBuffer);
}

/// `DLManagedTensor`, without a version.
#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// The owner that keeps the memory alive.
enum Lender {
    /// Boxed, because pointers of a `Py_buffer` may point into the `Py_buffer` itself, which therefore must
    /// not move.
    Buffer(Box<PyBuffer>),
    DlPack(*mut Managed),
    DlPackVersioned(DlOwned),
}

impl Drop for Lender {
    fn drop(&mut self) {
        // SAFETY: each structure was acquired by a call that succeeded, and is released once. `Elements` hold
        // it, and are dropped by the functions that made them, which are attached to the interpreter.
        unsafe {
            match self {
                Lender::Buffer(buffer) => PyBuffer_Release(&raw mut **buffer),
                Lender::DlPack(managed) => {
                    if let Some(deleter) = (**managed).deleter {
                        deleter(*managed);
                    }
                }
                // `DlOwned` calls the deleter when it is dropped.
                Lender::DlPackVersioned(_) => {}
            }
        }
    }
}

/// The elements of an array: the address of the first element, and the sizes and strides.
pub(crate) struct Elements {
    /// The address of index 0 of every axis.
    first: *mut u8,
    /// The distance from the lowest byte to `first`, and the distance from the lowest byte to the end of the
    /// highest, in bytes.
    before: usize,
    span: usize,
    pub(crate) sizes: SmallVec<[usize; 8]>,
    /// The strides, in bytes.
    pub(crate) strides: SmallVec<[isize; 8]>,
    /// The size of an element, in bytes. If an element has several lanes, the size of all its lanes together.
    pub(crate) item: usize,
    /// How many elements of `data_type` are in one item: the lanes of DLPack. They become one more axis.
    pub(crate) lanes: usize,
    /// The width of an element in bits, if elements are packed to bits. Then `item` is 1, and strides count
    /// elements.
    pub(crate) packed_bits: Option<u32>,
    /// The type of the elements, or `None` for types that layouts do not have: structures, text, dates,
    /// big-endian numbers.
    pub(crate) data_type: Option<DataType>,
    pub(crate) is_read_only: bool,
    _lender: Lender,
}

/// Whether the elements are Python objects, which only NumPy can copy.
fn is_of_objects(format: &[u8]) -> bool {
    format.contains(&b'O')
}

impl Elements {
    /// Returns the elements of any array on the CPU. Whatever is refused, by this module or by the library of
    /// the array, is a [`LayoutError`].
    pub(crate) fn of(array: &Bound<'_, PyAny>, is_written: bool) -> PyResult<Elements> {
        Self::lent(array, is_written).map_err(|error| not_lent(array, error))
    }

    fn lent(array: &Bound<'_, PyAny>, is_written: bool) -> PyResult<Elements> {
        match Self::by_buffer(array, is_written) {
            Ok(elements) => return Ok(elements),
            Err(error) if error.is_instance_of::<LayoutError>(array.py()) => return Err(error),
            Err(error) if is_written && error.is_instance_of::<pyo3::exceptions::PyBufferError>(array.py()) => {
                return Err(refusal("read_only", &format!("`out` cannot be written: {}", error.value(array.py()))));
            }
            Err(_) => {}
        }
        let py = array.py();
        if let Ok(dtype) = array.getattr(intern!(py, "dtype"))
            && array.hasattr(intern!(py, "__array_interface__"))?
        {
            return Self::by_view(array, &dtype, is_written);
        }
        let by_dlpack = if array.hasattr(intern!(py, "__dlpack__"))? {
            match Self::by_dlpack(array, is_written) {
                Ok(elements) => return Ok(elements),
                Err(error) => Some(error),
            }
        } else {
            None
        };
        // Some producers do not lend every type by DLPack. JAX makes a NumPy array of these types instead.
        let is_final =
            |error: &PyErr| error.value(py).getattr("code").is_ok_and(|code| code.eq("requires_grad").unwrap_or(false));
        if !is_written
            && !by_dlpack.as_ref().is_some_and(is_final)
            && array.hasattr(intern!(py, "__array__"))?
            && let Ok(copied) = array.call_method0(intern!(py, "__array__"))
            && !copied.is(array)
            && let Ok(elements) = Self::by_buffer(&copied, false).or_else(|_| Self::lent(&copied, false))
        {
            return Ok(elements);
        }
        let kind = array.get_type().name()?;
        Err(by_dlpack.unwrap_or_else(|| {
            refusal("not_an_array", &format!("{kind} is no array: it has neither a buffer nor __dlpack__"))
        }))
    }

    /// Returns the elements by the buffer protocol.
    pub(crate) fn by_buffer(array: &Bound<'_, PyAny>, is_written: bool) -> PyResult<Elements> {
        let empty = PyBuffer {
            buf: ptr::null_mut(),
            obj: ptr::null_mut(),
            len: 0,
            itemsize: 0,
            readonly: 1,
            ndim: 0,
            format: ptr::null_mut(),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        };
        let mut buffer = Box::new(empty);
        let flags = if is_written { STRIDED | WRITABLE } else { STRIDED };
        // SAFETY: the object is alive, and the structure has room for everything that the call fills in.
        if unsafe { PyObject_GetBuffer(array.as_ptr(), &raw mut *buffer, flags) } != 0 {
            return Err(PyErr::fetch(array.py()));
        }
        // From here on the buffer is released when `lender` is dropped.
        let lender = Lender::Buffer(buffer);
        let Lender::Buffer(buffer) = &lender else { unreachable!("the lender was made above") };
        let (first, item) = (buffer.buf.cast::<u8>(), count("the size of an element", buffer.itemsize)?);
        let rank = usize::try_from(buffer.ndim).ok().filter(|&rank| rank <= MOST_AXES);
        let rank = rank.ok_or_else(|| odd(format!("has {} axes", buffer.ndim)))?;
        let numbers = |start: *mut isize| {
            // SAFETY: PEP 3118 says of each of `shape`, `strides` and `suboffsets` that it is NULL or points
            // to `ndim` numbers, which live until the buffer is released. A list without numbers is not read.
            (rank > 0 && !start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, rank) })
        };
        // SAFETY: PEP 3118 says that `format` is NULL or a C string, which lives as long.
        let format = (!buffer.format.is_null()).then(|| unsafe { CStr::from_ptr(buffer.format) }.to_bytes());
        // NULL means unsigned bytes.
        let format = format.unwrap_or(b"B");
        if is_of_objects(format) {
            return Err(objects());
        }
        if numbers(buffer.suboffsets).is_some_and(|axes| axes.iter().any(|&offset| offset >= 0)) {
            return Err(odd("is reached through pointers to its rows".into()));
        }
        let sizes: SmallVec<[usize; 8]> = match (numbers(buffer.shape), rank) {
            (Some(sizes), _) => sizes.iter().map(|&size| count("a size", size)).collect::<PyResult<_>>()?,
            (None, 0) => SmallVec::new(),
            // If `shape` is NULL, the buffer has one axis, whose size follows from the length.
            (None, 1) => SmallVec::from_iter(count("its length", buffer.len)?.checked_div(item)),
            (None, _) => return Err(odd(format!("has {rank} axes without sizes"))),
        };
        if sizes.len() != rank {
            return Err(odd("has a row of elements of 0 bytes, without a size".into()));
        }
        // NULL means packed in row-major order, as every array of ctypes is.
        let strides = numbers(buffer.strides).map_or_else(|| packed_strides(&sizes, item), SmallVec::from);
        let (data_type, is_read_only) = (type_of_format(format, item), buffer.readonly != 0);
        Self::new(first, sizes, strides, item, data_type, is_read_only, lender)
    }

    /// Returns the elements by the buffer of a view with unsigned integers of the same width.
    fn by_view(array: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>, is_written: bool) -> PyResult<Elements> {
        let py = array.py();
        let item: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
        if dtype.getattr(intern!(py, "hasobject"))?.extract()? {
            return Err(objects());
        }
        if ![1, 2, 4, 8].contains(&item) {
            let reason = format!("the elements are {dtype}, which have no buffer");
            return Err(refusal("unknown_data_type", &reason));
        }
        let view = array.call_method1(intern!(py, "view"), (format!("u{item}"),))?;
        let name: String = dtype.getattr(intern!(py, "name"))?.extract()?;
        let data_type = DataType::from_name_in(Naming::Numpy, &name);
        Ok(Elements { data_type, ..Self::by_buffer(&view, is_written)? })
    }

    /// Returns the elements of any tensor on the CPU by DLPack, which lends the bytes of a tensor. A tensor
    /// whose values are not its bytes must be resolved before ([`with_own_bytes`]).
    pub(crate) fn by_dlpack(array: &Bound<'_, PyAny>, is_written: bool) -> PyResult<Elements> {
        let array = &with_own_bytes(array, is_written)?;
        static ARGUMENTS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
        let py = array.py();
        let arguments = ARGUMENTS.get_or_try_init(py, || {
            let arguments = PyDict::new(py);
            arguments.set_item("max_version", (1, 1))?;
            PyResult::Ok(arguments.unbind())
        })?;
        let name = intern!(py, "__dlpack__");
        let capsule = match array.call_method(name, (), Some(arguments.bind(py))) {
            // Producers from before 2024 do not have the argument.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => array.call_method0(name)?,
            other => other?,
        };
        let capsule = capsule.cast_into::<PyCapsule>()?.into_any();
        let take = |from: &CStr, to: &'static CStr| {
            // SAFETY: a capsule with this name holds a pointer to the matching structure of dlpack.h.
            // Renaming the capsule means that its consumer calls the deleter, which `Lender` does.
            unsafe {
                let valid = ffi::PyCapsule_IsValid(capsule.as_ptr(), from.as_ptr()) != 0;
                let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), if valid { from } else { c"" }.as_ptr());
                if pointer.is_null() {
                    ffi::PyErr_Clear();
                    return None;
                }
                (ffi::PyCapsule_SetName(capsule.as_ptr(), to.as_ptr()) == 0).then_some(pointer)
            }
        };
        let lender = if let Some(managed) = take(c"dltensor_versioned", c"used_dltensor_versioned") {
            let managed = NonNull::new(managed.cast::<DlManagedTensor>()).ok_or_else(too_large)?;
            // SAFETY: `take` returns a valid pointer. The structure lives until its deleter is called, which
            // only `DlOwned` does, as the capsule was renamed.
            Lender::DlPackVersioned(unsafe { DlOwned::new(managed) }.map_err(refused)?)
        } else if let Some(managed) = take(c"dltensor", c"used_dltensor") {
            Lender::DlPack(managed.cast::<Managed>())
        } else {
            return Err(refusal("not_lent", "the capsule of __dlpack__ was used before"));
        };
        let (tensor, fields, is_read_only) = match &lender {
            Lender::DlPackVersioned(owned) => (owned.tensor(), owned.fields().map_err(refused)?, owned.is_read_only()),
            Lender::DlPack(managed) => {
                // SAFETY: `take` returns a valid pointer. The structure lives until the deleter is called,
                // and its lists have `ndim` numbers until then.
                let (tensor, fields) = unsafe { (&(**managed).tensor, (**managed).tensor.fields(0)) };
                (tensor, fields.map_err(refused)?, false)
            }
            Lender::Buffer(_) => unreachable!("the lender was made above"),
        };
        let device = tensor.device.device_type;
        // The types are kDLCPU, and CPU memory that CUDA or ROCm has pinned.
        if ![1, 3, 11].contains(&device) {
            let reason =
                format!("the array is on device type {device} of DLPack, and only the CPU's memory can be read");
            return Err(refusal("not_on_the_cpu", &reason));
        }
        let (width, lanes) = (fields.dtype.bits, usize::from(fields.dtype.lanes));
        if lanes == 0 {
            return Err(refusal("out_of_limits", "an element of the tensor has 0 lanes"));
        }
        // With this flag every element takes a byte, and so does every lane.
        let is_padded = fields.is_padded_to_bytes && width < 8;
        let bits = (if is_padded { 8 } else { usize::from(width) }).saturating_mul(lanes);
        let data_type = DataType::try_from(fields.dtype).ok();
        let packed_bits = (!bits.is_multiple_of(8)).then_some(u32::from(width));
        if packed_bits.is_some() && (lanes > 1 || data_type.is_none()) {
            let reason = format!("{lanes} lanes of {width} bits are no whole number of bytes, and no type of a layout");
            return Err(refusal("unsupported_element_bits", &reason));
        }
        let item = if packed_bits.is_some() { 1 } else { bits.div_ceil(8) };
        let mut sizes: SmallVec<[usize; 8]> = SmallVec::new();
        for &size in fields.shape {
            sizes.push(usize::try_from(size).map_err(|_| refusal("negative", "a size is negative"))?);
        }
        let strides = match fields.strides {
            Some(strides) => {
                // The stride of an axis of size 1 may be any number.
                let axes = strides.iter().zip(&sizes);
                axes.map(|(&stride, &size)| in_bytes(if size == 1 { 0 } else { stride }, item))
                    .collect::<PyResult<_>>()?
            }
            None => packed_strides(&sizes, item),
        };
        let offset = usize::try_from(fields.byte_offset).map_err(|_| too_large())?;
        let first = tensor.data.cast::<u8>().wrapping_add(offset);
        let elements = Self::new(first, sizes, strides, item, data_type, is_read_only, lender)?;
        let Some(bits) = packed_bits else { return Ok(Elements { lanes, ..elements }) };
        if elements.before > 0 {
            return Err(refusal("negative", "elements that are packed to bits are read forwards only"));
        }
        // `span` counts elements so far, because each element was treated as a byte.
        let bits_of_all = elements.span.checked_mul(usize::try_from(bits).unwrap_or(8)).ok_or_else(too_large)?;
        Ok(Elements { packed_bits, span: bits_of_all.div_ceil(8), ..elements })
    }

    /// Computes the range of bytes that the indices touch, and returns the elements with it.
    fn new(
        first: *mut u8,
        sizes: SmallVec<[usize; 8]>,
        strides: SmallVec<[isize; 8]>,
        item: usize,
        data_type: Option<DataType>,
        is_read_only: bool,
        lender: Lender,
    ) -> PyResult<Elements> {
        let (mut before, mut span) = (0_usize, if sizes.contains(&0) { 0 } else { item });
        if span > 0 {
            if first.is_null() {
                return Err(odd("has elements and no address".into()));
            }
            for (&size, &stride) in sizes.iter().zip(&strides) {
                let reach = size.checked_sub(1).and_then(|last| last.checked_mul(stride.unsigned_abs()));
                let reach = reach.ok_or_else(too_large)?;
                span = span.checked_add(reach).filter(|&span| isize::try_from(span).is_ok()).ok_or_else(too_large)?;
                before = before.wrapping_add(if stride < 0 { reach } else { 0 });
            }
        }
        let (lanes, packed_bits) = (1, None);
        let _lender = lender;
        Ok(Elements { first, before, span, sizes, strides, item, lanes, packed_bits, data_type, is_read_only, _lender })
    }

    /// The distance from the lowest byte to index 0 of every axis, in bytes.
    pub(crate) fn first_byte(&self) -> usize {
        self.before
    }

    /// The address of the lowest byte.
    pub(crate) fn address(&self) -> usize {
        self.first.addr().wrapping_sub(self.before)
    }

    /// Returns all bytes from the lowest to the highest that an index touches.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.span {
            0 => &[],
            // SAFETY: the lender promises that every index of the array is valid, so these bytes are in one
            // allocation, which lives as long as `self`. Another thread may write the bytes while they are
            // read, as with every Python array. `bytes_mut` refuses overlapping ranges of the arrays of one
            // call.
            span => unsafe { std::slice::from_raw_parts(self.first.wrapping_sub(self.before), span) },
        }
    }

    /// Returns the [`bytes`](Self::bytes) for writing.
    pub(crate) fn bytes_mut(&mut self, source: &Elements) -> PyResult<&mut [u8]> {
        if self.is_read_only {
            return Err(refusal("read_only", "the array `out` is read-only"));
        }
        let (start, other) = (self.address(), source.address());
        if self.span > 0 && start < other.wrapping_add(source.span) && other < start.wrapping_add(self.span) {
            return Err(refusal("shared_memory", "`out` shares memory with the array: copy the array first"));
        }
        Ok(match self.span {
            0 => &mut [],
            // SAFETY: the argument in `bytes` holds here too. The lender promised that the memory is
            // writable, and it does not overlap the memory of `source`. New memory of NumPy is written before
            // it is read.
            span => unsafe { std::slice::from_raw_parts_mut(self.first.wrapping_sub(self.before), span) },
        })
    }

    /// Whether the elements are packed in the order of their indices.
    pub(crate) fn is_packed(&self) -> bool {
        let mut next = self.item;
        self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let fits = size <= 1 || usize::try_from(stride) == Ok(next);
            next = next.wrapping_mul(size);
            fits
        }) || self.span == 0
    }
}

/// Returns the tensor itself, or a tensor whose bytes are its values. PyTorch keeps a negation and a
/// conjugation as bits of the tensor, of which DLPack knows nothing.
fn with_own_bytes<'py>(array: &Bound<'py, PyAny>, is_written: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let mut resolved = array.clone();
    if !array.hasattr(intern!(py, "is_neg"))? {
        return Ok(resolved);
    }
    if array.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        return Err(refusal(
            "requires_grad",
            "the tensor requires grad, and a copy would leave its graph: pass tensor.detach()",
        ));
    }
    for (question, answer, what) in [("is_conj", "resolve_conj", "conjugate"), ("is_neg", "resolve_neg", "negative")] {
        if !resolved.call_method0(question)?.is_truthy()? {
            continue;
        }
        if is_written {
            let reason =
                format!("`out` has its {what} bit set, so that bytes written to it would be read as other values");
            return Err(refusal("bytes_are_not_values", &reason));
        }
        resolved = resolved.call_method0(answer)?;
    }
    Ok(resolved)
}

/// Returns the reason of the array's library as an error of this module.
fn not_lent(array: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = array.py();
    let is_own = error.is_instance_of::<LayoutError>(py);
    if is_own || !error.is_instance_of::<pyo3::exceptions::PyException>(py) {
        return error;
    }
    let kind = array.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    if error.value(py).to_string().contains("read-only") {
        return refusal("read_only", &format!("`out` cannot be written: {}", error.value(py)));
    }
    refusal("not_lent", &format!("{kind} does not lend its memory: {}", error.value(py)))
}

/// Returns the error for a buffer whose fields are not those that PEP 3118 allows, or describe no strides.
fn odd(what: String) -> PyErr {
    refusal("not_lent", &format!("the buffer {what}, and such memory is not read"))
}

fn count(what: &str, number: isize) -> PyResult<usize> {
    usize::try_from(number).map_err(|_| odd(format!("has {number} for {what}")))
}

fn objects() -> PyErr {
    refusal("python_objects", "the elements are Python objects, which are not bytes to be moved")
}

fn too_large() -> PyErr {
    refusal("overflow", "the array is larger than memory can be")
}

fn in_bytes(stride: i64, item: usize) -> PyResult<isize> {
    let item = isize::try_from(item).map_err(|_| too_large())?;
    isize::try_from(stride).ok().and_then(|stride| stride.checked_mul(item)).ok_or_else(too_large)
}

/// Returns the byte strides of packed row-major elements.
pub(crate) fn packed_strides(sizes: &[usize], item: usize) -> SmallVec<[isize; 8]> {
    let mut next = item;
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    for &size in sizes.iter().rev() {
        strides.push(isize::try_from(next).unwrap_or(isize::MAX));
        next = next.saturating_mul(size.max(1));
    }
    strides.reverse();
    strides
}

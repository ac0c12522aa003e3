//! Small arrays of NumPy, whose copies go through NumPy's C interface.
//!
//! A copy of 20 numbers takes less time than one call of a Python function. So the fields of the array are
//! read where they are, and the result is made by two calls of C: its memory, and the array that shows it.

use std::ffi::{c_int, c_long};
use std::ptr::{self, NonNull};

use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArray_Descr, PyArrayObject};
use numpy::npyffi::{get_type_object, npy_intp};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use tensor_layout::DataType;
use tensor_layout::relayout::{Destination, Strided, copy_strided};

use crate::copy::RELEASE_FROM;
use crate::error::refused;
use crate::memory::packed_strides;
use crate::new_array::{ALIGNMENT, Form, numpy};

/// The number of NumPy's type of unsigned bytes.
const UBYTE: c_int = 2;

type Strides = SmallVec<[isize; 8]>;

/// An array of NumPy of few bytes, of a type of NumPy's own in the order of bytes of this machine.
pub(crate) struct Small<'a, 'py> {
    array: &'a Bound<'py, PyAny>,
    data_type: DataType,
    item: usize,
    sizes: SmallVec<[usize; 8]>,
    /// The strides, in bytes.
    strides: Strides,
    /// The address of index 0 of every axis.
    first: *const u8,
    /// The distances from the lowest byte to `first`, and to the end of the highest.
    before: usize,
    span: usize,
    is_writable: bool,
    descr: *mut PyArray_Descr,
}

/// Returns the type for NumPy's number of a type.
fn type_of_number(number: c_int) -> Option<DataType> {
    use DataType::*;
    let long = size_of::<c_long>() == 8;
    Some(match number {
        0 => Pred,
        1 => S8,
        2 => U8,
        3 => S16,
        4 => U16,
        5 => S32,
        6 => U32,
        7 if long => S64,
        8 if long => U64,
        7 => S32,
        8 => U32,
        9 => S64,
        10 => U64,
        11 => F32,
        12 => F64,
        14 => C64,
        15 => C128,
        23 => F16,
        _ => return None,
    })
}

impl<'a, 'py> Small<'a, 'py> {
    /// Returns the fields of an array, or `None` for any other object and for larger arrays.
    pub(crate) fn of(array: &'a Bound<'py, PyAny>) -> Option<Self> {
        let py = array.py();
        let numpy = numpy(py).ok().filter(|numpy| numpy.has_known_fields)?;
        if !array.get_type().is(numpy.ndarray.bind(py)) {
            return None;
        }
        // SAFETY: an object of exactly this type begins with these fields in every version of NumPy
        // that has known fields. They do not change while the interpreter is attached and no Python code
        // runs, and nothing below runs any before the copy is done.
        let fields = unsafe { &(*array.as_ptr().cast::<PyArrayObject>()).fields };
        // SAFETY: the description of an array is alive as long as the array.
        let (number, order) = unsafe { ((*fields.descr).fields.type_num, (*fields.descr).fields.byteorder) };
        if !matches!(u8::try_from(order), Ok(b'=' | b'|')) {
            return None;
        }
        let rank = usize::try_from(fields.nd).ok()?;
        let numbers = |start: *const npy_intp| match rank {
            0 => &[][..],
            // SAFETY: `dimensions` and `strides` have `nd` numbers, which live as long as the array.
            _ => unsafe { std::slice::from_raw_parts(start, rank) },
        };
        let sizes = numbers(fields.dimensions).iter().map(|&size| usize::try_from(size).ok());
        let (sizes, strides) =
            (sizes.collect::<Option<SmallVec<[usize; 8]>>>()?, Strides::from(numbers(fields.strides)));
        let data_type = type_of_number(number)?;
        let item = usize::try_from(data_type.bits().div_euclid(8)).ok()?;
        let bytes = sizes.iter().try_fold(item, |bytes, &size| bytes.checked_mul(size))?;
        if bytes >= RELEASE_FROM || bytes == 0 {
            return None;
        }
        let (mut before, mut span) = (0_usize, item);
        for (&size, &stride) in sizes.iter().zip(&strides) {
            let reach = size.checked_sub(1)?.checked_mul(stride.unsigned_abs())?;
            if stride.checked_rem(isize::try_from(item).ok()?)? != 0 && size > 1 {
                return None;
            }
            span = span.checked_add(reach)?;
            before = before.wrapping_add(if stride < 0 { reach } else { 0 });
        }
        let (first, descr) = (fields.data.cast::<u8>().cast_const(), fields.descr);
        let is_writable = fields.flags & NPY_ARRAY_WRITEABLE != 0;
        Some(Small { array, data_type, item, sizes, strides, first, before, span, is_writable, descr })
    }

    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the elements are packed row-major.
    pub(crate) fn is_packed(&self) -> bool {
        let packed = packed_strides(&self.sizes, self.item);
        self.sizes.iter().zip(self.strides.iter().zip(&packed)).all(|(&size, (own, packed))| size <= 1 || own == packed)
    }

    /// Whether the strides nest, so that every index has an offset of its own.
    fn has_own_places(&self) -> bool {
        let axes = self.sizes.iter().zip(&self.strides).filter(|(size, _)| **size > 1);
        let mut axes: SmallVec<[(usize, usize); 8]> =
            axes.map(|(&size, stride)| (stride.unsigned_abs(), size)).collect();
        axes.sort_unstable();
        let mut reach = self.item;
        axes.into_iter().all(|(stride, size)| {
            let fits = stride >= reach;
            // The span, which is at least as large, was computed without overflow.
            reach = reach.wrapping_add(stride.wrapping_mul(size.wrapping_sub(1)));
            fits
        })
    }

    /// Returns the address of the lowest byte, and the offset of index 0 from it in elements.
    fn lowest(&self) -> (*const u8, usize) {
        (self.first.wrapping_sub(self.before), self.before.checked_div(self.item).unwrap_or(0))
    }

    fn strides_in_elements(&self) -> Strides {
        let item = isize::try_from(self.item).unwrap_or(1);
        self.strides.iter().map(|stride| stride.checked_div(item).unwrap_or(0)).collect()
    }

    /// Copies the elements into another array. Returns `false`, and copies nothing, if the arrays differ in
    /// sizes or type, share bytes, or cannot be shown to be writable without overlap. The caller then takes
    /// the path that reports errors.
    pub(crate) fn copy_into(&self, out: &Small<'_, '_>) -> PyResult<bool> {
        let ((from, first), (to, start)) = (self.lowest(), out.lowest());
        let is_apart =
            from.addr().wrapping_add(self.span) <= to.addr() || to.addr().wrapping_add(out.span) <= from.addr();
        let is_like = self.sizes == out.sizes && self.data_type == out.data_type;
        let Some(place) = NonNull::new(to.cast_mut()).filter(|_| is_like && is_apart && out.is_writable) else {
            return Ok(false);
        };
        if !out.has_own_places() {
            return Ok(false);
        }
        // SAFETY: every index of an array is in its memory, so all bytes from the lowest to the highest are.
        // Both arrays are alive, and no other thread runs Python code before the copy is done. The byte
        // ranges of the two arrays are disjoint (`is_apart`), and NumPy says that `out` may be written. Only
        // bytes of its elements are written.
        let (from, to) = unsafe {
            let to = Destination::write_only(NonNull::slice_from_raw_parts(place, out.span));
            (std::slice::from_raw_parts(from, self.span), to)
        };
        let (lent, own) = (self.strides_in_elements(), out.strides_in_elements());
        let sides = (Strided { strides: &lent, offset: first }, Strided { strides: &own, offset: start });
        copy_strided(self.data_type, &self.sizes, sides.0, sides.1, from, to).map_err(refused)?;
        Ok(true)
    }

    /// Returns a packed row-major copy.
    pub(crate) fn packed(&self) -> PyResult<Bound<'py, PyAny>> {
        let strides = packed_strides(&self.sizes, self.item);
        let bytes = self.sizes.iter().fold(self.item, |bytes, size| bytes.wrapping_mul(*size));
        self.copy(&strides, bytes, false)
    }

    /// Returns a copy in the form of a new array. `None` if the form has other sizes or another type, is not
    /// simple, or is too large.
    pub(crate) fn copy_as(&self, form: &Form) -> Option<PyResult<Bound<'py, PyAny>>> {
        let strides = form.strides.as_ref().filter(|_| form.is_simple && form.data_type == self.data_type)?;
        let bytes = usize::try_from(form.bytes).ok().filter(|&bytes| bytes < RELEASE_FROM)?;
        (form.sizes == self.sizes).then(|| self.copy(strides, bytes, form.has_padding))
    }

    /// Returns a copy in new memory of `bytes` bytes. `strides` are in bytes. If not all bytes belong to
    /// elements, `has_padding` must be set, and the memory is zeroed first.
    fn copy(&self, strides: &[isize], bytes: usize, has_padding: bool) -> PyResult<Bound<'py, PyAny>> {
        let (py, api) = (self.array.py(), &PY_ARRAY_API);
        let item = isize::try_from(self.item).unwrap_or(1);
        let own: Strides = strides.iter().map(|stride| stride.checked_div(item).unwrap_or(0)).collect();
        let (lent, (lowest, offset)) = (self.strides_in_elements(), self.lowest());
        let mut strides = Strides::from(strides);
        let mut sizes: SmallVec<[npy_intp; 8]> = self.sizes.iter().map(|&size| size.cast_signed()).collect();
        let (mut room, rank) = (bytes.wrapping_add(ALIGNMENT).cast_signed(), c_int::try_from(sizes.len())?);
        let none = ptr::null_mut();
        // SAFETY: NumPy's module is loaded, so this is its type of arrays.
        let ndarray = unsafe { get_type_object(py, NpyTypes::PyArray_Type) };
        // SAFETY: the list of sizes has one number, and null pointers stand for what NumPy chooses. The call
        // takes the reference `unsigned`, and returns a new reference, or null and an error.
        let memory = unsafe {
            let unsigned = api.PyArray_DescrFromType(py, UBYTE);
            let memory =
                api.PyArray_NewFromDescr(py, ndarray, unsigned, 1, &raw mut room, none, none.cast(), 0, none.cast());
            Bound::from_owned_ptr_or_err(py, memory)?
        };
        // SAFETY: the object is an array, because NumPy just made it as one.
        let start = unsafe { (*memory.as_ptr().cast::<PyArrayObject>()).fields.data.cast::<u8>() };
        let start = start.wrapping_add(start.addr().next_multiple_of(ALIGNMENT).wrapping_sub(start.addr()));
        let place = NonNull::new(start).ok_or_else(|| PyMemoryError::new_err("no memory"))?;
        // SAFETY: the memory has `ALIGNMENT` bytes more than `bytes`, and nobody else knows it yet.
        let to = unsafe {
            if has_padding {
                start.write_bytes(0, bytes);
            }
            Destination::write_only(NonNull::slice_from_raw_parts(place, bytes))
        };
        // SAFETY: every index of the array is in its memory, so all bytes from the lowest to the highest are.
        let from = unsafe { std::slice::from_raw_parts(lowest, self.span) };
        let sides = (Strided { strides: &lent, offset }, Strided { strides: &own, offset: 0 });
        copy_strided(self.data_type, &self.sizes, sides.0, sides.1, from, to).map_err(refused)?;
        // SAFETY: the lists have `rank` numbers, and no index leaves the memory at `start`. The call takes a
        // reference to `descr`, which is added for it, and returns a new reference, or null and an error.
        let array = unsafe {
            ffi::Py_INCREF(self.descr.cast());
            let (sizes, strides, start) = (sizes.as_mut_ptr(), strides.as_mut_ptr(), start.cast());
            let flags = NPY_ARRAY_WRITEABLE;
            let array =
                api.PyArray_NewFromDescr(py, ndarray, self.descr, rank, sizes, strides, start, flags, none.cast());
            Bound::from_owned_ptr_or_err(py, array)?
        };
        // SAFETY: both objects are arrays. The call takes the reference to the memory, also if it fails.
        if unsafe { api.PyArray_SetBaseObject(py, array.as_ptr().cast(), memory.into_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

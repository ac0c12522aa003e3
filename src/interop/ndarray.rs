//! `ndarray`: descriptors of arrays, arrays over buffers, and copies between arrays and buffers of any
//! layout.
//! ```
//! use tensor_layout::interop::ndarray::{array_from_bytes, view, view_mut};
//! use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
//!
//! let columns = BufferTensorDesc::new(DataType::U16, &[2, 3], Some(&[1, 2]))?;
//! let mut buffer = [1_u16, 4, 2, 5, 3, 6];
//! view_mut(&columns, &mut buffer)?[[0, 0]] = 7;
//! assert_eq!(view(&columns, &buffer)?[[0, 0]], 7);
//! // A tiled layout is not a view: its elements are copied.
//! let tiled: ArrayShape = "u16[1,3]{1,0:T(2,2)}".parse()?;
//! let array = array_from_bytes::<u16>(&tiled, &[1, 0, 2, 0, 9, 9, 9, 9, 3, 0, 9, 9, 9, 9, 9, 9])?;
//! assert_eq!(array.as_slice(), Some(&[1, 2, 3][..]));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use ndarray::{ArrayRef, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, ShapeBuilder};

use crate::checked::{ELEMENTS, OFFSET, Proven, narrow};
use crate::error::Error;
use crate::strided::{BufferTensorDesc, OVERLAP_WORK_LIMIT, Overlap};

use super::native::NativeElement;

#[cfg(feature = "relayout")]
mod relayout;

#[cfg(feature = "relayout")]
pub use relayout::{array_from_bytes, relayout_array};

/// Returns the descriptor of an array (or of a view), for a buffer that begins with the first element.
///
/// # Errors
///
/// `negative` for a reversed axis, because DirectML's strides are unsigned.
/// [`BufferTensorDesc::from_signed`] lists reversed axes beside the descriptor.
///
/// ```
/// use ndarray::{arr2, s};
/// use tensor_layout::interop::ndarray::describe;
///
/// let array = arr2(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!(describe(&array.t())?.to_string(), "f32[3,2]:[1,3]");
/// assert_eq!(describe(&array.slice(s![.., ..;-1])).unwrap_err().code(), "negative");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn describe<A: NativeElement, D: Dimension>(array: &ArrayRef<A, D>) -> Result<BufferTensorDesc, Error> {
    BufferTensorDesc::from_signed(A::DATA_TYPE, array.shape(), array.strides())?.forwards()
}

/// Inverts the reversed axes of a view that are longer than 1, and returns their numbers.
fn forwards<A, D: Dimension>(mut view: ArrayView<'_, A, D>) -> (ArrayView<'_, A, D>, Vec<usize>) {
    let steps = view.shape().iter().zip(view.strides()).enumerate();
    let backwards = steps.filter(|&(_, (&size, &stride))| size > 1 && stride < 0);
    let axes: Vec<usize> = backwards.map(|(axis, _)| axis).collect();
    axes.iter().for_each(|&axis| view.invert_axis(Axis(axis)));
    (view, axes)
}

/// Returns a read-only array over a buffer of elements. Indices may share elements.
///
/// # Errors
///
/// `data_type_mismatch`, `buffer_too_short`, and `overflow` if a stride does not fit `isize`.
pub fn view<'a, A: NativeElement>(desc: &BufferTensorDesc, buffer: &'a [A]) -> Result<ArrayViewD<'a, A>, Error> {
    let Shape { sizes, strides, start } = check::<A>(desc, buffer.len())?;
    let elements = buffer.get(start..).unwrap_or_default();
    ArrayViewD::from_shape(IxDyn(&sizes).strides(IxDyn(&strides)), elements)
        .map_err(|error| Error::not_expressible("array view", error.to_string()))
}

/// Returns a mutable array over a buffer of elements with the layout `desc`. `bytemuck::try_cast_slice_mut`
/// converts bytes to elements.
///
/// # Errors
///
/// The errors of [`view`]; `overlapping_destination` or `undecided`; `not_expressible` for the few layouts
/// without overlap that ndarray's own test rejects, such as `[3,4]:[4,3]`.
///
/// ```
/// use tensor_layout::{interop::ndarray::view_mut, BufferTensorDesc, DataType};
///
/// let mut buffer = [0_u8; 8];
/// let desc = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[5, 1]))?;
/// view_mut(&desc, &mut buffer)?.fill(1);
/// assert_eq!(buffer, [1, 1, 1, 0, 0, 1, 1, 1]);
/// let broadcast = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[0, 1]))?;
/// assert_eq!(view_mut(&broadcast, &mut buffer).unwrap_err().code(), "overlapping_destination");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn view_mut<'a, A: NativeElement>(
    desc: &BufferTensorDesc,
    buffer: &'a mut [A],
) -> Result<ArrayViewMutD<'a, A>, Error> {
    let Shape { sizes, strides, start } = check::<A>(desc, buffer.len())?;
    match desc.overlap() {
        Overlap::No => {}
        Overlap::Yes { first, second, offset } => return Err(Error::overlapping_destination(&first, &second, offset)),
        Overlap::Undecided => {
            return Err(Error::undecided("whether the layout overlaps", OVERLAP_WORK_LIMIT));
        }
    }
    let elements = buffer.get_mut(start..).unwrap_or_default();
    ArrayViewMutD::from_shape(IxDyn(&sizes).strides(IxDyn(&strides)), elements).map_err(|_| {
        let reason = String::from("no two indices share an element, but ndarray's own quick test cannot tell");
        Error::not_expressible("mutable array view", reason)
    })
}

struct Shape {
    sizes: Vec<usize>,
    strides: Vec<usize>,
    /// The index in the buffer of the tensor's first element.
    start: usize,
}

/// Checks the type and the length of a buffer, and that ndarray can represent the sizes and strides.
fn check<A: NativeElement>(desc: &BufferTensorDesc, length: usize) -> Result<Shape, Error> {
    if desc.data_type() != A::DATA_TYPE {
        return Err(Error::data_type_mismatch(A::DATA_TYPE.xla_name(), desc.data_type().xla_name()));
    }
    let found: u64 = narrow(length, ELEMENTS)?;
    if desc.span_elements() > found {
        let in_bytes = |elements: u64| elements.times(u64::from(desc.data_type().bits()).div_euclid(8));
        return Err(Error::buffer_too_short("buffer", in_bytes(desc.span_elements()), in_bytes(found)));
    }
    // ndarray requires a product of the sizes below `isize::MAX`, even if strides of 0 make the buffer small.
    let _: isize = narrow(desc.element_count(), ELEMENTS)?;
    let empty = desc.element_count() == 0;
    // Strides that are never used may be too large for ndarray, so they become 0.
    let used = desc.sizes().iter().zip(desc.strides()).map(|(&n, &s)| if n <= 1 || empty { 0 } else { s });
    let strides: Vec<u64> = used.collect();
    Ok(Shape {
        sizes: to_usize(desc.sizes())?,
        strides: to_usize(&strides)?,
        start: if empty { 0 } else { narrow(desc.base_offset(), OFFSET)? },
    })
}

fn to_usize(numbers: &[u64]) -> Result<Vec<usize>, Error> {
    numbers.iter().map(|&number| narrow::<isize>(number, ELEMENTS).and_then(|n| narrow(n, ELEMENTS))).collect()
}

//! Copies arrays into buffers of any layout, and buffers into arrays.

use ndarray::{ArrayD, ArrayRef, Axis, Dimension, IxDyn};

use crate::checked::{BYTES, Proven, narrow};
use crate::error::{Code, Error};
use crate::interop::native::NativeElement;
use crate::map::{IndexMap, ToIndexMap};
use crate::relayout::{Relayout, Settings};
use crate::strided::BufferTensorDesc;

use super::{describe, forwards, to_usize};

/// Copies the elements of an array (or of a view) to a new buffer with the layout `layout`. Padding is zero.
///
/// Views that are permuted, reversed or broadcast are read where they are stored. A view that leaves out
/// elements is packed first, because the memory between its elements may be borrowed mutably by other code.
///
/// # Errors
///
/// The errors of [`Relayout::new`]; `element_bits_mismatch` if an element has another width in the layout
/// than in Rust; `overflow` if there is no memory for the buffer.
///
/// ```
/// use ndarray::arr2;
/// use tensor_layout::{interop::ndarray::relayout_array, ArrayShape};
///
/// let array = arr2(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let tiled: ArrayShape = "f32[2,3]{1,0:T(2,2)}".parse()?;
/// assert_eq!(relayout_array(&array.t(), &tiled)?, [1.0, 3.0, 2.0, 4.0, 5.0, 0.0, 6.0, 0.0]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn relayout_array<A: NativeElement, D: Dimension>(
    array: &ArrayRef<A, D>,
    layout: &impl ToIndexMap,
) -> Result<Vec<A>, Error> {
    // A repeated axis is stored once, so only its first index is kept.
    let mut once = array.view().into_dyn();
    let repeated = array.shape().iter().zip(array.strides()).map(|(&size, &stride)| size > 1 && stride == 0);
    for (axis, _) in repeated.enumerate().filter(|&(_, repeated)| repeated) {
        once.collapse_axis(Axis(axis), 0);
    }
    let sizes: Vec<u64> = array.shape().iter().map(|&size| narrow(size, BYTES)).collect::<Result<_, _>>()?;
    let (once, reversed) = forwards(once);
    if let (Ok(desc), Some(elements)) = (describe(&once), once.as_slice_memory_order()) {
        return run(&desc.broadcast_to(&sizes)?, &reversed, elements, layout);
    }
    let packed: Vec<A> = array.iter().copied().collect();
    run(&BufferTensorDesc::packed(A::DATA_TYPE, &sizes)?, &[], &packed, layout)
}

/// Copies the tensor in a buffer with the layout `layout` to a new array in standard (row-major) order. The
/// bytes may begin at any address; `bytemuck::cast_slice` makes bytes of elements.
///
/// # Errors
///
/// The errors of [`relayout_array`], and `buffer_too_short` if the buffer ends before the layout does.
pub fn array_from_bytes<A: NativeElement>(layout: &impl ToIndexMap, buffer: &[u8]) -> Result<ArrayD<A>, Error> {
    let map = layout.to_index_map()?;
    let packed = BufferTensorDesc::packed(A::DATA_TYPE, map.sizes())?.to_index_map()?.with_total(0);
    let relayout = Relayout::new(&map, &packed)?;
    check_width::<A>(&map)?;
    let mut elements = zeros::<A>(relayout.destination_size_in_bytes())?;
    relayout.run(buffer, bytemuck::cast_slice_mut(&mut elements))?;
    ArrayD::from_shape_vec(IxDyn(&to_usize(map.sizes())?), elements)
        .map_err(|error| Error::not_expressible("array", error.to_string()))
}

fn run<A: NativeElement>(
    desc: &BufferTensorDesc,
    reversed: &[usize],
    elements: &[A],
    layout: &impl ToIndexMap,
) -> Result<Vec<A>, Error> {
    // The array has the elements alone. The size of a descriptor may be rounded up.
    let map = layout.to_index_map()?.with_total(0);
    let relayout =
        Relayout::with_settings(desc, &map, &Settings { reversed: reversed.to_vec(), ..Settings::default() })?;
    check_width::<A>(&map)?;
    let mut buffer = zeros(relayout.destination_size_in_bytes())?;
    relayout.run(bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(&mut buffer))?;
    Ok(buffer)
}

fn check_width<A>(map: &IndexMap) -> Result<(), Error> {
    let expected = map.element_bits();
    let found: u32 = narrow(size_of::<A>().times(8), BYTES)?;
    if found == expected { Ok(()) } else { Err(Code::ElementBitsMismatch.for_value(found.into(), expected.into())) }
}

fn zeros<A: NativeElement>(bytes: u64) -> Result<Vec<A>, Error> {
    let bytes: usize = narrow(bytes, BYTES)?;
    let count = bytes.div_ceil(size_of::<A>());
    let mut elements = Vec::new();
    // A layout may describe more elements than fit in memory. That must be an error, not the end of the
    // process.
    elements.try_reserve_exact(count).map_err(|_| Error::overflow(BYTES, usize::BITS))?;
    elements.resize(count, A::zeroed());
    Ok(elements)
}

//! The size of the buffer of an array.

use tensor_layout::{ArrayShape, Error, checked};

/// Returns the size of the buffer of an array, in bytes. If an array has dynamic dimensions, its buffer also
/// stores their current sizes. The CPU and GPU backends of XLA append four bytes for each dimension
/// (`ShapeUtil::ByteSizeOf` with `CpuExecutable::ShapeSizeBytes`). A TPU stores the sizes in the prefix
/// `M(n)` of the layout.
pub(crate) fn buffer_bytes(array: &ArrayShape) -> Result<u64, Error> {
    let bytes = array.buffer_size_in_bytes()?;
    let layout = array.layout();
    let appended = array.dynamic().contains(&true) && layout.tiles().is_empty() && layout.metadata_prefix_bytes == 0;
    let dimensions: u64 = checked::narrow(array.rank(), "the number of dimensions")?;
    if appended { checked::add(bytes, dimensions.saturating_mul(4), "the bytes of a buffer") } else { Ok(bytes) }
}

/// Returns the size of the buffer of an array in bytes, as a backend stores it that knows no tiles: JAX's CPU
/// backend ignores the tiles of a layout (jaxlib 0.10.2).
pub(crate) fn bytes_without_tiles(array: &ArrayShape) -> Result<u64, Error> {
    if array.layout().tiles().is_empty() { buffer_bytes(array) } else { array.logical_size_in_bytes() }
}

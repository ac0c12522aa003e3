//! The size of the buffer of an array, and sizes in bytes as text.

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

/// Writes a number of bytes as `96 B`, `4.0 KiB` or `1.5 GiB`, rounded to the nearest tenth.
///
/// ```
/// use tensor_layout_hlo::short_bytes;
///
/// assert_eq!([short_bytes(96_u64), short_bytes(4096_u64), short_bytes(1_u128 << 40)], ["96 B", "4.0 KiB", "1.0 TiB"]);
/// assert_eq!([short_bytes(2040_u64), short_bytes((1_u64 << 20) - 1)], ["2.0 KiB", "1.0 MiB"]);
/// ```
#[must_use]
pub fn short_bytes(bytes: impl Into<u128>) -> String {
    let bytes = bytes.into();
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let tenths_of = |shift: u32| {
        let half = 1_u128.checked_shl(shift.saturating_sub(1)).unwrap_or(0);
        bytes.saturating_mul(10).saturating_add(half).checked_shr(shift).unwrap_or(0)
    };
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut scaled = (10_u32..).step_by(10).zip(units).map(|(shift, unit)| (tenths_of(shift), unit));
    let (tenths, unit) = scaled.find(|(tenths, unit)| *tenths < 10_240 || *unit == "EiB").unwrap_or((0, "KiB"));
    format!("{}.{} {unit}", tenths.div_euclid(10), tenths.rem_euclid(10))
}

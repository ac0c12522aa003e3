//! Which dimension of an array is padded most, and how large the array is in the layout that a TPU would
//! choose.

use tensor_layout::ArrayShape;
use tensor_layout::tiled::{TileSize, TpuGeneration};

use crate::bytes::buffer_bytes;

/// The dimension of an array that is padded most.
///
/// ```
/// use tensor_layout_hlo::PaddedDimension;
///
/// let shape: tensor_layout::ArrayShape = "s32[8388608,8,4]{2,1,0:T(8,128)}".parse()?;
/// let PaddedDimension { axis, size, stored, .. } = PaddedDimension::of(&shape).ok_or("no padding")?;
/// assert_eq!((axis, size, stored), (2, 4, 128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PaddedDimension {
    /// The number of the dimension, counted from 0 in the order of the shape.
    pub axis: usize,
    /// The size of the dimension without padding, in elements.
    pub size: u64,
    /// The size of the dimension with padding, in elements: the next multiple of the tile's size.
    pub stored: u64,
}

impl PaddedDimension {
    /// Returns the dimension whose size the first tile increases by the largest factor. `None` if no
    /// dimension is padded.
    #[must_use]
    pub fn of(shape: &ArrayShape) -> Option<PaddedDimension> {
        let layout = shape.layout();
        let tile = layout.tiles().first()?;
        let fastest_first = layout.minor_to_major().iter().zip(tile.entries().iter().rev());
        let padded = fastest_first.filter_map(|(&axis, entry)| {
            let (TileSize::Size(tile), &size) = (*entry, shape.sizes().get(axis)?) else { return None };
            let stored = size.max(1).checked_next_multiple_of(tile.get())?;
            (stored > size).then_some(PaddedDimension { axis, size, stored })
        });
        // Factors are compared by cross-multiplication, because a size may be 0.
        let product = |a: u64, b: u64| u128::from(a).saturating_mul(b.into());
        padded.reduce(|a, b| if product(b.stored, a.size) > product(a.stored, b.size) { b } else { a })
    }
}

/// Returns the array in the layout that the compiler of a TPU would choose, and the size of that buffer in
/// bytes. `None` if the buffer would not be smaller.
///
/// ```
/// use tensor_layout::tiled::TpuGeneration;
/// use tensor_layout_hlo::smaller_layout;
///
/// let (other, bytes) = smaller_layout(&"f32[5000,1]{1,0:T(8,128)}".parse()?, TpuGeneration::V5e).unwrap();
/// assert_eq!((other.to_string().as_str(), bytes), ("f32[5000,1]{0,1:T(1,128)}", 20_480));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn smaller_layout(shape: &ArrayShape, generation: TpuGeneration) -> Option<(ArrayShape, u64)> {
    let own = buffer_bytes(shape).ok()?;
    let other = shape.clone().with_tpu_layout(generation).ok()?;
    let bytes = buffer_bytes(&other).ok()?;
    (bytes < own).then_some((other, bytes))
}

//! Conversion of strides to tiles, where tiles spell the strides exactly.

use smallvec::SmallVec;

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES, Exact};
use tensor_layout::map::ToIndexMap;
use tensor_layout::strided::BufferTensorDesc;
use tensor_layout::tiled::{ArrayShape, Layout, Tile};

use super::spell;

/// A strided tensor as a tiled shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The tiled shape. Every element is stored where the strides put it.
    pub shape: ArrayShape,
    /// The number of bytes by which the tiled buffer is longer than DirectML's minimum size for the strided
    /// tensor. XLA counts the padding after the last row and DirectML does not.
    pub bytes_past_minimum: u64,
}

/// Finds the tiled layout that puts every element where the descriptor's strides put it.
///
/// A tiled layout without `*` exists under one condition. Sort the strides of the axes longer than 1 in
/// ascending order. Each stride must divide the next one, and their ratio must be at least the size of the
/// axis with the smaller stride. Packed strides need no tile. A row pitch becomes a tile as long as the
/// pitch, and a smallest stride s above 1 is spelled `(1)(s)`. [`spell`](super::spell) finds the same
/// spelling for the same offsets.
///
/// A total size above DirectML's minimum becomes the size of the tiled buffer. A tiled shape that was lowered
/// by [`lower`](tensor_layout::lower) and is then raised therefore keeps its size.
///
/// # Errors
///
/// `not_expressible` names the axis and the strides for which no tiles exist, or the base offset.
/// `overflow` if the tiled buffer, including the padding after its last row, passes 64 bits.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType};
/// use tensor_layout_text::raise;
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
/// let raised = raise(&desc)?;
/// assert_eq!(raised.shape.to_string(), "f32[2,3]{1,0:T(5)}");
/// assert_eq!(raised.bytes_past_minimum, 8);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn raise(desc: &BufferTensorDesc) -> Result<Raised, Error> {
    let refuse = |reason: String| Error::not_expressible("tiled layout", reason);
    if desc.base_offset() != 0 {
        return Err(refuse(format!("it begins {} elements into its buffer, and tiles begin at 0", desc.base_offset())));
    }
    // The axes longer than 1 with their sizes and strides, the smallest stride first.
    let all = || desc.sizes().iter().zip(desc.strides()).enumerate();
    let is_live = |size: u64| size > 1 && desc.element_count() > 0;
    let mut live: SmallVec<[(usize, u64, u64); 8]> =
        all().filter(|&(_, (&size, _))| is_live(size)).map(|(axis, (&size, &stride))| (axis, size, stride)).collect();
    // The sort is stable, so that equal strides are reported in the order of the axes.
    live.sort_by_key(|&(_, _, stride)| stride);
    if let Some((axis, ..)) = live.iter().find(|&&(_, _, stride)| stride == 0) {
        return Err(refuse(format!(
            "axis {axis} is broadcast (stride 0), and in tiles every element has a place of its own"
        )));
    }
    let mut pitches: SmallVec<[u64; 8]> = SmallVec::new();
    for (&(axis, size, stride), &(next, _, next_stride)) in live.iter().zip(live.iter().skip(1)) {
        let pitch = next_stride.checked_div(stride).unwrap_or(0);
        if next_stride.checked_rem(stride) != Some(0) {
            return Err(refuse(format!(
                "stride {next_stride} of axis {next} is not a multiple of stride {stride} of axis {axis}"
            )));
        }
        if pitch < size {
            return Err(refuse(format!(
                "stride {next_stride} of axis {next} leaves room for {pitch} steps of axis {axis}, which has size {size}"
            )));
        }
        pitches.push(pitch);
    }
    let mut order: SmallVec<[usize; 8]> = live.iter().map(|&(axis, ..)| axis).collect();
    order.extend(all().rev().filter(|&(_, (&size, _))| !is_live(size)).map(|(axis, _)| axis));
    pitches.reverse();
    let mut tiles: SmallVec<[Tile; 2]> = SmallVec::new();
    if !pitches.is_empty() {
        tiles.push(Tile::new(&pitches)?);
    }
    if let Some(&(_, _, smallest)) = live.first() {
        tiles.extend([Tile::new(&[1])?, Tile::new(&[smallest])?]);
    }
    // Tiles that change nothing may be among these, and the element width is written for every type.
    // `shortest` removes both.
    let mut layout = Layout::new(&order)?.with_tiles(&tiles);
    layout.element_bits = Some(desc.data_type().bits());
    let shape = shortest(desc, ArrayShape::new(desc.data_type(), desc.sizes(), layout)?)?;
    let tiled_size = checked::round_up(shape.to_index_map()?.physical_size_in_bytes(), 4, BYTES)?;
    Ok(Raised { shape, bytes_past_minimum: tiled_size.minus(desc.min_size_in_bytes()) })
}

/// Returns the shortest spelling of a shape that puts the elements where the descriptor's strides put them.
/// The spelling has the total size of the descriptor if this size is above the minimum and a layout can have
/// this size. Otherwise the spelling has the size of the shape.
fn shortest(desc: &BufferTensorDesc, shape: ArrayShape) -> Result<ArrayShape, Error> {
    if desc.total_tensor_size_in_bytes() > desc.min_size_in_bytes()
        && let Ok(whole) = spell(&desc.to_index_map()?)
    {
        return Ok(whole);
    }
    Ok(spell(&shape.to_index_map()?).unwrap_or(shape))
}

//! Strides, index maps and views as XLA layouts.

mod carried;
pub(crate) mod memory_order;
pub(crate) mod tiles;

use tensor_layout::checked::{self, BYTES, OFFSET, Proven};
use tensor_layout::{ArrayShape, BufferTensorDesc, Error, IndexMap, ToIndexMap};

use carried::Wanted;
use memory_order::{MemoryOrder, Room};
use tiles::{Blocked, radix_sort};

/// A strided tensor as a tiled shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The tiled shape. Every element is stored where the strides put it.
    pub shape: ArrayShape,
    /// The number of bytes by which the tiled buffer is longer than DirectML's minimum size for the strided
    /// tensor. XLA counts the padding after the last row and DirectML does not.
    pub bytes_past_minimum: u64,
}

/// Finds the tiled layout that puts every element where the descriptor's strides put it: the inverse of
/// [`lower`](tensor_layout::lower).
///
/// A tiled layout without `*` exists under one condition. Sort the strides of the axes longer than 1 in
/// ascending order. Each stride must divide the next one, and their ratio must be at least the size of the
/// axis with the smaller stride. Packed strides need no tile, and a row pitch becomes a tile as long as the
/// pitch.
///
/// A total size above DirectML's minimum becomes the size of the tiled buffer. A tiled shape that was lowered
/// and is then raised therefore keeps its size.
///
/// **Post-condition** (`raising_keeps_every_offset`): every index has the same offset.
///
/// # Errors
///
/// `not_expressible` names the axis and the strides for which no tiles exist, or the base offset. `overflow`
/// if the tiled buffer, including the padding after its last row, passes 64 bits.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType};
/// use tensor_layout_text::to_xla;
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
/// let raised = to_xla(&desc)?;
/// assert_eq!(raised.shape.to_string(), "f32[2,3]{1,0:T(5)}");
/// assert_eq!(raised.bytes_past_minimum, 8);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn to_xla(desc: &BufferTensorDesc) -> Result<Raised, Error> {
    let map = desc.to_index_map()?;
    let has_total = desc.total_tensor_size_in_bytes() > desc.min_size_in_bytes();
    let shape = match to_xla_exact(&map) {
        Ok(exact) if has_total => exact,
        _ => {
            // The buffer ends with a whole step of the largest stride.
            let steps = desc.sizes().iter().zip(desc.strides()).filter(|&(&size, _)| size > 1);
            let ends =
                steps.map(|(&size, &stride)| checked::mul(size, stride, OFFSET)).collect::<Result<Vec<_>, _>>()?;
            let end = ends.into_iter().max().unwrap_or(1).max(map.span_elements());
            let is_empty = map.element_count() == 0;
            let elements = if is_empty { map.physical_elements() } else { end };
            to_xla_exact(&map.with_physical_elements(elements)?.with_gap_owner(desc.gap_owner()))?
        }
    };
    let tiled_size = checked::round_up(shape.to_index_map()?.physical_size_in_bytes(), 4, BYTES)?;
    Ok(Raised { shape, bytes_past_minimum: tiled_size.minus(desc.min_size_in_bytes()) })
}

/// Returns a tiled layout with the offsets, the element width and the physical size of a map, in whatever
/// order its digits are stored.
///
/// The function spells every Affine or Split map that begins at 0 and whose strides divide each other in
/// order. A gap inside a block must be padding of another dimension. All oneDNN formats, reshapes and
/// permutations of tiled arrays, and dense views are maps of this kind. Layouts in blocks and layouts of a
/// TPU have few tiles, and the shortest text wins; other orders of digits take a tile for each bit of a
/// digit's position. For a view of an array with a known layout, [`view_to_xla`] finds the spelling that its
/// compiler would choose.
///
/// # Errors
///
/// `not_expressible` names the stride, gap or base offset that tiles cannot spell.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::to_xla_exact;
///
/// let tiled = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(to_xla_exact(&tiled.permute(&[1, 0])?)?.to_string(), "f32[256,16]{0,1:T(8,128)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn to_xla_exact(map: &IndexMap) -> Result<ArrayShape, Error> {
    shortest(Wanted::new(map))
}

/// Returns the layout of a view of `operand`, spelled as a compiler spells it. `map` says where the elements
/// of the view are stored.
///
/// The candidates are tried in this order, and the first candidate that matches the map is returned:
///
/// 1. The operand itself.
/// 2. The tiles that the rule of [`with_tpu_tiles`](ArrayShape::with_tpu_tiles) gives for the sizes of the
///    view, if the operand's tiles follow the same rule for the operand's sizes. Where several orders of the
///    dimensions are possible, an order that keeps the operand's tiles is preferred.
/// 3. The operand's tiles, unchanged.
/// 4. The tiles that the rules of other TPU generations give, if the operand has tiles.
/// 5. The spelling that [`to_xla_exact`] gives.
///
/// The view keeps the memory space, the tail alignment, the element width and the other attributes of the
/// operand's layout. A dimension that is neither divided nor joined keeps its bound (`<=5`). Every result has
/// been compared with the map.
///
/// # Errors
///
/// `not_expressible` names the stride, gap or base offset that tiles cannot spell. The same error is
/// returned if dimensions of the operand are divided among several memories (`SC(..)`). `overflow`
/// if the padded size of the operand passes 64 bits.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::view_to_xla;
///
/// let operand: ArrayShape = "f32[16,256]{1,0:T(8,128)S(1)}".parse()?;
/// let view = |sizes: &[u64]| view_to_xla(&operand.to_index_map()?.reshape(sizes)?, &operand);
/// assert_eq!(view(&[16, 256])?.to_string(), "f32[16,256]{1,0:T(8,128)S(1)}");
/// assert_eq!(view(&[2, 8, 256])?.to_string(), "f32[2,8,256]{2,1,0:T(8,128)S(1)}");
/// assert_eq!(view(&[16, 2, 128])?.to_string(), "f32[16,2,128]{2,1,0:T(8,1,128)S(1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn view_to_xla(map: &IndexMap, operand: &ArrayShape) -> Result<ArrayShape, Error> {
    let own = operand.to_index_map()?;
    if carried::is_spelling(operand, map) {
        return Ok(operand.clone());
    }
    let wanted = Wanted::view(map, &own, operand);
    if let Some(shape) = carried::in_tiles_of(operand, &wanted) {
        return Ok(shape);
    }
    // A slice that begins at 0 ends before its buffer does, so the end of the buffer becomes padding.
    let ends_early = wanted.padded_to_the_buffer().filter(|_| !operand.layout().tiles().is_empty());
    let shape = ends_early.and_then(|wanted| carried::in_tiles_of(operand, &wanted));
    shape.map_or_else(|| shortest(wanted), Ok)
}

/// Returns the shortest of a few spellings. Where tiles do not fill the buffer, the end is padded to the size
/// of the buffer.
fn shortest(wanted: Wanted<'_>) -> Result<ArrayShape, Error> {
    let refuse = |reason: String| Error::not_expressible("tiled layout", reason);
    let map = wanted.map();
    let mut spellings = Vec::new();
    for room in [Room::Buffer, Room::Digits] {
        let memory = MemoryOrder::new(map, room).map_err(refuse)?;
        let (mut order, tiles) = match Blocked::of(map.sizes(), &memory) {
            Ok(blocked) => {
                let blocked = blocked.with_all_dimensions(map.sizes().len());
                (blocked.outer.clone(), blocked.tiles()?)
            }
            Err(_) => radix_sort(map.sizes(), &memory)?,
        };
        if tiles.is_empty() {
            order = carried::near_row_major(map, &carried::by_stride(map));
            // No text is shorter than a layout without tiles and tail alignment.
            let plain = wanted.spelling(&order, &[]).filter(|shape| shape.layout().tail_padding_alignment <= 1);
            if let Some(plain) = plain {
                return Ok(plain);
            }
        }
        spellings.push((order, tiles));
    }
    // XLA ignores the tail alignment of a layout without tiles, so this layout is ranked last.
    let length = |shape: &ArrayShape| {
        let tiles = shape.layout().tiles().len();
        (tiles == 0 && shape.layout().tail_padding_alignment > 1, tiles, shape.to_string().len())
    };
    let candidates = |wanted: Wanted<'_>| {
        let mut shapes: Vec<ArrayShape> = carried::as_on_a_tpu(&wanted).into_iter().collect();
        shapes.extend(spellings.iter().filter_map(|(order, tiles)| wanted.spelling(order, tiles)));
        shapes
    };
    let padded = wanted.padded_to_the_buffer();
    // `min_by_key` returns the first of several spellings of equal length.
    let found = [Some(wanted), padded].into_iter().flatten().flat_map(candidates).min_by_key(length);
    found.ok_or_else(|| refuse("its buffer is not as large as its digits".into()))
}

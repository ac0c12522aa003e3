//! Spells index maps as XLA layouts, with the shortest text that describes the map.

mod carried;
mod fewest_levels;
mod memory_order;
mod radix;
mod raise;
mod wanted;

pub use raise::{Raised, raise};

use tensor_layout::Error;
use tensor_layout::map::{IndexMap, ToIndexMap};
use tensor_layout::tiled::{ArrayShape, Tile};

use memory_order::{MemoryOrder, Room, refuse};
use wanted::Wanted;

/// The most tiles that are tried to find the shortest spelling of one map. A map of two or three digits takes
/// a few dozen tries, and the whole limit takes some ten milliseconds. When the limit is reached, the
/// spelling is longer than necessary.
///
/// ```
/// use tensor_layout_text::spell;
/// use tensor_layout_text::SPELLING_SEARCH_LIMIT;
/// use tensor_layout::{ArrayShape, ToIndexMap};
///
/// // Two digits to place: far below the limit.
/// let map = "f32[4,8]{1,0:T(2,4)(2,1)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(spell(&map)?.to_index_map()?, map);
/// assert_eq!(SPELLING_SEARCH_LIMIT, 16_384);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub const SPELLING_SEARCH_LIMIT: usize = 1 << 14;

/// Returns the shortest tiled layout with the offsets, the element width and the physical size of a map, in
/// whatever order its digits are stored.
///
/// The function spells every Affine or Split map that begins at 0 and whose strides divide each other in
/// order. A gap inside a block must be padding of another dimension. All oneDNN formats, reshapes and
/// permutations of tiled arrays, and dense views are maps of this kind.
///
/// Without padding, the spelling has as few tiles as possible. Among several spellings with equally few
/// tiles, the shortest text wins. A gap is spelled as padding of one dimension, or as two tiles for a
/// smallest stride. Another spelling of the gap may be shorter (`T(2,1)` is spelled `T(1)(2)`). The search
/// stops after [`SPELLING_SEARCH_LIMIT`] tiles. Then a radix sort, which always succeeds, gives a longer
/// spelling. For a view of an array with a known layout, [`spell_view`] finds the spelling that its compiler
/// would choose.
///
/// # Errors
///
/// `not_expressible` names the stride, gap or base offset that tiles cannot spell.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::spell;
///
/// let tiled = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(spell(&tiled.permute(&[1, 0])?)?.to_string(), "f32[256,16]{0,1:T(8,128)}");
/// // As one dimension it has four digits, and the two in the middle have to change places.
/// assert_eq!(spell(&tiled.reshape(&[4096])?)?.to_string(), "f32[4096]{0:T(256)(8,128)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn spell(map: &IndexMap) -> Result<ArrayShape, Error> {
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
/// 5. The shortest spelling, as [`spell`] gives it.
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
/// use tensor_layout_text::spell_view;
///
/// let operand: ArrayShape = "f32[16,256]{1,0:T(8,128)S(1)}".parse()?;
/// let view = |sizes: &[u64]| spell_view(&operand.to_index_map()?.reshape(sizes)?, &operand);
/// assert_eq!(view(&[16, 256])?.to_string(), "f32[16,256]{1,0:T(8,128)S(1)}");
/// assert_eq!(view(&[2, 8, 256])?.to_string(), "f32[2,8,256]{2,1,0:T(8,128)S(1)}");
/// assert_eq!(view(&[16, 2, 128])?.to_string(), "f32[16,2,128]{2,1,0:T(8,1,128)S(1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn spell_view(map: &IndexMap, operand: &ArrayShape) -> Result<ArrayShape, Error> {
    let own = operand.to_index_map()?;
    if wanted::is_spelling(operand, map) {
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

/// Returns the shortest spelling. Where tiles do not fill the buffer, the end is padded to the size of the
/// buffer.
fn shortest(wanted: Wanted<'_>) -> Result<ArrayShape, Error> {
    let map = wanted.map();
    let mut steps = SPELLING_SEARCH_LIMIT;
    let (mut spellings, mut orders_of_memory) = (Vec::new(), Vec::new());
    for room in [Room::Buffer, Room::Digits] {
        let memory = MemoryOrder::new(map, room)?;
        if orders_of_memory.contains(&memory) {
            continue;
        }
        let found = fewest_levels::search(map.sizes(), &memory, &mut steps);
        let (mut order, mut tiles) = found.map_or_else(|| radix::radix_sort(map.sizes(), &memory), Ok)?;
        tiles.extend(wide_strides(&memory)?);
        if tiles.is_empty() {
            order = carried::near_row_major(map, &carried::by_stride(map));
            // No text is shorter than a layout without tiles and tail alignment, so the search for dense
            // layouts ends here.
            let plain = wanted.spelling(&order, &[]).filter(|shape| shape.layout().tail_padding_alignment <= 1);
            if let Some(plain) = plain {
                return Ok(plain);
            }
        }
        spellings.push((order, tiles));
        orders_of_memory.push(memory);
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

/// Returns the two tiles for a smallest stride above 1: blocks of one element, each padded to the stride.
fn wide_strides(memory: &MemoryOrder) -> Result<Vec<Tile>, Error> {
    if memory.smallest > 1 { Ok(vec![Tile::new(&[1])?, Tile::new(&[memory.smallest])?]) } else { Ok(Vec::new()) }
}

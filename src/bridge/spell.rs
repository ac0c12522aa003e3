//! Index maps as XLA layouts: the shortest text that says the same.

mod carried;
mod fewest_levels;
mod memory_order;
mod radix;
mod wanted;

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::tiled::{ArrayShape, Tile};

use memory_order::{MemoryOrder, Room, refuse};
use wanted::Wanted;

/// The most tiles that are tried to find the shortest spelling of one map. Two or three digits take a few
/// dozen, all of them some ten milliseconds. Where they do not suffice, the spelling is longer than it has to
/// be.
///
/// ```
/// use tensor_layout::bridge::spell;
/// use tensor_layout::plan::SPELLING_SEARCH_LIMIT;
/// use tensor_layout::{ArrayShape, ToIndexMap};
///
/// // Two digits to place: far below the limit.
/// let map = "f32[4,8]{1,0:T(2,4)(2,1)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(spell(&map)?.to_index_map()?, map);
/// assert_eq!(SPELLING_SEARCH_LIMIT, 16_384);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub const SPELLING_SEARCH_LIMIT: usize = 1 << 14;

/// The shortest tiled layout with the places, the element width and the physical size of a map, whatever the
/// order of its digits.
///
/// Works for every Affine or Split map that begins at 0 and whose strides, in order, divide each other and
/// leave no gap inside a block that no other dimension could pad: so for all oneDNN formats, for reshapes and
/// permutations of tiled arrays, and for dense views. Without padding the spelling has as few tiles as
/// possible, and of several the shortest text. A gap is padding of one dimension, or two tiles for a smallest
/// stride; another way to say it may be shorter (`T(2,1)` is spelled `T(1)(2)`). The search stops after
/// [`SPELLING_SEARCH_LIMIT`] tiles; then a construction that always succeeds gives a longer one. For a view
/// of an array whose layout is known, [`spell_view`] finds the spelling its compiler would choose.
///
/// # Errors
///
/// [`Error::NotExpressible`] with what is in the way.
///
/// ```
/// use tensor_layout::{bridge::spell, ArrayShape, ToIndexMap};
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

/// The layout of a view of `operand`, spelled as a compiler spells it, where `map` says where the elements of
/// the view are stored.
///
/// The first of these that says what the map says:
///
/// 1. The operand itself.
/// 2. If its tiles follow the rule of [`with_tpu_tiles`](ArrayShape::with_tpu_tiles) for its sizes: those of
///    the same rule for the sizes of the view. Where several orders of the dimensions are possible, rather
///    one that leaves the tiles as they are.
/// 3. Its tiles as they are.
/// 4. The tiles of the other generations' rule, if it has tiles.
/// 5. The shortest spelling, as [`spell`] gives it.
///
/// Memory space, tail alignment, element width and the other attributes of the operand's layout stay; so do
/// the bounds of dimensions (`<=5`) that are neither divided nor joined. Whatever is returned has been
/// compared with the map.
///
/// # Errors
///
/// [`Error::NotExpressible`] with what is in the way, also if dimensions of the operand are divided among
/// memories (`SC(..)`); [`Error::Overflow`] if the padded size of the operand passes 64 bits.
///
/// ```
/// use tensor_layout::{bridge::spell_view, ArrayShape, ToIndexMap};
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
    // A slice that begins at 0 leaves the rest of the buffer after its end.
    let ends_early = wanted.padded_to_the_buffer().filter(|_| !operand.layout().tiles().is_empty());
    let shape = ends_early.and_then(|wanted| carried::in_tiles_of(operand, &wanted));
    shape.map_or_else(|| shortest(wanted), Ok)
}

/// The shortest spelling, with the end padded to the size of the buffer where tiles do not fill it.
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
            // Nothing is shorter than a layout without tiles and tail alignment: dense layouts end here.
            let plain = wanted.spelling(&order, &[]).filter(|shape| shape.layout().tail_padding_alignment <= 1);
            if let Some(plain) = plain {
                return Ok(plain);
            }
        }
        spellings.push((order, tiles));
        orders_of_memory.push(memory);
    }
    // XLA reads over the tail alignment of a layout without tiles, so that one comes last.
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
    // Of equally short ones the first.
    let found = [Some(wanted), padded].into_iter().flatten().flat_map(candidates).min_by_key(length);
    found.ok_or_else(|| refuse("its buffer is not as large as its digits".into()))
}

/// The two tiles for a smallest stride above 1: blocks of one element, each padded to the stride.
fn wide_strides(memory: &MemoryOrder) -> Result<Vec<Tile>, Error> {
    if memory.smallest > 1 { Ok(vec![Tile::new(&[1])?, Tile::new(&[memory.smallest])?]) } else { Ok(Vec::new()) }
}

//! Any order of digits -> tiles.
//!
//! A tile whose entries are 1 or the whole size is a stable partition of the dimensions: those with entry 1
//! stay in front, the others move behind them. A radix sort on the place each digit is to have, one such
//! tile for each bit of it, therefore reaches any order. The dimensions of size 1 that are left over are
//! swallowed with `*`.

use std::num::NonZeroU64;

use smallvec::SmallVec;

use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::tiled::{ArrayShape, Layout, Tile, TileSize};

/// Finds a tiled layout with the places, the element width and the physical size of a map, whatever the
/// order of its digits.
///
/// Works for every Affine or Split map that begins at 0 and whose strides, in order, divide each other and
/// leave no gap inside a block that no other dimension could pad: so for all oneDNN formats, for reshapes
/// and permutations of tiled arrays, and for dense views. The tiles may be many; where a shorter spelling
/// is known ([`raise`](super::raise), oneDNN tags), use that.
///
/// # Errors
///
/// [`Error::NotExpressible`] with what stands in the way.
///
/// ```
/// use tensor_layout::{bridge::spell, map::same_layout, ArrayShape, ToIndexMap};
///
/// let tiled = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(spell(&tiled.permute(&[1, 0])?)?.to_string(), "f32[256,16]{0,1:T(8,128)}");
/// // As one dimension it has four digits, and the two in the middle have to change places.
/// let flat = tiled.reshape(&[4096])?;
/// let shape = spell(&flat)?;
/// assert_eq!(shape.layout().tiles().len(), 5);
/// assert_eq!(shape.to_index_map()?, flat);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn spell(map: &IndexMap) -> Result<ArrayShape, Error> {
    let refuse = |reason: String| Error::NotExpressible { target: "tiled layout", reason };
    if map.base() != 0 {
        return Err(refuse(format!("it begins {} elements into its buffer, and tiles begin at 0", map.base())));
    }
    let Some(dimensions) = map.digits_by_dimension() else {
        return Err(refuse("it is no sum of exact digits of its dimensions".into()));
    };
    let mut layout = Layout::row_major(map.sizes().len());
    if map.logical_elements() > 0 {
        let (digits, smallest) = ordered(map, dimensions)?;
        // Dimensions in the order of their top digits; those of size 1 are in front.
        let rank = map.sizes().len();
        let mut order: SmallVec<[usize; 8]> = (0..rank).collect();
        order.sort_by_key(|&dim| digits.iter().position(|digit| digit.dimension == dim && digit.is_top));
        if digits.iter().any(|digit| digit.dimension == rank) {
            order.insert(0, rank);
        }
        let mut tiles = tiles_for(map.sizes(), &order, &digits)?;
        order.retain(|&mut dim| dim < rank);
        if smallest > 1 {
            tiles.extend([Tile::new(&[1])?, Tile::new(&[smallest])?]);
        }
        order.reverse();
        layout = Layout::new(&order)?.with_tiles(&tiles);
    }
    if map.element_bits() != map.data_type().xla_storage_bits() {
        layout = layout.with_element_bits(map.element_bits());
    }
    let mut shape = ArrayShape::new(map.data_type(), map.sizes(), layout)?;
    if shape.physical_elements()? < map.physical_elements() && map.logical_elements() > 0 {
        // What the digits do not fill is padding at the end.
        let layout = shape.layout().clone().with_tail_padding_alignment(map.physical_elements())?;
        shape = shape.with_layout(layout)?;
    }
    if shape.to_index_map()? == *map {
        Ok(shape)
    } else {
        Err(refuse("its buffer is not as large as its digits".into()))
    }
}

/// One digit: of which dimension, how many values it takes in memory, padding included.
#[derive(Clone, Copy)]
struct Placed {
    dimension: usize,
    /// Counted from the minor digit of the dimension.
    level: usize,
    size: u64,
    is_top: bool,
    /// Does it only pad, above the top digit of its dimension?
    pads: bool,
}

/// All digits in the order of memory, major first, and the smallest stride.
fn ordered(map: &IndexMap, dimensions: Vec<Vec<(u64, u64)>>) -> Result<(Vec<Placed>, u64), Error> {
    let refuse = |reason: String| Error::NotExpressible { target: "tiled layout", reason };
    // Stride, dimension, level, values, is it the top digit?
    let mut all: Vec<(u64, usize, usize, u64, bool)> = Vec::new();
    for (dimension, digits) in dimensions.iter().enumerate() {
        for (level, &(size, stride)) in digits.iter().rev().enumerate() {
            all.push((stride, dimension, level, size, level.saturating_add(1) == digits.len()));
        }
    }
    all.sort_by_key(|&(stride, ..)| std::cmp::Reverse(stride));
    let smallest = all.last().map_or(1, |&(stride, ..)| stride);
    let mut above = map.physical_elements();
    let mut placed: Vec<Placed> = Vec::with_capacity(all.len());
    for (position, (stride, dimension, level, values, is_top)) in all.into_iter().enumerate() {
        if stride == 0 {
            return Err(refuse(format!(
                "dimension {dimension} is broadcast (stride 0), and in tiles every element has a place of its own"
            )));
        }
        let mut room = above.checked_div(stride).unwrap_or(0);
        let divides = above.checked_rem(stride) == Some(0);
        if position == 0 && (!divides || !is_top) {
            // What is behind the last block is padding at the end.
            room = values;
        } else if !divides || room < values {
            return Err(refuse(format!(
                "a stride of {stride} in dimension {dimension} does not fit the strides around it"
            )));
        }
        if room > values && !is_top {
            // A dimension whose digits are all further in is always 0 here, and can be padded.
            let padding = if room.is_multiple_of(values) { room.checked_div(values) } else { None };
            let begun = |other: usize| placed.iter().any(|placed| placed.dimension == other && !placed.pads);
            // If there is none, the dimension of size 1 that a tile longer than the rank finds in front.
            let free = (0..=dimensions.len()).find(|&other| other != dimension && !begun(other));
            let (Some(size), Some(other)) = (padding, free) else {
                return Err(refuse(format!("there is a gap inside the blocks of dimension {dimension}")));
            };
            // Padding further out is a higher digit: what was placed before moves up.
            for higher in placed.iter_mut().filter(|placed| placed.dimension == other) {
                higher.level = higher.level.saturating_add(1);
            }
            let level = dimensions.get(other).map_or(0, Vec::len);
            placed.push(Placed { dimension: other, level, size, is_top: false, pads: true });
            room = values;
        }
        placed.push(Placed { dimension, level, size: room, is_top, pads: false });
        above = stride;
    }
    Ok((placed, smallest))
}

/// What a dimension of the expanded shape is, and its size: the digit at `level` of a dimension, or (if not
/// `single`) that one and all above it. `None` is a leftover of size 1.
type Entry = (Option<(usize, usize, bool)>, u64);

/// The tiles that bring dimensions in this order (major to minor) into this order of digits.
fn tiles_for(sizes: &[u64], order: &[usize], digits: &[Placed]) -> Result<Vec<Tile>, Error> {
    let levels = |dimension: usize| digits.iter().filter(|digit| digit.dimension == dimension).count();
    let size_of = |dimension: usize, level: usize| {
        let found = digits.iter().find(|digit| digit.dimension == dimension && digit.level == level);
        found.map_or(1, |digit| digit.size)
    };
    let rank_of = |dimension: usize, level: usize| {
        digits.iter().position(|digit| digit.dimension == dimension && digit.level == level)
    };
    let entry = |&dimension: &usize| -> Entry {
        let digit = (levels(dimension) > 0).then_some((dimension, 0, false));
        (digit, sizes.get(dimension).copied().unwrap_or(1))
    };
    let mut entries: Vec<Entry> = order.iter().map(entry).collect();
    let mut tiles = Vec::new();
    // A dimension that is to be padded is split once more, so that its last block is whole.
    let padded = |dimension: usize| {
        let product = (0..levels(dimension)).try_fold(1_u64, |all, level| all.checked_mul(size_of(dimension, level)));
        product != Some(sizes.get(dimension).copied().unwrap_or(1)) && levels(dimension) > 0
    };
    let most = (0..sizes.len()).map(|dimension| levels(dimension).saturating_add(usize::from(padded(dimension)))).max();
    for _ in 1..most.unwrap_or(0) {
        tiles.push(apply(&mut entries, |(dimension, level, single), _| {
            let above = levels(dimension).saturating_add(usize::from(padded(dimension)));
            if single || level.saturating_add(1) >= above {
                return (1, Some((dimension, level, single)), None);
            }
            let block = size_of(dimension, level);
            let next = level.saturating_add(1);
            // Above the top digit there is only the one block that pads it.
            let rest = (next < levels(dimension)).then_some((dimension, next, false));
            (block, rest, Some((dimension, level, true)))
        })?);
    }
    let place = |entry: &Entry| entry.0.and_then(|(dimension, level, _)| rank_of(dimension, level));
    let bits = usize::BITS.saturating_sub(digits.len().saturating_sub(1).leading_zeros());
    for bit in 0..bits {
        let order: SmallVec<[usize; 12]> = entries.iter().filter_map(place).collect();
        if order.is_sorted() {
            break;
        }
        tiles.push(apply(&mut entries, |digit, size| {
            let rank = rank_of(digit.0, digit.1).unwrap_or(0);
            let moves = rank.checked_shr(bit).is_some_and(|rank| rank & 1 == 1);
            if moves { (size, None, Some(digit)) } else { (1, Some(digit), None) }
        })?);
    }
    Ok(tiles)
}

type Digit = (usize, usize, bool);

/// Makes one tile of what `choose` says for each digit (the entry, and what its count and its place are),
/// and applies it. Leading dimensions that stay as they are need no entry.
fn apply(
    entries: &mut Vec<Entry>,
    choose: impl Fn(Digit, u64) -> (u64, Option<Digit>, Option<Digit>),
) -> Result<Tile, Error> {
    let stays = |&(digit, size): &Entry| digit.is_none_or(|digit| choose(digit, size).2.is_none());
    let prefix = entries.iter().take_while(|entry| stays(entry)).count();
    let touched = entries.split_off(prefix);
    let mut tile: SmallVec<[TileSize; 8]> = SmallVec::new();
    let mut places = Vec::new();
    let last = touched.len().saturating_sub(1);
    for (position, (digit, size)) in touched.into_iter().enumerate() {
        if digit.is_none() && position < last {
            tile.push(TileSize::Combine);
            continue;
        }
        let (block, count, place) = digit.map_or((1, None, None), |digit| choose(digit, size));
        let entry = NonZeroU64::new(block).ok_or(Error::ZeroTile { tile: 0, entry: position })?;
        tile.push(TileSize::Size(entry));
        entries.push((count, size.div_ceil(block)));
        places.push((place, block));
    }
    entries.extend(places);
    Tile::from_entries(&tile)
}

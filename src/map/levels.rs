//! Tiles as XLA defines them, level by level (the page *Tiled layout*).
//!
//! Each tile acts on the minor-most dimensions of the shape so far. A `*` joins its dimension with the
//! next dimension. Each dimension is padded to a multiple of its tile size. Then each dimension is split
//! into a count of tiles and an index inside the tile, with all counts in front of all indices. The next
//! tile acts on the result.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked::{self, Dims, PHYSICAL, Proven, nth_or_panic};
use crate::error::Error;

/// The entries of one tile, major to minor. `None` is `*`. The last entry is never `None`.
pub(crate) type TileEntries = SmallVec<[Option<NonZeroU64>; 3]>;

/// The dimensions that one entry of a tile joins to one number and then divides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileGroup {
    /// The sizes of the joined dimensions, major to minor. Nearly always there is one dimension.
    pub(crate) bounds: SmallVec<[u64; 2]>,
    /// The product of the sizes of the joined dimensions.
    pub bound: u64,
    /// The number of values of each joined dimension. The number is below the size if an earlier tile was
    /// larger than the dimension that the tile divided.
    pub(crate) ranges: SmallVec<[u64; 2]>,
    /// The largest value of the joined number, plus 1. The range is below the bound if an earlier tile was
    /// larger than the dimension that the tile divided.
    pub range: u64,
    /// The size of the tile, in values of the joined number.
    pub tile: NonZeroU64,
}

/// One tile, applied to the dimensions that the earlier tiles produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileLevel {
    /// The number of dimensions of size 1 that are put in front before the tile is applied, if the tile has
    /// more entries than there are dimensions.
    pub new_axes: usize,
    /// The number of leading dimensions that the tile does not touch.
    pub prefix: usize,
    pub(crate) groups: SmallVec<[TileGroup; 3]>,
}

impl TileGroup {
    /// The sizes of the joined dimensions, major to minor. Nearly always there is one dimension.
    #[must_use]
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }
}

impl TileLevel {
    /// The tiled dimensions. A group has one dimension, unless `*` joins several.
    #[must_use]
    pub fn groups(&self) -> &[TileGroup] {
        &self.groups
    }

    /// Whether the tile would change nothing as the last tile. An idle tile pads nothing, and keeps the order
    /// of its counts and indices.
    fn is_idle(&self) -> bool {
        let mut places = false;
        self.groups.iter().all(|group| {
            let tile = group.tile.get();
            // In the result of a level, the dimensions that count tiles come before the dimensions that count
            // elements inside a tile. If an earlier group already has a dimension inside a tile, the count of
            // this group moves in front of it.
            let moved = places && group.bound > tile;
            places |= tile > 1;
            group.bound.is_multiple_of(tile) && !moved
        })
    }
}

/// All tiles of a layout, applied to its sizes one after the other.
/// [`IndexMap::levels`](super::IndexMap::levels) returns them.
///
/// To compute an offset, put the index in [`order`](Self::order). Each of the [levels](Self::levels)
/// puts [`new_axes`](TileLevel::new_axes) zeros in front. The level joins the numbers from
/// [`prefix`](TileLevel::prefix) on, as its [groups](TileLevel::groups) say. Then the level divides
/// each joined number by the tile of the group, and puts all quotients before all remainders. The
/// numbers after the last level are a row-major index in [`bounds`](Self::bounds), and the offset is
/// the number of this index.
///
/// ```
/// use tensor_layout::map::{LayoutClass, ToIndexMap};
/// use tensor_layout::plan::{TileGroup, TileLevel, TileLevels};
/// use tensor_layout::ArrayShape;
///
/// let map = "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(map.class(), LayoutClass::Irreducible);
/// let tiles: &TileLevels = map.levels().ok_or("digits say it all")?;
/// assert_eq!((tiles.order(), tiles.elements), (&[0, 1, 2][..], 108));
/// let last: &TileLevel = &tiles.levels()[1];
/// assert_eq!((last.new_axes, last.prefix), (0, 3));
/// // The `*`: the places in the first and the second dimension are one number below 6, cut by 2.
/// let group: &TileGroup = &last.groups()[0];
/// assert_eq!((group.bounds(), group.bound, group.range, group.tile.get()), (&[2, 3][..], 6, 6, 2));
/// assert_eq!(tiles.bounds[..], [3, 3, 1, 3, 2, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileLevels {
    /// The numbers of the logical dimensions in the order of memory, major to minor.
    pub(crate) order: SmallVec<[usize; 8]>,
    /// The sizes of the dimensions in the order of memory, major to minor, in elements.
    pub(crate) sizes: Dims,
    pub(crate) levels: Vec<TileLevel>,
    /// The sizes of the dimensions after the last level, major to minor. The buffer holds them in row-major
    /// order.
    pub bounds: Dims,
    /// The product of the `bounds`: the number of elements of the buffer, without padding at its end.
    pub elements: u64,
}

impl TileLevels {
    /// The numbers of the logical dimensions in the order of memory, major to minor.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The tiles, in the order of the layout's text.
    #[must_use]
    pub fn levels(&self) -> &[TileLevel] {
        &self.levels
    }

    /// Applies `tiles` to `sizes`, whose order is `order` (major to minor).
    // Proved for every input (proofs/lemmas.py):
    // * tile_levels.padded: the tiles hold the size, and less than a tile more.
    // * tile_levels.count: there are no more tiles than indices, and none only for none.
    // * tile_levels.round_up: the padded size is the size rounded up to a tile.
    pub(crate) fn new(order: SmallVec<[usize; 8]>, sizes: Dims, tiles: &[TileEntries]) -> Result<TileLevels, Error> {
        // For each dimension, its size with padding, and the number of values that it takes.
        let mut dims: SmallVec<[(u64, u64); 8]> = sizes.iter().map(|&size| (size, size)).collect();
        let mut levels = Vec::with_capacity(tiles.len());
        for tile in tiles.iter().filter(|tile| !tile.is_empty()) {
            let new_axes = tile.len().saturating_sub(dims.len());
            dims.insert_many(0, core::iter::repeat_n((1, 1), new_axes));
            let prefix = dims.len().saturating_sub(tile.len());
            let groups = groups(dims.drain(prefix..), tile)?;
            let cut = || groups.iter().map(|group| (group, group.tile.get()));
            dims.extend(cut().map(|(group, tile)| (group.bound.div_ceil(tile), group.range.div_ceil(tile))));
            dims.extend(cut().map(|(group, tile)| (tile, group.range.min(tile))));
            levels.push(TileLevel { new_axes, prefix, groups });
        }
        let bounds: Dims = dims.iter().map(|&(bound, _)| bound).collect();
        let elements = checked::product(&bounds, PHYSICAL)?;
        Ok(TileLevels { order, sizes, levels, bounds, elements })
    }

    /// Removes tiles at the end that change no offset, such as `(1)`, so that more spellings have one form.
    pub(super) fn without_idle_tiles(mut self) -> TileLevels {
        while let Some(level) = self.levels.last().filter(|level| level.is_idle()) {
            self.bounds.truncate(level.prefix);
            self.bounds.extend(level.groups.iter().flat_map(|group| group.bounds.iter().copied()));
            self.bounds.drain(..level.new_axes);
            self.levels.pop();
        }
        self
    }

    /// Computes the offset of an index inside the sizes, directly from the definition of tiles.
    pub(super) fn offset(&self, index: &[u64]) -> u64 {
        let mut at: Vec<u64> = self.order.iter().map(|&axis| nth_or_panic(index, axis)).collect();
        let mut joined = Vec::new();
        for level in &self.levels {
            let groups = level.groups();
            at.splice(..0, core::iter::repeat_n(0, level.new_axes));
            let mut tiled = at.get(level.prefix..).unwrap_or_default().iter();
            joined.clear();
            joined.extend(groups.iter().map(|group| fuse(tiled.by_ref(), &group.bounds)));
            at.truncate(level.prefix);
            let cut = || joined.iter().zip(groups);
            at.extend(cut().map(|(&number, group)| number / group.tile));
            at.extend(cut().map(|(&number, group)| number % group.tile));
        }
        fuse(at.iter(), &self.bounds)
    }

    pub(super) fn inverse(&self, offset: u64) -> Option<Dims> {
        if offset >= self.elements {
            return None;
        }
        let mut at = Dims::new();
        unfuse(offset, &self.bounds, &mut at);
        for level in self.levels.iter().rev() {
            let tiled: Dims = at.drain(level.prefix..).collect();
            let (counts, places) = tiled.split_at_checked(level.groups.len())?;
            for ((group, &count), &place) in level.groups.iter().zip(counts).zip(places) {
                let number = count.checked_mul(group.tile.get())?.checked_add(place)?;
                if number >= group.bound {
                    return None;
                }
                unfuse(number, &group.bounds, &mut at);
            }
            at.drain(..level.new_axes);
        }
        let mut index: Dims = Dims::from_elem(0, at.len());
        for (&axis, &i) in self.order.iter().zip(&at) {
            *index.get_mut(axis)? = i;
        }
        Some(index)
    }
}

/// The largest value of a joined number, plus 1. The product of the bounds was checked, so the result fits 64
/// bits.
pub(super) fn joined_range(bounds: &[u64], ranges: &[u64]) -> u64 {
    let both = bounds.iter().zip(ranges);
    both.fold(0, |number: u64, (&bound, &range)| number.times(bound).plus(range.saturating_sub(1))).plus(1)
}

fn groups(dims: impl Iterator<Item = (u64, u64)>, tile: &TileEntries) -> Result<SmallVec<[TileGroup; 3]>, Error> {
    let mut groups = SmallVec::with_capacity(tile.iter().flatten().count());
    let (mut joined, mut taken) = (SmallVec::<[u64; 2]>::new(), SmallVec::<[u64; 2]>::new());
    for ((bound, range), &entry) in dims.zip(tile) {
        joined.push(bound);
        taken.push(range);
        if let Some(tile) = entry {
            let (bounds, ranges) = (core::mem::take(&mut joined), core::mem::take(&mut taken));
            let bound = checked::product(&bounds, PHYSICAL)?;
            let range = if bound == 0 { 0 } else { joined_range(&bounds, &ranges) };
            groups.push(TileGroup { bounds, bound, ranges, range, tile });
        }
    }
    Ok(groups)
}

pub(super) fn fuse<'a>(index: impl Iterator<Item = &'a u64>, bounds: &[u64]) -> u64 {
    // For indices within the bounds, the number is below the product of the bounds, which was checked.
    bounds.iter().zip(index).fold(0, |number: u64, (&bound, &i)| number.times(bound).plus(i))
}

fn unfuse(number: u64, bounds: &[u64], index: &mut Dims) {
    let start = index.len();
    index.extend(core::iter::repeat_n(0, bounds.len()));
    unfuse_into(index, start..start.plus(bounds.len()), bounds, number);
}

/// Divides a row-major number over `bounds` into indices, and writes them to the positions `dims` of `index`.
pub(super) fn unfuse_into(
    index: &mut [u64],
    dims: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
    bounds: &[u64],
    mut number: u64,
) {
    for (dim, &bound) in dims.zip(bounds).rev() {
        if let Some(slot) = index.get_mut(dim) {
            *slot = number.modulo(bound);
        }
        number = number.divided_by(bound);
    }
}

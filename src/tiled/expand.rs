//! Computes the number of elements and bytes of an array with its padding.

use crate::checked::{self, BYTES, Dims, PHYSICAL, Proven};
use crate::error::Error;

use super::array::ArrayShape;
use super::layout::{Tile, TileSize};

impl ArrayShape {
    /// The number of elements that the buffer has room for, padding and tail alignment included.
    ///
    /// The sizes, in memory order, are expanded tile by tile. Each tile acts on the minor-most of the
    /// dimensions that the previous tile produced. It joins a dimension marked `*` to the next dimension, and
    /// pads each dimension to a multiple of its entry in the tile. Then it replaces the dimensions by the
    /// numbers of blocks and the sizes of a block. If a tile has more entries than there are dimensions,
    /// dimensions of size 1 are added in front. If the layout divides a dimension among several memories,
    /// only the largest part counts, as in XLA.
    ///
    /// XLA's own `ShapeUtil::ArraySize` only uses the first tile and ignores the tail alignment of untiled
    /// arrays. Its result is smaller if a later tile does not divide the tile before.
    ///
    /// # Errors
    ///
    /// `overflow` if the number of elements passes 64 bits.
    pub fn physical_elements(&self) -> Result<u64, Error> {
        let order = self.layout().minor_to_major().iter().rev();
        let mut bounds: Dims = order.filter_map(|&dimension| self.sizes().get(dimension).copied()).collect();
        for split in &self.layout().split_configs {
            let bound = usize::try_from(split.dimension).ok().and_then(|dimension| bounds.get_mut(dimension));
            if let Some(bound) = bound {
                *bound = largest_part(*bound, &split.indices);
            }
        }
        for tile in self.layout().tiles() {
            bounds = expand(&bounds, tile)?;
        }
        let elements = checked::product(&bounds, PHYSICAL)?;
        checked::round_up(elements, self.layout().tail_padding_alignment, PHYSICAL)
    }

    /// The size of the data in the buffer in bytes, padding included, rounded up to a whole byte. The prefix
    /// `M(n)` is not included.
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn physical_size_in_bytes(&self) -> Result<u64, Error> {
        checked::bytes_for(self.physical_elements()?, self.element_bits())
    }

    /// The size of the whole buffer in bytes: the prefix `M(n)` in front of the data, and the [physical
    /// size](ArrayShape::physical_size_in_bytes).
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn buffer_size_in_bytes(&self) -> Result<u64, Error> {
        checked::add(self.layout().metadata_prefix_bytes, self.physical_size_in_bytes()?, BYTES)
    }

    /// The size of the elements alone, in bytes, without any padding, rounded up to a whole byte.
    ///
    /// This is XLA's `ShapeUtil::ByteSizeOf`.
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn logical_size_in_bytes(&self) -> Result<u64, Error> {
        checked::bytes_for(self.element_count(), self.element_bits())
    }
}

/// Applies one tile to dimensions of sizes `bounds`. Returns the sizes of the dimensions that replace them.
/// Both lists are major to minor.
fn expand(bounds: &[u64], tile: &Tile) -> Result<Dims, Error> {
    let entries = tile.entries();
    let missing = entries.len().saturating_sub(bounds.len());
    let untouched = bounds.len().saturating_sub(entries.len());
    let (prefix, rest) = bounds.split_at_checked(untouched).unwrap_or((bounds, &[]));
    let touched = core::iter::repeat_n(1, missing).chain(rest.iter().copied());

    let (mut counts, mut blocks) = (Dims::from_slice(prefix), Dims::new());
    let mut joined = 1_u64;
    for (bound, entry) in touched.zip(entries) {
        joined = checked::mul(joined, bound, PHYSICAL)?;
        if let TileSize::Size(size) = entry {
            counts.push(joined.div_ceil(size.get()));
            blocks.push(size.get());
            joined = 1;
        }
    }
    counts.extend_from_slice(&blocks);
    Ok(counts)
}

/// The largest of the parts that begin at 0 and at each index.
fn largest_part(size: u64, indices: &[u64]) -> u64 {
    let mut largest = 0;
    let mut start = 0_u64;
    for end in indices.iter().copied().filter(|&index| index < size).chain([size]) {
        largest = largest.max(end.minus(start));
        start = end;
    }
    largest
}

//! How many elements and bytes an array takes with its padding.

use smallvec::SmallVec;

use crate::checked::{self, Dims, PHYSICAL};
use crate::error::Error;

use super::array::ArrayShape;
use super::layout::{Tile, TileSize};

impl ArrayShape {
    /// The number of elements the buffer holds, padding and tail alignment included.
    ///
    /// The sizes, in memory order, are expanded tile by tile: each tile acts on the minor-most
    /// dimensions of what the tiles before it left, joins those marked `*` to the next one, pads each
    /// to a multiple of its entry and replaces them by the numbers of blocks and the sizes of a
    /// block. A tile with more entries than there are dimensions finds dimensions of size 1. If the
    /// layout divides a dimension among memories, the largest part counts, as in XLA.
    ///
    /// XLA's own `ShapeUtil::ArraySize` looks at the first tile only and drops the tail alignment of
    /// untiled arrays; it is smaller wherever a later tile does not divide the one before it.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the count does not fit into 64 bits.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    ///
    /// let elements = |text: &str| text.parse::<ArrayShape>()?.physical_elements();
    /// assert_eq!(elements("f32[3,5]{1,0:T(2,2)}")?, 24);
    /// assert_eq!(elements("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")?, 112 * 111);
    /// assert_eq!(elements("f32[]{:T(8,128)}")?, 1024);
    /// assert_eq!(elements("f32[100]{0:L(1024)}")?, 1024);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn physical_elements(&self) -> Result<u64, Error> {
        let mut bounds = self.physical_sizes();
        for split in self.layout().split_configs() {
            let bound = usize::try_from(split.dimension()).ok().and_then(|dimension| bounds.get_mut(dimension));
            if let Some(bound) = bound {
                *bound = largest_part(*bound, split.indices());
            }
        }
        for tile in self.layout().tiles() {
            bounds = expand(&bounds, tile)?;
        }
        let elements = checked::product(&bounds, PHYSICAL)?;
        checked::round_up(elements, self.layout().tail_padding_alignment(), PHYSICAL)
    }

    /// The sizes in the order they lie in memory, major to minor.
    #[must_use]
    pub(crate) fn physical_sizes(&self) -> Dims {
        let order = self.layout().minor_to_major().iter().rev();
        order.filter_map(|&dimension| self.sizes().get(dimension).copied()).collect()
    }

    /// The bytes the buffer takes, padding included and rounded up to a whole byte. What `M(n)` puts
    /// in front of the data is not part of it.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if they do not fit into 64 bits.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    ///
    /// let column: ArrayShape = "u32[12582912,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(column.logical_size_in_bytes()?, 48 << 20);
    /// assert_eq!(column.physical_size_in_bytes()?, 6 << 30);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn physical_size_in_bytes(&self) -> Result<u64, Error> {
        checked::bytes_for(self.physical_elements()?, self.element_bits())
    }

    /// The bytes the elements alone take, without any padding, rounded up to a whole byte.
    ///
    /// This is XLA's `ShapeUtil::ByteSizeOf`.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if they do not fit into 64 bits.
    pub fn logical_size_in_bytes(&self) -> Result<u64, Error> {
        checked::bytes_for(self.logical_elements(), self.element_bits())
    }
}

/// The sizes one tile makes of `bounds`, both major to minor.
fn expand(bounds: &[u64], tile: &Tile) -> Result<Dims, Error> {
    let entries = tile.entries();
    let missing = entries.len().saturating_sub(bounds.len());
    let untouched = bounds.len().saturating_sub(entries.len());
    let (prefix, rest) = bounds.split_at_checked(untouched).unwrap_or((bounds, &[]));
    let touched = std::iter::repeat_n(1, missing).chain(rest.iter().copied());

    let (mut counts, mut blocks) = (Dims::from_slice(prefix), SmallVec::<[u64; 4]>::new());
    let mut joined = 1_u64;
    for (bound, entry) in touched.zip(entries) {
        joined = checked::mul(joined, bound, PHYSICAL)?;
        if let TileSize::Size(size) = entry {
            counts.push(joined.div_ceil(size.get()));
            blocks.push(size.get());
            joined = 1;
        }
    }
    counts.extend(blocks);
    Ok(counts)
}

/// The size of the largest part of `size` elements cut in front of each index.
fn largest_part(size: u64, indices: &[u64]) -> u64 {
    let mut largest = 0;
    let mut start = 0_u64;
    for end in indices.iter().copied().filter(|&index| index < size).chain([size]) {
        largest = largest.max(end.saturating_sub(start));
        start = end;
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> u64 {
        text.parse::<ArrayShape>().unwrap().physical_elements().unwrap()
    }

    #[test]
    fn later_tiles_act_on_what_the_earlier_ones_left() {
        assert_eq!(elements("f32[4,8]{1,0:T(2,4)(2,1)}"), 32);
        assert_eq!(elements("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"), 167_772_160);
        // 300 rows are 38 blocks of 8, each of them 3 sub-tiles of 3 rows.
        assert_eq!(elements("bf16[300,500]{1,0:T(8,128)(3,1)}"), 38 * 4 * 9 * 128);
        assert_eq!(elements("f32[12,4]{1,0:T(6,2)(4,1)}"), 2 * 2 * 8 * 2);
        // (2,2,8,128) pads the tile counts 3 x 5 to 4 x 6.
        assert_eq!(elements("f32[24,640]{1,0:T(8,128)(2,2,8,128)}"), 4 * 6 * 1024);
    }

    #[test]
    fn combined_dimensions_are_cut_as_one() {
        assert_eq!(elements("f32[7,5]{1,0:T(*,4)}"), 36);
        assert_eq!(elements("f32[7,5,2]{2,1,0:T(*,4,1)}"), 72);
        assert_eq!(elements("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}"), 3 * 3 * 3 * 2 * 2);
        assert_eq!(elements("f32[5]{0:T(*,*,4)}"), 8);
    }

    #[test]
    fn empty_and_scalar_arrays() {
        assert_eq!(elements("f32[0,3]{1,0:T(8,128)}"), 0);
        assert_eq!(elements("f32[3,0]{1,0:T(8,128)L(512)}"), 0);
        assert_eq!(elements("f32[]"), 1);
        assert_eq!(elements("f32[]{:T()}"), 1);
        assert_eq!(elements("f32[]{:L(4)}"), 4);
    }

    #[test]
    fn the_largest_part_of_a_divided_dimension_counts() {
        assert_eq!(elements("pred[123,456]{1,0:SC(1:50,200)}"), 123 * 256);
        assert_eq!(elements("pred[123,456]{0,1:SC(0:400)}"), 123 * 400);
        assert_eq!(elements("pred[4,5]{1,0:SC(7:1)}"), 20);
    }

    #[test]
    fn padding_that_does_not_fit_into_64_bits_is_an_error() {
        let shape: ArrayShape = "s8[1073741824,1073741824]{1,0:T(1,17179869184)}".parse().unwrap();
        assert_eq!(shape.physical_elements().unwrap_err().code(), "overflow");
        let shape: ArrayShape = "f32[4611686018427387904]{0}".parse().unwrap();
        assert_eq!(shape.physical_size_in_bytes().unwrap_err().code(), "overflow");
    }
}

//! Conversions from descriptors and tiled shapes to the index map.

use alloc::format;

use smallvec::SmallVec;

use crate::checked::{self, PHYSICAL, wide_product};
use crate::error::Error;
use crate::map::{IndexMap, TileEntries, ToIndexMap};
use crate::strided::{BlockTensorDesc, BufferTensorDesc};
use crate::tiled::{ArrayShape, Tile, TileSize};

impl ToIndexMap for BufferTensorDesc {
    /// The size of the map's buffer is the span of the sizes and strides. If a larger total size was set, the
    /// buffer holds the whole elements that fit into that size.
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        let bits = self.data_type().bits();
        let physical = if self.total_tensor_size_in_bytes() > self.min_size_in_bytes() {
            let total = wide_product(self.total_tensor_size_in_bytes(), 8_u64);
            checked::narrow(total.div_euclid(bits.into()), PHYSICAL)?
        } else {
            self.span_elements()
        };
        let (sizes, strides) = (self.sizes(), self.strides());
        let map = IndexMap::from_strides(self.data_type(), bits, sizes, strides, self.base_offset(), physical)?;
        let total = self.total_tensor_size_in_bytes();
        Ok(map.with_owned(self.owns()).with_total(total).with_alignment(self.base_offset_alignment().into()))
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        Some(self)
    }
}

/// A tensor of blocks is its bytes, wherever a layout is taken.
impl ToIndexMap for BlockTensorDesc {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.bytes().to_index_map()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        Some(self.bytes())
    }

    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        Some(self)
    }
}

impl BufferTensorDesc {
    /// Returns the map of the same sizes and strides, with whole bytes for each element of a type below a
    /// byte. CPUs and `ml_dtypes` store sub-byte elements in this way, and so does XLA without `E(n)`. A copy
    /// between this map and a descriptor packs or unpacks.
    ///
    /// # Errors
    ///
    /// `overflow` if an offset or the size of the buffer passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{relayout::copy, BufferTensorDesc, DataType};
    ///
    /// let packed = BufferTensorDesc::packed(DataType::S4, &[4])?;
    /// let mut numbers = vec![0; 4];
    /// copy(&packed, &packed.with_byte_elements()?, &[0x21, 0xf7], &mut numbers)?;
    /// assert_eq!(numbers, [1, 2, 7, 0xff]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_byte_elements(&self) -> Result<IndexMap, Error> {
        let (bits, span) = (self.data_type().bits().next_multiple_of(8), self.span_elements());
        let map =
            IndexMap::from_strides(self.data_type(), bits, self.sizes(), self.strides(), self.base_offset(), span)?;
        Ok(map.with_owned(self.owns()))
    }
}

impl ToIndexMap for ArrayShape {
    /// The buffer holds the padded bounds of all tiles, rounded up to the tail alignment. A layout that
    /// divides a dimension among several memories (`SC(..)`) is stored in several buffers and is refused.
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        if let Some(split) = self.layout().split_configs.first() {
            let reason = format!("SC{split} divides it among several memories, so it is stored in several buffers");
            return Err(Error::not_expressible("index map", reason));
        }
        let order = self.layout().minor_to_major().iter().rev().copied().collect();
        let tiles: SmallVec<[TileEntries; 2]> = self.layout().tiles().iter().map(entries).collect();
        let tail = self.layout().tail_padding_alignment;
        let map = IndexMap::from_tiles(self.data_type(), self.element_bits(), self.sizes(), order, &tiles, tail)?;
        Ok(map.with_minor_to_major(self.layout().minor_to_major()))
    }
}

fn entries(tile: &Tile) -> TileEntries {
    let entry = |entry: &TileSize| match entry {
        TileSize::Size(size) => Some(*size),
        TileSize::Combine => None,
    };
    tile.entries().iter().map(entry).collect()
}

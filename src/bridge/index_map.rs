//! Conversions from descriptors and tiled shapes to the index map.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{self, PHYSICAL, Proven, wide_product};
use crate::element::BlockField;
use crate::error::Error;
use crate::map::{IndexMap, TileEntries, ToIndexMap};
use crate::strided::{BlockTensorDesc, BufferTensorDesc, GapOwner};
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
        Ok(map.with_gap_owner(self.gap_owner()).with_total(total).with_alignment(self.base_offset_alignment().into()))
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

impl BlockTensorDesc {
    /// Returns where the numbers of a field are: a layout of as many numbers as the field has on each axis,
    /// in the buffer of the whole tensor. The other bytes of the blocks are not its own.
    ///
    /// # Errors
    ///
    /// `not_expressible` if blocks or rows are no whole numbers of the field apart, and `overflow`.
    ///
    /// ```
    /// use tensor_layout::{relayout::copy, strided::BlockTensorDesc, BufferTensorDesc};
    ///
    /// // The scales of q8_0, each in front of 32 values.
    /// let weights: BlockTensorDesc = "q8_0[2,64]".parse()?;
    /// let [values, scales] = weights.block_type().fields() else { panic!("two fields") };
    /// assert_eq!((weights.field(values)?.sizes(), weights.field(values)?.offset(&[1, 32])?), (&[2, 64][..], 104));
    /// let planes: BufferTensorDesc = "f16[2,2]:[2,1]".parse()?;
    /// let (blocks, mut plane) = ((0..136).collect::<Vec<u8>>(), [0; 8]);
    /// copy(&weights.field(scales)?, &planes, &blocks, &mut plane)?;
    /// assert_eq!(plane, [0, 1, 34, 35, 68, 69, 102, 103]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn field(&self, field: &BlockField) -> Result<IndexMap, Error> {
        let bits = u64::from(field.data_type.bits());
        let entries = |bits_apart: u64| match bits_apart.is_multiple_of(bits) {
            true => Ok(bits_apart.divided_by(bits)),
            false => {
                let reason = format!("{self} has steps of {bits_apart} bits, which are no whole {}", field.data_type);
                Err(Error::not_expressible("field of a tensor of blocks", reason))
            }
        };
        let in_entries = |bytes: u64| entries(checked::mul(bytes, 8, PHYSICAL)?);
        let bytes = self.bytes();
        let axes = bytes.sizes().iter().zip(bytes.strides()).take(self.sizes().len());
        let axis = |(&size, &stride): (&u64, &u64)| Ok(vec![(size, in_entries(stride)?)]);
        let mut dimensions = axes.map(axis).collect::<Result<Vec<_>, Error>>()?;
        let (first, digits) = field.digits(self.block_type().values().divided_by(field.per));
        if let Some(last) = dimensions.last_mut() {
            for (count, stride) in digits {
                last.push((count, entries(stride)?));
            }
        }
        let map = IndexMap::from_digits(field.data_type, field.data_type.bits(), &dimensions)?;
        if map.element_count() == 0 {
            return Ok(map);
        }
        let map = map.with_base(checked::add(in_entries(bytes.base_offset())?, entries(first)?, PHYSICAL)?)?;
        Ok(map.ending_at(in_entries(bytes.span_elements())?).with_gap_owner(GapOwner::Others))
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
        Ok(map.with_gap_owner(self.gap_owner()))
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

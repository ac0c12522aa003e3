//! Layouts made from bytes, with their literal meaning beside them.

use arbitrary::Arbitrary;
use tensor_layout::tiled::{Layout, Tile};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};

use crate::places::{Tiling, strided_offsets};

/// Sizes that a byte chooses from: many ones, small numbers, the neighbours of the lengths that kernels have,
/// rarely 0.
const SIZES: [u64; 32] =
    [1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 20, 31, 32, 33, 64, 65, 130, 0];

/// Entries of a tile; 0 is `*`.
const ENTRIES: [u64; 32] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 8, 9, 12, 16, 128];

/// Types of every width and every kind.
const TYPES: [DataType; 16] = [
    DataType::U8,
    DataType::F32,
    DataType::BF16,
    DataType::S4,
    DataType::U4,
    DataType::S2,
    DataType::U2,
    DataType::S1,
    DataType::Pred,
    DataType::S8,
    DataType::F64,
    DataType::C128,
    DataType::F6E2M3FN,
    DataType::F4E2M1FN,
    DataType::S16,
    DataType::U1,
];

/// The sizes and the type of a tensor.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
pub struct Tensor {
    pub data_type: u8,
    pub rank: u8,
    pub sizes: [u8; 5],
}

impl Tensor {
    pub fn data_type(&self) -> DataType {
        TYPES[usize::from(self.data_type) % TYPES.len()]
    }

    /// At most this many elements: a size that would make more is 1.
    pub fn sizes(&self, most: u64) -> Vec<u64> {
        let mut product = 1;
        let chosen = self.sizes.iter().take(usize::from(self.rank) % 6).map(|&byte| SIZES[usize::from(byte) % 32]);
        chosen
            .map(|size| {
                let size = if product * size.max(1) > most { 1 } else { size };
                product *= size.max(1);
                size
            })
            .collect()
    }
}

/// One tile.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
pub struct TileBytes {
    pub length: u8,
    pub entries: [u8; 6],
}

/// An order, tiles, a tail, and a width of elements.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
pub struct Tiled {
    pub order: u8,
    pub tiles: [TileBytes; 3],
    pub tail: u8,
    pub bits: u8,
}

/// Strides: packed in some order, with gaps, repeated, or any.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
pub struct Strided {
    pub order: u8,
    pub gaps: [u8; 5],
    pub base: u8,
}

/// A layout of either model.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
pub struct AnySide {
    pub model: u8,
    pub tiled: Tiled,
    pub strided: Strided,
}

/// A layout and what is literally true of it.
#[derive(Debug, Clone)]
pub struct Side {
    pub map: IndexMap,
    /// In its own notation.
    pub text: String,
    /// The place of every index in row-major order.
    pub offsets: Vec<u64>,
    pub places: u64,
}

impl Side {
    pub fn bytes(&self) -> usize {
        usize::try_from((self.places * u64::from(self.map.element_bits())).div_ceil(8)).unwrap()
    }

    pub fn has_repeats(&self) -> bool {
        let mut sorted = self.offsets.clone();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// The permutation of this number, of those of this many things.
pub fn permutation(number: u8, length: usize) -> Vec<usize> {
    let mut rest = usize::from(number);
    let mut left: Vec<usize> = (0..length).collect();
    let mut order = Vec::with_capacity(length);
    while !left.is_empty() {
        order.push(left.remove(rest % left.len()));
        rest /= left.len() + 1;
    }
    order
}

impl Tiled {
    /// With as many of its tiles as keep the buffer below this many places.
    pub fn tiling(&self, sizes: &[u64], most_places: u64) -> Tiling {
        let tiles = self.tiles.iter().filter(|tile| tile.length % 7 > 0).map(|tile| {
            let chosen = tile.entries[..usize::from(tile.length % 7)].iter();
            let mut entries: Vec<_> = chosen.map(|&byte| ENTRIES[usize::from(byte) % 32]).collect();
            if let Some(last) = entries.last_mut() {
                *last = (*last).max(1);
            }
            entries.into_iter().map(|entry| (entry > 0).then_some(entry)).collect()
        });
        let tail = if self.tail.is_multiple_of(4) { 1 + u64::from(self.tail) / 4 % 16 } else { 1 };
        let minor_to_major = permutation(self.order, sizes.len());
        let mut tiling = Tiling { sizes: sizes.to_vec(), minor_to_major, tiles: tiles.collect(), tail };
        while tiling.most_places() > 1e15 || tiling.places() > most_places {
            tiling.tiles.pop();
        }
        tiling
    }

    /// The bits of an element: those of the type, whole bytes, or for the smallest types others as well.
    fn element_bits(&self, data_type: DataType) -> u32 {
        let bits = data_type.bits();
        match self.bits % 8 {
            _ if bits >= 8 && self.bits % 16 != 15 => 0,
            0..4 => bits,
            4..6 => 0,
            other => other.into(),
        }
    }

    pub fn shape(&self, data_type: DataType, tiling: &Tiling) -> ArrayShape {
        let tile = |entries: &Vec<Option<u64>>| {
            let entries: Vec<i64> =
                entries.iter().map(|entry| entry.map_or(i64::MIN, |n| i64::try_from(n).unwrap())).collect();
            Tile::try_from(&entries[..]).unwrap()
        };
        let layout = Layout::new(&tiling.minor_to_major).unwrap();
        let mut layout = layout.with_tiles(&tiling.tiles.iter().map(tile).collect::<Vec<_>>());
        layout.element_bits = Some(self.element_bits(data_type)).filter(|&bits| bits != 0);
        layout.tail_padding_alignment = tiling.tail;
        ArrayShape::new(data_type, &tiling.sizes, layout).unwrap()
    }

    pub fn side(&self, data_type: DataType, sizes: &[u64], most_places: u64) -> Side {
        let tiling = self.tiling(sizes, most_places);
        let shape = self.shape(data_type, &tiling);
        let map = shape.to_index_map().unwrap();
        Side { map, text: shape.to_string(), offsets: tiling.offsets(), places: tiling.places() }
    }
}

impl Strided {
    pub fn strides(&self, sizes: &[u64]) -> Vec<u64> {
        let mut strides = vec![0; sizes.len()];
        let mut next = 1;
        for axis in permutation(self.order, sizes.len()) {
            let byte = u64::from(self.gaps[axis % 5]);
            strides[axis] = match byte % 4 {
                0 | 1 => next,
                2 => next + byte / 4 % 9,
                _ => byte / 4,
            };
            next = next.max(strides[axis] * sizes[axis].max(1));
        }
        strides
    }

    pub fn desc(&self, data_type: DataType, sizes: &[u64]) -> BufferTensorDesc {
        let base = if self.base.is_multiple_of(4) { u64::from(self.base) / 4 } else { 0 };
        let desc = BufferTensorDesc::new(data_type, sizes, Some(&self.strides(sizes))).unwrap();
        desc.with_base_offset(base).unwrap()
    }

    /// `None` if the buffer would be larger.
    pub fn side(&self, data_type: DataType, sizes: &[u64], most_places: u64) -> Option<Side> {
        let desc = self.desc(data_type, sizes);
        if desc.span_elements() > most_places {
            return None;
        }
        let offsets = strided_offsets(sizes, desc.strides(), desc.base_offset());
        let places = offsets.iter().max().map_or(0, |&last| last + 1);
        // Without the bytes by which the size of a descriptor is rounded up.
        let map = desc.to_index_map().unwrap();
        let (elements, owns) = (map.physical_elements(), map.gap_owner());
        let map = map.with_physical_elements(elements).unwrap().with_gap_owner(owns);
        Some(Side { map, text: desc.to_string(), offsets, places })
    }
}

impl AnySide {
    pub fn side(&self, data_type: DataType, sizes: &[u64], most_places: u64) -> Side {
        let strided =
            if self.model.is_multiple_of(4) { self.strided.side(data_type, sizes, most_places) } else { None };
        strided.unwrap_or_else(|| self.tiled.side(data_type, sizes, most_places))
    }
}

#[cfg(test)]
mod tests;

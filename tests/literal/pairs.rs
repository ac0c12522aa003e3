//! Random pairs of layouts, and the literal copy between them: each element is read at its literal offset on
//! one side, and written at its literal offset on the other side.

use std::mem::MaybeUninit;

use proptest::prelude::*;
use tensor_layout::element::ElementKind;
use tensor_layout::relayout::Padding;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};

use super::bits::{read_bits, write_bits};
use super::{Tiles, bounded, indices, offsets_of, physical, shape_of, sizes, strided_offsets};

/// One side of a copy: its map, its literal offsets, and its number of physical elements.
#[derive(Debug, Clone)]
pub struct Side {
    pub map: IndexMap,
    pub offsets: Vec<usize>,
    pub elements: usize,
}

impl Side {
    pub fn tiled(shape: &ArrayShape) -> Side {
        let places = physical(shape);
        Side { map: shape.to_index_map().unwrap(), offsets: offsets_of(&places), elements: places.len() }
    }

    pub fn strided(desc: &BufferTensorDesc) -> Side {
        let offsets = strided_offsets(desc);
        let elements = offsets.iter().max().map_or(0, |&last| last + 1);
        Side { map: desc.to_index_map().unwrap(), offsets, elements }
    }

    /// The side, with some axes walked backwards.
    pub fn backwards(&self, axes: &[usize]) -> Side {
        let sizes = self.map.sizes();
        let number = |index: &[u64]| index.iter().zip(sizes).fold(0, |number, (i, size)| number * size + i) as usize;
        let flipped = |mut index: Vec<u64>| {
            axes.iter().for_each(|&axis| index[axis] = sizes[axis] - 1 - index[axis]);
            self.offsets[number(&index)]
        };
        Side { offsets: indices(sizes).map(flipped).collect(), ..self.clone() }
    }

    /// Whether two elements are at one place.
    pub fn overlaps(&self) -> bool {
        let mut taken = vec![false; self.elements];
        self.offsets.iter().any(|&offset| std::mem::replace(&mut taken[offset], true))
    }

    pub fn bytes(&self) -> usize {
        (self.elements * self.map.element_bits() as usize).div_ceil(8)
    }
}

/// Types of every width, with the `E(n)` that makes the tiled side as wide as the strided side.
pub fn data_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(vec![
        DataType::U8,
        DataType::BF16,
        DataType::F32,
        DataType::F64,
        DataType::C128,
        DataType::S4,
        DataType::U2,
        DataType::S1,
    ])
}

pub fn with_own_bits(shape: ArrayShape) -> ArrayShape {
    let mut layout = shape.layout().clone();
    if shape.data_type().bits() < 8 {
        layout.element_bits = Some(shape.data_type().bits());
    }
    ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap()
}

/// Removes the last tiles of a shape until the shape is small.
pub fn of_bounded_size(mut shape: ArrayShape) -> ArrayShape {
    while !bounded(&shape, 4000) {
        let tiles = shape.layout().tiles();
        let layout = shape.layout().clone().with_tiles(&tiles[..tiles.len() - 1]);
        shape = ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap();
    }
    shape
}

pub fn tiled_side(sizes: Vec<u64>, kind: Tiles, data_type: DataType) -> impl Strategy<Value = Side> {
    shape_of(sizes, kind, data_type).prop_map(|shape| Side::tiled(&with_own_bits(of_bounded_size(shape))))
}

/// A strided side: packed in some order, with gaps, broadcast, or with any strides. Some sides do not start
/// at the start of their buffer.
pub fn strided_side(sizes: Vec<u64>, data_type: DataType) -> impl Strategy<Value = Side> {
    let rank = sizes.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let gaps = prop::collection::vec(prop_oneof![3 => Just(0_u64), 1 => 0..4_u64], rank);
    let odd = prop::collection::vec(prop_oneof![8 => Just(None), 1 => (0..7_u64).prop_map(Some)], rank);
    let base = prop_oneof![3 => Just(0_u64), 1 => 0..9_u64];
    (order, gaps, odd, base).prop_map(move |(order, gaps, odd, base)| {
        let mut strides = vec![0; rank];
        let mut next = 1;
        for &axis in &order {
            strides[axis] = odd[axis].unwrap_or(next + gaps[axis]);
            next = (next + gaps[axis]) * sizes[axis].max(1);
        }
        let desc = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap();
        Side::strided(&desc)
    })
}

pub fn side(sizes: Vec<u64>, kind: Tiles, data_type: DataType) -> impl Strategy<Value = Side> {
    prop_oneof![
        2 => tiled_side(sizes.clone(), kind, data_type),
        1 => strided_side(sizes, data_type),
    ]
}

pub fn pair() -> impl Strategy<Value = (Side, Side)> {
    let kind = prop::sample::select(vec![Tiles::PowersOfTwo, Tiles::Ragged, Tiles::Combined]);
    (sizes(4, 7), kind, data_type())
        .prop_flat_map(|(sizes, kind, data_type)| (side(sizes.clone(), kind, data_type), side(sizes, kind, data_type)))
}

pub fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::Keep), Just(Padding::Zero), any::<u128>().prop_map(Padding::Fill)]
}

/// Returns the treatment of padding with a pattern of at most this many bits.
pub fn within(padding: Padding, bits: u32) -> Padding {
    match padding {
        Padding::Fill(pattern) if bits < 128 => Padding::Fill(pattern & ((1 << bits) - 1)),
        other => other,
    }
}

/// Bytes that differ between neighbouring places.
pub fn noise(length: usize, seed: u64) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Memory for a destination, each byte of which is `held`.
pub fn memory(held: u8, length: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(held); length]
}

pub fn literal_copy(from: &Side, to: &Side, source: &[u8], destination: &mut [u8], padding: Padding) {
    let (bits, to_bits) = (from.map.element_bits(), to.map.element_bits());
    let at = |offset: usize, bits: u32| offset as u64 * u64::from(bits);
    let pattern = match padding {
        Padding::Keep => None,
        Padding::Zero => Some(0),
        Padding::Fill(pattern) => Some(pattern),
    };
    if let Some(pattern) = pattern {
        destination[..to.bytes()].fill(0);
        for offset in 0..to.elements {
            write_bits(destination, at(offset, to_bits), to_bits, pattern).unwrap();
        }
    }
    let signed = from.map.data_type().kind() == ElementKind::Signed;
    for (&a, &b) in from.offsets.iter().zip(&to.offsets) {
        let mut value = read_bits(source, at(a, bits), bits).unwrap();
        if bits < to_bits && signed && value >> (bits - 1) == 1 {
            value |= u128::MAX << bits;
        }
        write_bits(destination, at(b, to_bits), to_bits, value).unwrap();
    }
}

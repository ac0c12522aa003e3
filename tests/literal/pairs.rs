//! Random pairs of layouts, and the literal copy between them: each element is read at its literal offset on
//! one side, and written at its literal offset on the other side.

use proptest::prelude::*;
use tensor_layout::element::ElementKind;
use tensor_layout::map::Swizzle;
use tensor_layout::relayout::Padding;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, LayoutClass, ToIndexMap};

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
        let map = desc.to_index_map().unwrap();
        let (places, owns) = (map.physical_elements(), map.gap_owner());
        // Without the bytes by which the size of a descriptor is rounded up.
        Side { map: map.with_physical_elements(places).unwrap().with_gap_owner(owns), offsets, elements }
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

    /// The side with its offsets swizzled: each bit is flipped by the higher bits of its mask. Tiles that are
    /// no digits stay as they are.
    pub fn swizzled(self, flips: &[(u32, u64)]) -> Side {
        if self.map.class() == LayoutClass::Irreducible {
            return self;
        }
        let moved = |offset: usize| {
            let odd = |mask: u64| (0..64).filter(|bit| (offset as u64 & mask) >> bit & 1 == 1).count() % 2;
            flips.iter().fold(offset, |moved, &(bit, by)| moved ^ (odd(by) << bit))
        };
        let offsets: Vec<usize> = self.offsets.iter().map(|&offset| moved(offset)).collect();
        let map = self.map.with_swizzle(&Swizzle::new(flips).unwrap()).unwrap();
        Side { elements: map.physical_elements() as usize, offsets, map }
    }

    /// The side swizzled, unless it is already.
    pub fn swizzled_once(&self, flips: &[(u32, u64)]) -> Side {
        if self.map.swizzle().is_some() { self.clone() } else { self.clone().swizzled(flips) }
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

/// Types of every width that a descriptor has.
pub fn data_type() -> impl Strategy<Value = DataType> {
    use DataType::{BF16, C128, F6E2M3FN, F32, F64, S1, S4, U2, U3, U7, U8};
    prop::sample::select(vec![U8, BF16, F32, F64, C128, S4, U2, S1, F6E2M3FN, U3, U7])
}

/// A type, and a width that the elements of both sides have: that of the type, or any other one.
fn equal_widths() -> impl Strategy<Value = (DataType, [u32; 2])> {
    let odd =
        prop_oneof![3 => 1..=32_u32, 1 => 33..=140_u32, 1 => prop::sample::select(vec![24_u32, 48, 96, 192, 256])];
    // Elements of more than 128 bits are whole bytes.
    let odd = odd.prop_map(|bits| if bits > 128 { bits.next_multiple_of(8) } else { bits });
    let other = (prop::sample::select(vec![DataType::S4, DataType::U8, DataType::F32]), odd);
    prop_oneof![
        4 => data_type().prop_map(|data_type| (data_type, [data_type.bits(); 2])),
        1 => other.prop_map(|(data_type, bits)| (data_type, [bits; 2])),
    ]
}

/// A type, and the widths of its elements packed and in a byte each. The type's own width may be less.
pub fn packed_and_bytes() -> impl Strategy<Value = (DataType, [u32; 2])> {
    use DataType::{F4E2M1FN, F6E2M3FN, F6E3M2FN, Pred, S1, S2, S4, U1, U2, U4};
    let fours = [(S4, 4), (U4, 4), (S2, 4), (F4E2M1FN, 4)];
    let sixes = [(F6E2M3FN, 6), (F6E3M2FN, 6), (F4E2M1FN, 6), (S4, 6), (U1, 6)];
    let streams = [(U2, 3), (S2, 3), (U4, 5), (S4, 5), (S4, 7), (U1, 7)];
    let others = [(S2, 2), (U2, 2), (S1, 1), (U1, 1), (Pred, 1)];
    let all = [&fours[..], &sixes, &streams, &others].concat();
    prop::sample::select(all).prop_map(|(data_type, bits)| (data_type, [bits, 8]))
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

/// The shape with this many bits for each element.
pub fn with_bits(shape: ArrayShape, bits: u32) -> ArrayShape {
    let mut layout = shape.layout().clone();
    layout.element_bits = Some(bits).filter(|&bits| {
        bits != if shape.data_type().is_stream() {
            shape.data_type().bits()
        } else {
            shape.data_type().bits().next_multiple_of(8)
        }
    });
    ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap()
}

/// The shape with elements as wide as its type.
pub fn with_own_bits(shape: ArrayShape) -> ArrayShape {
    let bits = shape.data_type().bits();
    with_bits(shape, bits)
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

/// A side of any layout with this many bits for each element. It is tiled if its type has another width.
pub fn side(sizes: Vec<u64>, kind: Tiles, data_type: DataType, bits: u32) -> impl Strategy<Value = Side> {
    let shape = shape_of(sizes.clone(), kind, data_type);
    let tiled = shape.prop_map(move |shape| Side::tiled(&with_bits(of_bounded_size(shape), bits)));
    let side = if bits == data_type.bits() {
        prop_oneof![2 => tiled, 1 => strided_side(sizes, data_type)].boxed()
    } else {
        tiled.boxed()
    };
    (side, flips()).prop_map(|(side, flips)| if flips.is_empty() { side } else { side.swizzled(&flips) })
}

/// Mostly none, or some bits and the higher bits that flip them.
pub fn flips() -> impl Strategy<Value = Vec<(u32, u64)>> {
    let flip = (0..6_u32, 1..16_u64).prop_map(|(bit, by)| (bit, by << (bit + 1)));
    let some = prop::collection::vec(flip, 1..4).prop_map(|mut flips| {
        flips.sort_unstable();
        flips.dedup_by_key(|flip| flip.0);
        flips
    });
    prop_oneof![5 => Just(Vec::new()), 1 => some]
}

/// Two layouts of equal sizes, with these types and widths.
pub fn pair_of(widths: impl Strategy<Value = (DataType, [u32; 2])>) -> impl Strategy<Value = (Side, Side)> {
    let kind = prop::sample::select(vec![Tiles::PowersOfTwo, Tiles::Ragged, Tiles::Combined]);
    let sizes = prop_oneof![6 => sizes(4, 7), 1 => prop::collection::vec(1..=40_u64, 2)];
    (sizes, kind, widths).prop_flat_map(|(sizes, kind, (data_type, [from, to]))| {
        (side(sizes.clone(), kind, data_type, from), side(sizes, kind, data_type, to))
    })
}

/// Two layouts with elements of equal widths.
pub fn pair() -> impl Strategy<Value = (Side, Side)> {
    pair_of(equal_widths())
}

/// Two layouts whose elements have any pair of widths that `Relayout` takes: equal ones, and also a packed
/// side and a side with a byte for each element.
pub fn pair_of_any_widths() -> impl Strategy<Value = (Side, Side)> {
    let change = (packed_and_bytes(), any::<bool>());
    let change = change.prop_map(|((data_type, [packed, byte]), unpack)| {
        (data_type, if unpack { [packed, byte] } else { [byte, packed] })
    });
    pair_of(prop_oneof![3 => equal_widths(), 2 => change])
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

pub fn literal_copy(from: &Side, to: &Side, source: &[u8], destination: &mut [u8], padding: Padding) {
    let (bits, to_bits) = (from.map.element_bits(), to.map.element_bits());
    let at = |offset: usize, bits: u32| offset as u64 * u64::from(bits);
    let pattern = match padding {
        Padding::Keep => None,
        Padding::Zero => Some(0),
        Padding::Fill(pattern) => Some(pattern),
    };
    // An element of more than 128 bits is copied in parts.
    let parts = |bits: u32| (0..bits).step_by(128).map(move |part| (u64::from(part), (bits - part).min(128)));
    if let Some(pattern) = pattern {
        destination[..to.bytes()].fill(0);
        for offset in 0..to.bytes() * 8 / to_bits as usize {
            write_bits(destination, at(offset, to_bits), to_bits, pattern).unwrap();
        }
    }
    let signed = from.map.data_type().kind() == ElementKind::Signed;
    for (&a, &b) in from.offsets.iter().zip(&to.offsets) {
        for ((part, from_bits), (_, to_bits)) in parts(bits).zip(parts(to_bits)) {
            let mut value = read_bits(source, at(a, bits) + part, from_bits).unwrap();
            if from_bits < to_bits && signed && value >> (from_bits - 1) == 1 {
                value |= u128::MAX << from_bits;
            }
            write_bits(destination, at(b, to.map.element_bits()) + part, to_bits, value).unwrap();
        }
    }
}

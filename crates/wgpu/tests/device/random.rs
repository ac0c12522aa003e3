//! Random pairs of layouts, as the property tests of the crate have them.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tensor_layout::relayout::Padding;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};

use crate::literal::{Tiles, bounded, shape_of, sizes};

/// Values of a strategy: TENSOR_LAYOUT_CASES of them, or `default`. Every run draws equal values.
pub(crate) fn values<S: Strategy>(strategy: &S, default: usize) -> impl Iterator<Item = S::Value> + '_ {
    let cases = std::env::var("TENSOR_LAYOUT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..cases).map(move |_| strategy.new_tree(&mut runner).expect("a value").current())
}

/// Two layouts of one tensor, either of any kind.
pub(crate) fn pair() -> impl Strategy<Value = (IndexMap, IndexMap)> {
    (sizes(4, 7), data_type())
        .prop_flat_map(|(sizes, data_type)| (side(sizes.clone(), data_type), side(sizes, data_type)))
}

/// Every width from 1 bit to 16 bytes.
fn data_type() -> impl Strategy<Value = DataType> {
    use DataType::{BF16, C128, F32, F64, S1, S4, U2, U8};
    prop::sample::select(vec![U8, BF16, F32, F64, C128, S4, U2, S1])
}

fn side(sizes: Vec<u64>, data_type: DataType) -> impl Strategy<Value = IndexMap> {
    let kind = prop::sample::select(vec![Tiles::PowersOfTwo, Tiles::Ragged, Tiles::Combined]);
    let shape = {
        let sizes = sizes.clone();
        kind.prop_flat_map(move |kind| shape_of(sizes.clone(), kind, data_type))
    };
    prop_oneof![
        2 => shape.prop_map(|shape| small(with_own_bits(&shape)).to_index_map().unwrap()),
        1 => strided(sizes, data_type),
    ]
}

/// Elements of less than a byte are side by side, as a descriptor's do.
fn with_own_bits(shape: &ArrayShape) -> ArrayShape {
    let (mut layout, bits) = (shape.layout().clone(), shape.data_type().bits());
    if bits < 8 {
        layout.element_bits = Some(bits);
    }
    ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap()
}

/// The shape with as many of its tiles as keep it small.
fn small(mut shape: ArrayShape) -> ArrayShape {
    while !bounded(&shape, 4000) {
        let tiles = shape.layout().tiles();
        let layout = shape.layout().clone().with_tiles(&tiles[..tiles.len() - 1]);
        shape = ArrayShape::new(shape.data_type(), shape.sizes(), layout).unwrap();
    }
    shape
}

/// Packed in some order, with gaps, broadcast, and not always at the start of its buffer.
fn strided(sizes: Vec<u64>, data_type: DataType) -> impl Strategy<Value = IndexMap> {
    let rank = sizes.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let gaps = prop::collection::vec(prop_oneof![3 => Just(0_u64), 1 => 0..4_u64], rank);
    let odd = prop::collection::vec(prop_oneof![8 => Just(None), 1 => (0..7_u64).prop_map(Some)], rank);
    let base = prop_oneof![3 => Just(0_u64), 1 => 0..9_u64];
    (order, gaps, odd, base).prop_map(move |(order, gaps, odd, base)| {
        let (mut strides, mut next) = (vec![0; rank], 1);
        for &axis in &order {
            strides[axis] = odd[axis].unwrap_or(next + gaps[axis]);
            next = (next + gaps[axis]) * sizes[axis].max(1);
        }
        let desc = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap();
        desc.to_index_map().unwrap()
    })
}

/// Padding that is kept, zero, or a pattern of all bits.
pub(crate) fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::Keep), Just(Padding::Zero), any::<u128>().prop_map(Padding::Fill)]
}

/// The padding with a pattern of at most this many bits.
pub(crate) fn within(padding: Padding, bits: u32) -> Padding {
    match padding {
        Padding::Fill(pattern) if bits < 128 => Padding::Fill(pattern & ((1 << bits) - 1)),
        other => other,
    }
}

//! Access to a tensor: offsets and index widths, against brute force.

use crate::literal::cases;
use crate::read::strided;
use proptest::prelude::*;
use tensor_layout::strided::IndexWidth;
use tensor_layout::{BufferTensorDesc, DataType};

fn desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axes = proptest::collection::vec((0..5_u64, prop_oneof![0..12_u64, Just(1)]), 0..4);
    (axes, 0..9_u64, any::<bool>()).prop_map(|(axes, base, packed)| {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, (!packed).then_some(&strides)).unwrap();
        desc.with_base_offset(base).unwrap()
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn offsets_are_those_of_every_index_in_order(desc in desc()) {
        let mut expected = Vec::new();
        for number in 0..desc.element_count() {
            let mut rest = number;
            let mut index = vec![0; desc.rank()];
            for axis in (0..desc.rank()).rev() {
                index[axis] = rest % desc.sizes()[axis];
                rest /= desc.sizes()[axis];
            }
            expected.push(desc.offset(&index).unwrap());
        }
        prop_assert_eq!(desc.offsets().size_hint(), (expected.len(), Some(expected.len())));
        prop_assert_eq!(desc.offsets().collect::<Vec<_>>(), expected);
    }

}

#[test]
fn iterators_know_how_many_are_left() {
    for desc in [strided(&[3, 4], &[5, 1]), strided(&[3, 2, 2], &[40, 9, 3]), strided(&[12], &[1]), strided(&[0], &[1])]
    {
        let all: Vec<u64> = desc.offsets().collect();
        for skipped in 0..=all.len() {
            let mut offsets = desc.offsets();
            assert_eq!(offsets.nth(skipped), all.get(skipped).copied(), "{desc}");
            assert_eq!(offsets.collect::<Vec<u64>>(), all.get(skipped + 1..).unwrap_or(&[]), "{desc}");
        }
    }
}

#[test]
fn index_widths_at_their_edges() {
    let width = |last: u64| strided(&[2], &[last]).index_width();
    assert_eq!(width(i32::MAX as u64), IndexWidth::I32);
    assert_eq!(width(i32::MAX as u64 + 1), IndexWidth::U32);
    assert_eq!(width(u64::from(u32::MAX)), IndexWidth::U32);
    assert_eq!(width(u64::from(u32::MAX) + 1), IndexWidth::U64);
    assert_eq!(strided(&[0], &[0]).index_width(), IndexWidth::I32);
}

#[test]
fn rows_padded_to_an_alignment() {
    let rows = |t, size, alignment| BufferTensorDesc::padded_rows(t, &[4, size], alignment);
    assert_eq!(rows(DataType::U8, 256, 256).unwrap().strides(), [256, 1]);
    assert_eq!(rows(DataType::U8, 257, 256).unwrap().strides(), [512, 1]);
    assert_eq!(rows(DataType::U4, 3, 4).unwrap().strides(), [8, 1]);
    assert_eq!(rows(DataType::F32, 5, 24).unwrap().strides(), [6, 1]);
    for (t, alignment) in [(DataType::F32, 0), (DataType::F32, 2), (DataType::F32, 6), (DataType::C128, 8)] {
        assert_eq!(rows(t, 5, alignment).unwrap_err().code(), "not_expressible");
    }
    assert_eq!(BufferTensorDesc::padded_rows(DataType::F32, &[0_u64; 0], 256).unwrap().min_size_in_bytes(), 4);
    assert_eq!(rows(DataType::U8, u64::MAX, 256).unwrap_err().code(), "overflow");
}

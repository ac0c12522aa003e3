//! The post-conditions of constructors, against offsets that are counted.

use crate::literal::{cases, indices};
use proptest::prelude::*;
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(0..5_u64, 0..5)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn new_keeps_sizes_and_strides(axes in proptest::collection::vec((0..5_u64, 0..20_u64), 0..5)) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::F16, &sizes, Some(&strides)).unwrap();
        prop_assert_eq!((desc.sizes(), desc.strides()), (&sizes[..], &strides[..]));
        for index in indices(&sizes) {
            let dot = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<u64>();
            prop_assert_eq!(desc.offset(&index), Ok(dot));
            let as_i64: Vec<i64> = index.iter().map(|&i| i as i64).collect();
            prop_assert_eq!(desc.offset(&as_i64), Ok(dot));
        }
        let signed: Vec<i32> = sizes.iter().map(|&size| size as i32).collect();
        let steps: Vec<i32> = strides.iter().map(|&stride| stride as i32).collect();
        prop_assert_eq!(BufferTensorDesc::new(DataType::F16, &signed, Some(&steps)).unwrap(), desc);
    }

    #[test]
    fn packed_counts_offsets_in_order(sizes in sizes()) {
        let desc = BufferTensorDesc::packed(DataType::U8, &sizes).unwrap();
        let offsets: Vec<u64> = indices(&sizes).map(|index| desc.offset(&index).unwrap()).collect();
        prop_assert!(offsets.iter().copied().eq(0..desc.element_count()));
    }

    #[test]
    fn with_order_is_packed_in_that_order(sizes in proptest::collection::vec(1..5_u64, 4), order in 0..4_usize) {
        let order: AxisOrder = ["NCHW", "NHWC", "CHWN", "HWCN"][order].parse().unwrap();
        let desc = BufferTensorDesc::with_order(DataType::U8, &sizes, order).unwrap();
        let in_memory: Vec<u64> = order.axes().map(|axis| sizes[axis]).collect();
        for (expected, place) in (0..).zip(indices(&in_memory)) {
            let mut index = [0; 4];
            order.axes().zip(place).for_each(|(axis, i)| index[axis] = i);
            prop_assert_eq!(desc.offset(&index), Ok(expected));
        }
    }

    #[test]
    fn padded_rows_begin_aligned(sizes in proptest::collection::vec(1..9_u64, 1..4), alignment in 1..9_u64) {
        let alignment = alignment * 4;
        let desc = BufferTensorDesc::padded_rows(DataType::F16, &sizes, alignment).unwrap();
        let (row, rows) = sizes.split_last().unwrap();
        let pitch = (row * 2).next_multiple_of(alignment);
        for (number, place) in (0..).zip(indices(rows)) {
            for column in 0..*row {
                let index = [&place[..], &[column]].concat();
                prop_assert_eq!(desc.offset_in_bytes(&index), Ok((number * pitch + column * 2) as usize));
            }
        }
    }

    #[test]
    fn nhwc_padded_rows_begin_aligned(sizes in proptest::array::uniform4(1..6_u64), alignment in 1..9_u64) {
        let (alignment, [n, c, h, w]) = (alignment * 4, sizes);
        let desc = BufferTensorDesc::nhwc_padded_rows(DataType::F16, sizes, alignment).unwrap();
        let pitch = (w * c * 2).next_multiple_of(alignment);
        let in_memory = [n, h, w, c];
        for i in indices(&in_memory) {
            let expected = (i[0] * h + i[1]) * pitch + (i[2] * c + i[3]) * 2;
            let index = [i[0], i[3], i[1], i[2]];
            prop_assert_eq!(desc.offset_in_bytes(&index), Ok(expected as usize));
        }
    }

    #[test]
    fn canonical_strides_change_no_offset(axes in proptest::collection::vec((1..4_u64, 0..20_u64), 0..5)) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::F16, &sizes, Some(&strides)).unwrap();
        let canonical = desc.clone().with_canonical_strides();
        prop_assert_eq!(&canonical, &desc);
        let again = canonical.clone().with_canonical_strides();
        prop_assert_eq!(again.strides(), canonical.strides());
    }
}

/// The order that a text or a constructor asked for is in the strides of axes of size 1.
#[test]
fn an_order_that_was_asked_for_stays() {
    for (order, strides) in [("NHWC", [16, 1, 4, 1]), ("NCHW", [16, 16, 4, 1]), ("CHWN", [1, 32, 8, 2])] {
        let sizes = [2, 1, 4, 4];
        let desc = BufferTensorDesc::with_order(DataType::F32, &sizes, order.parse().unwrap()).unwrap();
        assert_eq!(desc.with_canonical_strides().strides(), strides, "{order}");
    }
}

#[test]
fn named_orders_equal_their_letters() {
    for order in [AxisOrder::NCHW, AxisOrder::NHWC, AxisOrder::NCDHW, AxisOrder::NDHWC] {
        assert_eq!(order, order.to_string().parse().unwrap());
        assert_eq!(order, order.to_string().to_lowercase().parse().unwrap());
    }
    // The axis of each letter in the logical order: `OIHW` for HWIO.
    for (memory, axes) in [
        ("WHCN", &[3, 2, 1, 0][..]),
        ("HWIO", &[2, 3, 1, 0]),
        ("GOIDHW", &[0, 1, 2, 3, 4, 5]),
        ("dcba", &[3, 2, 1, 0]),
        ("WC", &[1, 0]),
    ] {
        assert_eq!(memory.parse::<AxisOrder>().unwrap().axes().collect::<Vec<_>>(), axes, "{memory}");
    }
    for order in ["", "NCHC", "NCXW", "acd", "NCHWNCHWN", "N1", "é"] {
        assert_eq!(order.parse::<AxisOrder>().unwrap_err().code(), "bad_axis_order", "{order}");
    }
}

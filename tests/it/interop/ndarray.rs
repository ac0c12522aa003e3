//! Conversions to and from ndarray.
#![cfg(feature = "ndarray")]

use crate::literal::cases;
use ndarray::{Array3, ArrayD, Axis, Dimension, s};
use proptest::prelude::*;
use tensor_layout::interop::ndarray::{array_from_bytes, describe, relayout_array, view, view_mut};
use tensor_layout::map::same_layout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, ToIndexMap};

fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::U32, sizes, Some(strides)).unwrap()
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn views_read_what_the_descriptor_says(
        axes in proptest::collection::vec((0..5_u64, 0..20_u64), 0..4),
        base in 0..9_u64,
    ) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = strided(&sizes, &strides).with_base_offset(base).unwrap();
        let length = usize::try_from(desc.span_elements()).unwrap();
        let mut buffer: Vec<u32> = (0..).take(length).collect();
        let array = view(&desc, &buffer).unwrap();
        let read: Vec<u64> = array.iter().map(|&element| element.into()).collect();
        prop_assert_eq!(&read, &desc.offsets().collect::<Vec<_>>());
        let back = describe(&array).unwrap();
        let moved = desc.clone().with_base_offset(0_u64).unwrap();
        prop_assert!(same_layout(&back, &moved).unwrap() || desc.element_count() == 0, "{} {}", back, desc);
        prop_assert_eq!(offsets(&desc), array.mapv(u64::from));
        if length > 0 {
            prop_assert_eq!(view(&desc, &buffer[..length - 1]).unwrap_err().code(), "buffer_too_short");
        }
        match view_mut(&desc, &mut buffer) {
            Ok(mut array) => {
                array.fill(u32::MAX);
                let written = buffer.iter().filter(|&&element| element == u32::MAX).count();
                prop_assert_eq!(written as u64, desc.element_count());
            }
            Err(error) => {
                let expected = if desc.facts().overlapping == Some(true) { "overlapping_destination" } else { "not_expressible" };
                prop_assert_eq!(error.code(), expected);
            }
        }
    }
}

#[test]
fn a_layout_that_ndarray_takes_for_overlapping_is_refused_as_such() {
    let error = view_mut(&strided(&[3, 4], &[4, 3]), &mut [0_u32; 18]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no mutable array view describes this layout: no two indices share an element, but ndarray's own quick \
         test cannot tell"
    );
    assert!(view(&strided(&[3, 4], &[4, 3]), &[0_u32; 18]).is_ok());
}

#[test]
fn arrays_describe_themselves() {
    let array = Array3::<f64>::zeros((2, 3, 4));
    assert_eq!(describe(&array).unwrap(), BufferTensorDesc::packed(DataType::F64, &[2, 3, 4]).unwrap());
    let view = array.view().permuted_axes([2, 0, 1]);
    assert_eq!(describe(&view).unwrap().to_string(), "f64[4,2,3]:[1,12,4]");
    let wide = array.index_axis(Axis(1), 1);
    let wide = wide.broadcast((5, 2, 4)).unwrap();
    assert_eq!(describe(&wide).unwrap().to_string(), "f64[5,2,4]:[0,12,1]");
}

#[test]
fn a_reversed_axis_is_refused_by_name_unless_it_has_one_index() {
    let array = Array3::<u8>::zeros((2, 3, 1));
    let refused = describe(&array.slice(s![..;-1, .., ..])).unwrap_err();
    assert_eq!(refused.to_string(), "number 0 of the strides is negative, which cannot be expressed here");
    assert!(describe(&array.slice(s![.., .., ..;-1])).is_ok());
}

#[test]
fn a_view_is_of_its_type_and_length() {
    let desc = BufferTensorDesc::packed(DataType::U32, &[2]).unwrap();
    let mut words = [1_u32, 2, 3];
    assert_eq!(view::<u32>(&desc, &words).unwrap().as_slice(), Some(&[1, 2][..]));
    assert_eq!(view::<u32>(&desc, &words[..1]).unwrap_err().code(), "buffer_too_short");
    assert_eq!(view::<i32>(&desc, &[1, 2]).unwrap_err().code(), "data_type_mismatch");
    view_mut::<u32>(&desc, &mut words[1..]).unwrap().fill(9);
    assert_eq!(words, [1, 9, 9]);
}

#[test]
fn a_mutable_broadcast_is_refused_with_its_witness() {
    let mut buffer = [0_u32; 3];
    let error = view_mut(&strided(&[2, 3], &[0, 1]), &mut buffer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the destination overlaps itself: indices [1, 0] and [0, 0] are both stored at element 0"
    );
}

#[test]
fn sizes_that_ndarray_cannot_count_are_refused() {
    let huge = strided(&[1 << 62, 2], &[0, 0]);
    assert_eq!(view(&huge, &[0_u32]).unwrap_err().code(), "overflow");
    let odd = strided(&[1, 2], &[u64::MAX, 1]);
    assert_eq!(view(&odd, &[7_u32, 8]).unwrap().iter().sum::<u32>(), 15);
}

#[cfg(feature = "half")]
#[test]
fn half_precision_arrays() {
    let array = ndarray::arr1(&[half::f16::ONE, half::f16::ZERO]);
    assert_eq!(describe(&array).unwrap().data_type(), DataType::F16);
    assert_eq!(describe(&array.mapv(|x| half::bf16::from_f32(x.into()))).unwrap().data_type(), DataType::BF16);
}

/// The views are of all kinds: permuted, sliced, reversed, broadcast.
#[test]
fn arrays_go_into_any_layout_and_come_back() {
    let array = Array3::from_shape_fn((3, 5, 4), |(i, j, k)| (i * 20 + j * 4 + k) as u32);
    let flat = array.index_axis(Axis(2), 1);
    let first = array.slice(s![0..1, .., ..]);
    let views = [
        array.view().into_dyn(),
        array.view().permuted_axes([2, 0, 1]).into_dyn(),
        array.slice(s![.., 1..4, ..;2]).into_dyn(),
        array.slice(s![..;-1, .., ..]).into_dyn(),
        array.slice(s![.., ..;-1, 1..2]).into_dyn(),
        flat.broadcast((2, 3, 5)).unwrap().into_dyn(),
        first.broadcast((6, 5, 4)).unwrap().into_dyn(),
        array.slice(s![0..0, .., ..]).into_dyn(),
    ];
    for view in &views {
        let sizes: Vec<String> = view.shape().iter().map(usize::to_string).collect();
        for layout in ["{2,1,0}", "{0,1,2}", "{2,1,0:T(2,2)}", "{1,0,2:T(*,3)(2,1)}"] {
            let shape: ArrayShape = format!("u32[{}]{layout}", sizes.join(",")).parse().unwrap();
            let buffer = relayout_array(view, &shape).unwrap();
            for (&offset, &element) in offsets(&shape).iter().zip(view) {
                assert_eq!(buffer[offset as usize], element);
            }
            assert_eq!(array_from_bytes::<u32>(&shape, bytemuck::cast_slice(&buffer)).unwrap(), view);
            let mut bytes = vec![0];
            bytes.extend_from_slice(bytemuck::cast_slice(&buffer));
            assert_eq!(array_from_bytes::<u32>(&shape, &bytes[1..]).unwrap(), view);
        }
    }
}

#[test]
fn arrays_of_another_type_or_shape_are_refused() {
    let array = Array3::<u32>::zeros((1, 2, 3));
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let code = |text: &str| relayout_array(&array, &shape(text)).unwrap_err().code();
    assert_eq!(code("f32[1,2,3]"), "data_type_mismatch");
    assert_eq!(code("u32[1,2,4]"), "size_mismatch");
    assert_eq!(code("u32[2,3]"), "rank_mismatch");
    let back = |text: &str| array_from_bytes::<u32>(&shape(text), &[0; 20]).unwrap_err().code();
    assert_eq!(back("u32[2,3]"), "buffer_too_short");
    assert_eq!(back("s32[5]"), "data_type_mismatch");
}

fn offsets(layout: &impl ToIndexMap) -> ArrayD<u64> {
    let map = layout.to_index_map().unwrap();
    let sizes: Vec<usize> = map.sizes().iter().map(|&size| size as usize).collect();
    ArrayD::from_shape_fn(sizes, |index| map.offset(index.slice()).unwrap())
}

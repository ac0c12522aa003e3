//! The operations that real engines wrap around DirectML's struct, with the engines' own examples,
//! and the folds that some engines get wrong.

use crate::read::{packed, strided};
use tensor_layout::element::Naming;
use tensor_layout::map::same_layout;
use tensor_layout::strided::{NewAxes, Slice};
use tensor_layout::upload::{DeviceLimits, PackedBuffer, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
use tensor_layout_text::{Layout, ViewStep};

fn assert_is(desc: &BufferTensorDesc, sizes: &[u64], strides: &[u64]) {
    assert_eq!((desc.sizes(), desc.strides()), (sizes, strides));
}

/// The views that engines make by hand: a tensor, the steps, and the sizes and strides, or why there is no
/// such view.
#[test]
fn views() {
    for row in include_str!("views.txt").lines().filter(|row| !row.starts_with('#')) {
        let [from, steps, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let from: Layout = from.parse().unwrap();
        let mut steps = steps.split("; ").map(|step| step.split_once(' ').unwrap());
        let view = steps.try_fold(from.clone(), |view, (name, value)| {
            ViewStep::read_all_on(name, value, view.sizes())?.iter().try_fold(view, |view, step| view.view(step))
        });
        match view {
            Ok(view) => {
                let expected: Layout = format!("f32{expected}").parse().unwrap();
                assert!(view.difference(&expected).unwrap().is_none(), "{from}: {view}, not {expected}");
            }
            Err(error) => assert_eq!(error.code(), expected, "{from}"),
        }
    }
    assert_eq!(packed(&[2, 3, 4]).explicit_strides(), None);
    assert_eq!(BufferTensorDesc::packed(DataType::F32, &[1_u64 << 32, 1 << 32, 2]).unwrap_err().code(), "overflow");
    let nwc = BufferTensorDesc::with_order(DataType::F32, &[2, 4, 3], "NWC".parse().unwrap()).unwrap();
    assert_is(&nwc.reshape(&[2, 4, 1, 3]).unwrap().with_canonical_strides(), &[2, 4, 1, 3], &[12, 1, 12, 4]);
    assert_is(&packed(&[2, 3, 4]).select(0, 0).unwrap(), &[3, 4], &[4, 1]);
}

#[test]
fn own_sizes_and_strides_deep_copy_and_equality() {
    let (mut sizes, mut strides) = ([2, 3], [3, 1]);
    let desc = strided(&sizes, &strides);
    let copy = desc.clone();
    (sizes, strides) = ([9, 9], [9, 9]);
    assert_ne!(desc.sizes(), sizes);
    assert_ne!(desc.strides(), strides);
    assert_eq!(copy, desc);
    // Chromium compares without the flags.
    let owned = desc.clone().with_flags(TensorFlags::OwnedByDirectml);
    assert!(same_layout(&desc, &owned).unwrap());
    assert_ne!(desc, owned);
}

#[test]
fn scalar_to_one_axis() {
    let desc = packed(&[]).rank_at_least(1, NewAxes::Front);
    assert_eq!((desc.sizes(), desc.total_tensor_size_in_bytes()), (&[1][..], 4));
    assert!(same_layout(&desc, &strided(&[1], &[1])).unwrap());
}

#[test]
fn ensure_minimum_rank_leading_and_trailing() {
    assert_is(&packed(&[3, 4, 5]).rank_at_least(5, NewAxes::Front), &[1, 1, 3, 4, 5], &[0, 0, 20, 5, 1]);
    let eight = packed(&[1, 2, 3, 4]).rank_at_least(8, NewAxes::Back);
    assert_is(&eight, &[1, 2, 3, 4, 1, 1, 1, 1], &[24, 12, 4, 1, 0, 0, 0, 0]);
}

// Chromium's own unit test expects [4, 2, 3]/[6, 3, 1] here, because the size in bytes is the same. But the
// first two axes are swapped: index 1 of the folded axis is stored at 12, not at 6.
#[test]
fn wrong_fold_chromium_swapped_axes() {
    let desc = strided(&[2, 2, 1, 2, 3], &[6, 12, 6, 3, 1]);
    assert_eq!(desc.reshape(&[4, 2, 3]).unwrap_err().code(), "not_a_view");
    assert_eq!(desc.offsets().nth(6), Some(12));
}

// Chromium: the padding byte disappears in the rounding to four bytes.
#[test]
fn wrong_fold_chromium_padding_hidden_by_rounding() {
    let desc = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[4, 1])).unwrap();
    assert_eq!(desc.min_size_in_bytes(), BufferTensorDesc::packed(DataType::U8, &[6]).unwrap().min_size_in_bytes());
    assert_eq!(desc.reshape(&[6]).unwrap_err().code(), "not_a_view");
}

// ONNX Runtime's comments call both cases impossible.
#[test]
fn wrong_comment_onnx_runtime_collapsible() {
    assert_is(&strided(&[2, 1, 4], &[4, 0, 1]).reshape(&[8]).unwrap(), &[8], &[1]);
    assert_is(&strided(&[2, 3, 1, 840], &[2520, 840, 0, 1]).coalesce(), &[5040], &[1]);
}

// ONNX Runtime's PermuteDimensions and fold do not update the total size.
#[test]
fn views_recompute_the_total_size() {
    let part = packed(&[4, 4]).select(0, 0).unwrap();
    assert_eq!(part.total_tensor_size_in_bytes(), 16);
}

#[test]
fn simplify_a_transpose_to_few_axes() {
    // In [2,3,4,5,6], the groups (4,5) and (2,3) are swapped. Three axes are enough.
    let source = packed(&[2, 3, 4, 5, 6]).permute(&[0, 3, 4, 1, 2]).unwrap();
    let target = packed(&[2, 5, 6, 3, 4]);
    assert_is(&source.coalesce(), &[2, 30, 12], &[360, 1, 30]);
    assert_is(&target.coalesce(), &[720], &[1]);
}

// ONNX Runtime PR 14225: SetStrides left a stale total size.
#[test]
fn set_strides_recomputes_the_size() {
    let packed = packed(&[2, 3]);
    let desc = BufferTensorDesc::new(packed.data_type(), packed.sizes(), Some(&[16, 1])).unwrap();
    assert_eq!((desc.min_size_in_bytes(), desc.total_tensor_size_in_bytes()), (76, 76));
}

#[test]
fn set_total_size_only_upward() {
    let desc = packed(&[2, 3]);
    assert_eq!(desc.clone().with_total_size_in_bytes(20).unwrap_err().code(), "total_size_too_small");
    assert_eq!(desc.clone().with_total_size_in_bytes(26).unwrap_err().code(), "total_size_unaligned");
    assert_eq!(desc.with_total_size_in_bytes(64).unwrap().total_tensor_size_in_bytes(), 64);
}

#[test]
fn guaranteed_alignment() {
    assert_eq!(packed(&[2]).with_base_offset_alignment(32).unwrap().base_offset_alignment(), 32);
    for wrong in [2, 3, 12] {
        assert_eq!(packed(&[2]).with_base_offset_alignment(wrong).unwrap_err().code(), "bad_alignment");
    }
}

#[test]
fn signed_to_unsigned_index_type() {
    for (from, to) in [(DataType::S64, DataType::U64), (DataType::S4, DataType::U4)] {
        let desc = BufferTensorDesc::packed(from, &[8]).unwrap();
        let unsigned = desc.reinterpret(to).unwrap();
        assert_eq!((unsigned.data_type(), unsigned.min_size_in_bytes()), (to, desc.min_size_in_bytes()));
    }
}

#[test]
fn int64_by_32_bit_with_doubled_strides_and_end_padding() {
    let low_words = |desc: &BufferTensorDesc| {
        let words = desc.reinterpret(DataType::U32).unwrap();
        let words = words.slice_axis(desc.rank() - 1, Slice::ALL.step_by(2)).unwrap();
        words.with_total_size_in_bytes(desc.total_tensor_size_in_bytes()).unwrap()
    };
    let desc = BufferTensorDesc::packed(DataType::S64, &[2, 3]).unwrap();
    let words = low_words(&desc);
    assert_eq!((words.data_type(), words.sizes(), words.strides()), (DataType::U32, &[2, 3][..], &[6, 2][..]));
    assert_eq!((words.min_size_in_bytes(), words.total_tensor_size_in_bytes()), (44, 44 + 4));
    // A slice of an int64 tensor keeps its place.
    let part = low_words(&BufferTensorDesc::packed(DataType::S64, &[4]).unwrap().slice_axis(0, 1..3).unwrap());
    assert_eq!((part.base_offset(), part.span_elements(), part.total_tensor_size_in_bytes()), (2, 5, 24));
}

#[test]
fn remap_64_to_32_bit_type_and_is_signed() {
    use tensor_layout::element::ElementKind;
    assert_eq!(DataType::S64.kind(), ElementKind::Signed);
    assert_eq!(DataType::U64.kind(), ElementKind::Unsigned);
}

#[test]
fn narrow_i64_shape_with_check() {
    let from = |sizes: &[i64]| BufferTensorDesc::new(DataType::F32, sizes, None);
    assert_eq!(from(&[2, 3]).unwrap(), packed(&[2, 3]));
    assert_eq!(from(&[-1, 3]).unwrap_err().code(), "negative");
}

#[test]
fn data_types_by_framework_name() {
    assert_eq!(
        DataType::from_name_in(Naming::Numpy, "float16").and_then(|found| found.name_in(Naming::Directml)),
        Some("FLOAT16")
    );
    assert_eq!(
        DataType::from_name_in(Naming::Directml, "UINT8").and_then(|found| found.name_in(Naming::Numpy)),
        Some("uint8")
    );
}

#[test]
fn reinterpret_type_and_shape_on_the_same_bytes() {
    let desc = packed(&[2, 3]);
    let bytes = desc.reinterpret(DataType::U8).unwrap();
    assert_eq!((bytes.sizes(), bytes.total_tensor_size_in_bytes()), (&[2, 12][..], 24));
    assert_eq!(
        bytes.reshape(&[24]).unwrap().reshape(&[6, 4]).unwrap().reinterpret(DataType::S32).unwrap().sizes(),
        [6, 1]
    );
}

#[test]
fn pack_many_tensors_in_one_buffer() {
    let descs = [packed(&[3]), packed(&[5]).with_base_offset_alignment(32).unwrap(), packed(&[1])];
    let buffer = PackedBuffer::new(
        &descs.iter().map(|desc| desc as &dyn tensor_layout::ToIndexMap).collect::<Vec<_>>(),
        &DeviceLimits::directml(),
    )
    .unwrap();
    assert_eq!((buffer.offsets, buffer.len), (vec![0, 32, 64], 68));
}

// ONNX Runtime PR 31665: constants were not checked against the shape.
#[test]
fn verify_that_cpu_bytes_cover_the_shape() {
    let report = validate(&packed(&[1, 4]), &UploadBuffer::new(16, 0, Role::Input), &DeviceLimits::directml());
    let report = report.unwrap();
    assert_eq!(
        report.check_upload_length(15).unwrap_err().to_string(),
        "the CPU slice holds 15 bytes, but its layout needs 16"
    );
    assert_eq!(report.check_upload_length(16), Ok(0));
}

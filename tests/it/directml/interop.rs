//! DirectML's structures, both ways, and DxDispatch's JSON.
#![cfg(feature = "directml")]
#![allow(unsafe_code, reason = "reading raw structures back, as DirectML would")]

use std::ptr;

use proptest::prelude::*;
use tensor_layout::interop::directml::{DirectmlFields, DirectmlTensor, RawBufferTensorDesc};
use tensor_layout::upload::FeatureLevel;
use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};

fn read(raw: &RawBufferTensorDesc) -> Result<BufferTensorDesc, tensor_layout::Error> {
    // SAFETY: every structure in this file points to arrays of `dimension_count` numbers, or to nothing.
    unsafe { raw.to_desc() }
}

proptest! {
    #[test]
    fn there_and_back(
        axes in proptest::collection::vec((1..9_u64, 0..500_u64), 1..=8),
        kind in 0..DataType::ALL.len(),
        alignment in prop_oneof![Just(0_u32), Just(16), Just(256)],
        more in 0..100_u64,
        owned in any::<bool>(),
        explicit in any::<bool>(),
    ) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::ALL[kind], &sizes, explicit.then_some(&strides)).unwrap();
        let total = desc.min_size_in_bytes() + 4 * more;
        let desc = desc.with_total_size_in_bytes(total).unwrap().with_base_offset_alignment(alignment).unwrap();
        let desc = desc.with_flags(if owned { TensorFlags::OwnedByDirectml } else { TensorFlags::None });
        match DirectmlTensor::new(&desc, FeatureLevel::LATEST) {
            Ok(tensor) => {
                let lent = tensor.lend();
                prop_assert_eq!(lent.strides.is_null(), !explicit);
                let back = read(&lent).unwrap();
                prop_assert_eq!(&back, &desc);
                let canonical = desc.with_canonical_strides();
                prop_assert_eq!(back.explicit_strides(), canonical.explicit_strides());
            }
            Err(errors) => prop_assert_eq!(errors.codes(), ["unsupported_data_type"]),
        }
    }
}

#[test]
fn what_the_level_does_not_know_is_refused() {
    let desc = BufferTensorDesc::packed(DataType::S64, &[2, 2]).unwrap();
    let codes = |level| DirectmlTensor::new(&desc, level).map_err(|errors| errors.codes()).err();
    assert_eq!(codes(FeatureLevel::V1_0), Some(vec!["unsupported_data_type", "rank_limit"]));
    assert_eq!(codes(FeatureLevel::V3_0), None);
}

#[test]
fn a_slice_hands_its_base_to_the_binding() {
    let desc = BufferTensorDesc::packed(DataType::F32, &[8, 8]).unwrap().with_base_offset_alignment(256).unwrap();
    let part = desc.slice_axis(0, 3..5).unwrap();
    let tensor = DirectmlTensor::new(&part, FeatureLevel::LATEST).unwrap();
    assert_eq!((tensor.offset_in_bytes, tensor.total_size_in_bytes), (96, 64));
    // The buffer has a promise of 256. After 96 bytes, a promise of 32 remains.
    assert_eq!(tensor.lend().guaranteed_base_offset_alignment, 32);
}

#[test]
fn the_outer_structure_points_to_the_inner_one() {
    let desc = BufferTensorDesc::packed(DataType::U8, &[4]).unwrap();
    let tensor = DirectmlTensor::new(&desc, FeatureLevel::LATEST).unwrap();
    let lent = tensor.lend();
    let outer = lent.tensor_desc();
    let inner = outer.desc.cast::<RawBufferTensorDesc>();
    assert_eq!(inner, ptr::from_ref(&*lent));
    // SAFETY: `lent` lives, and the pointer was made from a reference to its structure.
    assert_eq!(read(unsafe { &*inner }).unwrap(), desc);
}

#[test]
fn damaged_structures_are_refused() {
    let sizes = [1, 1, 2, 3];
    let good = RawBufferTensorDesc {
        data_type: 1,
        flags: 0,
        dimension_count: 4,
        sizes: sizes.as_ptr(),
        strides: ptr::null(),
        total_tensor_size_in_bytes: 24,
        guaranteed_base_offset_alignment: 0,
    };
    assert_eq!(read(&good).unwrap().sizes(), [1, 1, 2, 3]);
    let zero = [1, 0, 2, 3];
    let huge = [u32::MAX; 4];
    let cases: [(RawBufferTensorDesc, &str); 10] = [
        (RawBufferTensorDesc { data_type: 0, ..good }, "unknown_data_type"),
        (RawBufferTensorDesc { data_type: -1, ..good }, "unknown_data_type"),
        (RawBufferTensorDesc { flags: 2, ..good }, "out_of_limits"),
        (RawBufferTensorDesc { dimension_count: 0, ..good }, "out_of_limits"),
        (RawBufferTensorDesc { dimension_count: 9, ..good }, "out_of_limits"),
        (RawBufferTensorDesc { sizes: ptr::null(), ..good }, "bad_pointer"),
        (RawBufferTensorDesc { sizes: zero.as_ptr(), ..good }, "zero_size"),
        (RawBufferTensorDesc { sizes: huge.as_ptr(), ..good }, "overflow"),
        (RawBufferTensorDesc { total_tensor_size_in_bytes: 20, ..good }, "total_size_too_small"),
        (RawBufferTensorDesc { guaranteed_base_offset_alignment: 3, ..good }, "bad_alignment"),
    ];
    for (raw, code) in cases {
        assert_eq!(read(&raw).unwrap_err().code(), code, "{raw:?}");
    }
    let short =
        DirectmlFields { data_type: 1, flags: 0, sizes: &sizes, strides: Some(&[1, 1]), total_size: 24, alignment: 0 };
    assert_eq!(BufferTensorDesc::try_from(short).unwrap_err().code(), "rank_mismatch");
}

#[test]
fn directml_pointers_are_checked() {
    let (sizes, strides) = ([1_u32, 1, 2, 3], [6_u32, 6, 3, 1]);
    let good = RawBufferTensorDesc {
        data_type: 1,
        flags: 0,
        dimension_count: 4,
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        total_tensor_size_in_bytes: 24,
        guaranteed_base_offset_alignment: 0,
    };
    // SAFETY: both lists hold four numbers, and nothing is read through an unaligned pointer.
    let read = |raw: RawBufferTensorDesc| unsafe { raw.to_desc() };
    assert_eq!(read(good).unwrap().strides(), [6, 6, 3, 1]);
    let error = read(RawBufferTensorDesc { sizes: good.sizes.wrapping_byte_add(1), ..good }).unwrap_err();
    assert_eq!(error.to_string(), "the pointer to the Sizes is null or not a multiple of 4 bytes");
    let error = read(RawBufferTensorDesc { strides: good.strides.wrapping_byte_add(2), ..good }).unwrap_err();
    assert_eq!(error.to_string(), "the pointer to the Strides is null or not a multiple of 4 bytes");
    assert_eq!(read(RawBufferTensorDesc { sizes: ptr::null(), ..good }).unwrap_err().code(), "bad_pointer");
}

mod json {
    use tensor_layout::AnyLayout;
    use tensor_layout::{BufferTensorDesc, DataType, Error, TensorFlags};
    use tensor_layout_text::{Layout, Notation, to_notation};

    fn read(text: &str) -> Result<BufferTensorDesc, Error> {
        match text.parse::<Layout>()?.any()? {
            AnyLayout::Strided(desc) => Ok(desc.clone()),
            other => panic!("{other:?}"),
        }
    }

    // Both forms are in DxDispatch's guide, which says that they are equivalent.
    #[test]
    fn the_two_forms_of_the_guide() {
        let long = read(
            r#"{ "Type": "DML_TENSOR_TYPE_BUFFER", "Desc": { "DataType": "DML_TENSOR_DATA_TYPE_FLOAT32",
               "Flags": "DML_TENSOR_FLAG_NONE", "DimensionCount": 4, "Sizes": [1,1,2,3], "Strides": [6,6,3,1],
               "TotalTensorSizeInBytes": 24, "GuaranteedBaseOffsetAlignment": 0 } }"#,
        );
        assert_eq!(long, read(r#"{ "DataType": "FLOAT32", "Sizes": [1,1,2,3] }"#));
    }

    #[test]
    fn there_and_back() {
        let desc = BufferTensorDesc::nhwc(DataType::F16, [1, 3, 4, 5])
            .unwrap()
            .with_flags(TensorFlags::OwnedByDirectml)
            .with_base_offset_alignment(64)
            .unwrap()
            .with_total_size_in_bytes(256)
            .unwrap();
        let text = to_notation(&desc, Notation::Directml).unwrap();
        assert_eq!(
            text,
            r#"{"DataType":"FLOAT16","Flags":"OWNED_BY_DML","Sizes":[1,3,4,5],"Strides":[60,1,15,3],"TotalTensorSizeInBytes":256,"GuaranteedBaseOffsetAlignment":64}"#
        );
        assert_eq!(read(&text), Ok(desc));
    }

    #[test]
    fn wrong_fields_are_refused() {
        let code = |text| read(text).unwrap_err().code();
        assert_eq!(code(r#"{ "DataType": "FLOAT8", "Sizes": [1] }"#), "parse");
        assert_eq!(code(r#"{ "DataType": "INT8", "Sizes": [1], "Flags": "ALL" }"#), "parse");
        assert_eq!(code(r#"{ "DataType": "INT8", "Sizes": [1], "DimensionCount": 2 }"#), "parse");
        assert_eq!(code(r#"{ "DataType": "INT8", "Sizes": [0] }"#), "parse");
        assert_eq!(
            code(r#"{ "DataType": "INT8", "Sizes": [9], "TotalTensorSizeInBytes": 8 }"#),
            "total_size_too_small"
        );
        let part = BufferTensorDesc::packed(DataType::S8, &[4]).unwrap().with_base_offset(4).unwrap();
        assert_eq!(to_notation(&part, Notation::Directml).unwrap_err().code(), "not_expressible");
    }
}

//! `interop::directml` against the structures of the `windows` crate, which are generated from Microsoft's
//! metadata.
#![cfg(all(windows, feature = "windows"))]
#![allow(unsafe_code, reason = "raw pointers of a C interface; each block says why it is sound")]

use std::mem::{ManuallyDrop, align_of, size_of};

use tensor_layout::interop::directml::{
    DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER, DirectmlTensor, RawBufferBinding, RawBufferTensorDesc,
    RawTensorDesc,
};
use tensor_layout::upload::FeatureLevel;
use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
use windows::Win32::AI::MachineLearning::DirectML as dml;

/// The words of a structure. Both structures of a pair are zeroed before their fields are set, or are made
/// field by field, so padding is not compared.
fn words<T: Copy>(value: &T) -> Vec<u32> {
    assert!(align_of::<T>() >= 4 && size_of::<T>() % 4 == 0);
    let start: *const u32 = std::ptr::from_ref(value).cast();
    // SAFETY: `T` is one of DirectML's structures. It was zeroed before its fields were set, so its padding
    // has a value too.
    unsafe { std::slice::from_raw_parts(start, size_of::<T>() / 4) }.to_vec()
}

#[test]
fn a_pointer_to_one_is_a_pointer_to_the_other() {
    let (sizes, strides) = ([2_u32, 3, 5, 7], [105_u32, 35, 7, 1]);
    // SAFETY: the fields are numbers and raw pointers, for which zero is a valid value.
    let (mut ours, mut theirs): (RawBufferTensorDesc, dml::DML_BUFFER_TENSOR_DESC) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    ours.data_type = 2;
    ours.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    ours.dimension_count = 4;
    ours.sizes = sizes.as_ptr();
    ours.strides = strides.as_ptr();
    ours.total_tensor_size_in_bytes = 0x1_0000_0002;
    ours.guaranteed_base_offset_alignment = 256;
    theirs.DataType = dml::DML_TENSOR_DATA_TYPE_FLOAT16;
    theirs.Flags = dml::DML_TENSOR_FLAG_OWNED_BY_DML;
    theirs.DimensionCount = 4;
    theirs.Sizes = sizes.as_ptr();
    theirs.Strides = strides.as_ptr();
    theirs.TotalTensorSizeInBytes = 0x1_0000_0002;
    theirs.GuaranteedBaseOffsetAlignment = 256;
    assert_eq!(words(&ours), words(&theirs));

    // SAFETY: the fields are numbers and raw pointers, for which zero is a valid value.
    let (mut outer, mut their_outer): (RawTensorDesc, dml::DML_TENSOR_DESC) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    outer.tensor_type = DML_TENSOR_TYPE_BUFFER;
    outer.desc = std::ptr::from_ref(&ours).cast();
    their_outer.Type = dml::DML_TENSOR_TYPE_BUFFER;
    their_outer.Desc = outer.desc;
    assert_eq!(words(&outer), words(&their_outer));
}

#[test]
fn descriptors_go_there_and_back() {
    for desc in [
        BufferTensorDesc::packed(DataType::F32, &[2, 3]).unwrap(),
        BufferTensorDesc::nhwc(DataType::F16, [1, 3, 8, 8]).unwrap(),
        BufferTensorDesc::packed(DataType::U8, &[3, 5]).unwrap().with_flags(TensorFlags::OwnedByDirectml),
    ] {
        let tensor = DirectmlTensor::new(&desc, FeatureLevel::V5_0).unwrap();
        let lent = tensor.lend();
        let theirs = dml::DML_BUFFER_TENSOR_DESC::from(*lent);
        assert_eq!(theirs.DimensionCount as usize, desc.rank());
        assert_eq!(theirs.TotalTensorSizeInBytes, desc.total_tensor_size_in_bytes());
        let back = RawBufferTensorDesc::from(theirs);
        // SAFETY: the arrays belong to `tensor`.
        assert_eq!(unsafe { back.to_desc() }.unwrap(), desc);

        let outer = lent.tensor_desc();
        let theirs = dml::DML_TENSOR_DESC::from(*outer);
        assert_eq!(theirs.Type, dml::DML_TENSOR_TYPE_BUFFER);
        let back = RawTensorDesc::from(theirs);
        assert_eq!((back.tensor_type, back.desc), (outer.tensor_type, outer.desc));
    }
}

#[test]
fn bindings_go_there_and_back() {
    let theirs = dml::DML_BUFFER_BINDING { Buffer: ManuallyDrop::new(None), Offset: 512, SizeInBytes: 0x1_0000_0004 };
    let ours = RawBufferBinding::from(&theirs);
    assert!(ours.buffer.is_null());
    assert_eq!((ours.offset, ours.size_in_bytes), (512, 0x1_0000_0004));
    // SAFETY: the pointer is null.
    assert_eq!(unsafe { ours.to_windows() }, theirs);
}

#[test]
fn data_types_have_the_same_numbers() {
    for (data_type, theirs) in [
        (DataType::F32, dml::DML_TENSOR_DATA_TYPE_FLOAT32),
        (DataType::F16, dml::DML_TENSOR_DATA_TYPE_FLOAT16),
        (DataType::U32, dml::DML_TENSOR_DATA_TYPE_UINT32),
        (DataType::U16, dml::DML_TENSOR_DATA_TYPE_UINT16),
        (DataType::U8, dml::DML_TENSOR_DATA_TYPE_UINT8),
        (DataType::S32, dml::DML_TENSOR_DATA_TYPE_INT32),
        (DataType::S16, dml::DML_TENSOR_DATA_TYPE_INT16),
        (DataType::S8, dml::DML_TENSOR_DATA_TYPE_INT8),
        (DataType::F64, dml::DML_TENSOR_DATA_TYPE_FLOAT64),
        (DataType::U64, dml::DML_TENSOR_DATA_TYPE_UINT64),
        (DataType::S64, dml::DML_TENSOR_DATA_TYPE_INT64),
    ] {
        let value = data_type.directml_value().map(i64::from);
        assert_eq!(value, Some(i64::from(theirs.0)), "{data_type:?}");
    }
    assert_eq!(dml::DML_TENSOR_DIMENSION_COUNT_MAX1, 8);
}

//! PJRT's and DLPack's C structures, both ways.
#![cfg(all(feature = "pjrt", feature = "dlpack"))]
#![allow(unsafe_code, reason = "reading the raw structures back")]

use std::ptr;

use tensor_layout::interop::dlpack::{DlDataType, DlDevice, DlFields, DlLayout, DlTensor};
use tensor_layout::interop::pjrt::{PjrtFields, PjrtLayout};
use tensor_layout::notation::AnyLayout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error};

const CPU: DlDevice = DlDevice { device_type: 1, device_id: 0 };

fn pjrt(layout: &PjrtLayout, data_type: DataType, sizes: &[u64]) -> Result<AnyLayout, Error> {
    let raw = layout.raw();
    // SAFETY: `layout` owns the lists the structure points to, and outlives the call.
    unsafe { raw.get().to_layout(data_type, sizes) }
}

#[test]
fn tiled_layouts_survive_pjrt() {
    for text in [
        "f32[]",
        "f32[3,5]{1,0}",
        "bf16[300,500]{1,0:T(8,128)(2,1)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        "f32[]{:T(128)}",
        "f32[]{:T()}",
    ] {
        let shape: ArrayShape = text.parse().unwrap();
        let layout = PjrtLayout::tiled(&shape).unwrap();
        assert_eq!(pjrt(&layout, shape.data_type(), shape.sizes()).unwrap(), AnyLayout::Tiled(shape));
    }
    for text in ["s4[8]{0:E(4)}", "f32[8]{0:S(1)}", "f32[8]{0:L(16)}", "f32[8]{0:SC(0:4)}", "f32[8]{0:M(8)}"] {
        let error = PjrtLayout::tiled(&text.parse().unwrap()).unwrap_err();
        assert_eq!(error.code(), "not_expressible", "{text}");
    }
}

#[test]
fn strides_survive_pjrt_in_bytes() {
    let desc = BufferTensorDesc::new(DataType::F16, &[2, 3, 4], Some(&[40, 0, 1])).unwrap();
    let layout = PjrtLayout::strides(&desc).unwrap();
    assert_eq!(layout.fields(), PjrtFields::Strides(&[80, 0, 2]));
    let AnyLayout::Strided(read) = pjrt(&layout, DataType::F16, &[2, 3, 4]).unwrap() else { panic!() };
    assert_eq!(read.strides(), desc.strides());
    let packed = BufferTensorDesc::packed(DataType::S4, &[4, 4]).unwrap();
    assert_eq!(PjrtLayout::strides(&packed).unwrap_err().code(), "not_expressible");
    let shifted = desc.with_base_offset(3).unwrap();
    assert_eq!(PjrtLayout::strides(&shifted).unwrap_err().code(), "not_expressible");
}

#[test]
fn pjrt_fields_are_checked() {
    let code = |fields: PjrtFields<'_>| fields.to_layout(DataType::F32, &[4, 6]).unwrap_err().code();
    let tiled = |minor_to_major: &'static [i64], tile_dims: &'static [i64], tile_dim_sizes: &'static [usize]| {
        PjrtFields::Tiled { minor_to_major, tile_dims, tile_dim_sizes }
    };
    assert_eq!(code(tiled(&[0], &[], &[])), "rank_mismatch");
    assert_eq!(code(tiled(&[0, 0], &[], &[])), "not_a_permutation");
    assert_eq!(code(tiled(&[0, 2], &[], &[])), "axis_out_of_range");
    assert_eq!(code(tiled(&[0, -1], &[], &[])), "overflow");
    assert_eq!(code(tiled(&[1, 0], &[8, 128], &[3])), "rank_mismatch");
    assert_eq!(code(tiled(&[1, 0], &[8, 0], &[2])), "zero_tile");
    assert_eq!(code(tiled(&[1, 0], &[8, i64::MIN], &[2])), "trailing_combine");
    assert_eq!(code(PjrtFields::Strides(&[24])), "rank_mismatch");
    assert_eq!(code(PjrtFields::Strides(&[24, -4])), "not_expressible");
    assert_eq!(code(PjrtFields::Strides(&[24, 3])), "not_expressible");

    let shape: ArrayShape = "f32[4,6]{1,0:T(2,2)}".parse().unwrap();
    let layout = PjrtLayout::tiled(&shape).unwrap();
    let read = |change: &dyn Fn(&mut tensor_layout::interop::pjrt::PjrtMemoryLayout)| {
        let raw = layout.raw();
        let mut changed = *raw.get();
        change(&mut changed);
        // SAFETY: the changes below leave every list valid or null.
        unsafe { changed.to_layout(DataType::F32, &[4, 6]) }
    };
    assert!(read(&|_| {}).is_ok());
    assert_eq!(read(&|raw| raw.layout_type = 7).unwrap_err().code(), "out_of_limits");
    assert_eq!(read(&|raw| raw.struct_size = 8).unwrap_err().code(), "out_of_limits");
    let nowhere =
        |raw: &mut tensor_layout::interop::pjrt::PjrtMemoryLayout| raw.layout.tiled.minor_to_major = ptr::null();
    assert_eq!(read(&nowhere).unwrap_err().code(), "bad_pointer");
    let endless =
        |raw: &mut tensor_layout::interop::pjrt::PjrtMemoryLayout| raw.layout.tiled.minor_to_major_size = usize::MAX;
    assert_eq!(read(&endless).unwrap_err().code(), "out_of_limits");
}

#[test]
fn descriptors_survive_dlpack() {
    for desc in [
        BufferTensorDesc::packed(DataType::F32, &[]).unwrap(),
        BufferTensorDesc::nhwc(DataType::BF16, [2, 3, 8, 8]).unwrap(),
        BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[0, 7])).unwrap().with_base_offset(5).unwrap(),
        BufferTensorDesc::packed(DataType::S4, &[3, 5]).unwrap().with_base_offset(2).unwrap(),
        BufferTensorDesc::packed(DataType::F32, &[0, 5]).unwrap(),
    ] {
        let layout = DlLayout::new(&desc).unwrap();
        let raw = layout.raw(ptr::null_mut(), CPU);
        // SAFETY: `layout` owns the lists the structure points to, and outlives the call.
        let read = unsafe { raw.get().to_desc(0) }.unwrap();
        assert_eq!((read.sizes(), read.strides()), (desc.sizes(), desc.strides()));
        assert_eq!((read.data_type(), read.base_offset()), (desc.data_type(), desc.base_offset()));
    }
    let inside = BufferTensorDesc::packed(DataType::S4, &[3]).unwrap().with_base_offset(1).unwrap();
    assert_eq!(DlLayout::new(&inside).unwrap_err().code(), "not_expressible");
}

#[test]
fn the_fields_of_a_layout_are_what_the_structure_holds() {
    let desc = BufferTensorDesc::new(DataType::F16, &[2, 3], Some(&[8, 1])).unwrap().with_base_offset(5).unwrap();
    let layout = DlLayout::new(&desc).unwrap();
    let fields = layout.fields();
    assert_eq!((fields.shape, fields.strides, fields.byte_offset), (&[2, 3][..], Some(&[8, 1][..]), 10));
    assert!(fields.dtype == DataType::F16.into() && !fields.is_padded_to_bytes);
    assert!(fields.to_desc().unwrap().same_layout(&desc));

    let tiled = PjrtLayout::tiled(&"bf16[300,500]{1,0:T(8,128)(2,1)}".parse().unwrap()).unwrap();
    let expected = PjrtFields::Tiled { minor_to_major: &[1, 0], tile_dims: &[8, 128, 2, 1], tile_dim_sizes: &[2, 2] };
    assert_eq!(tiled.fields(), expected);
}

#[test]
fn every_data_type_has_a_dlpack_code() {
    for &data_type in DataType::ALL {
        let code = DlDataType::from(data_type);
        assert_eq!(code.data_type(), Ok(data_type));
    }
    for (code, bits) in [(3, 64), (2, 8), (15, 8), (18, 4), (99, 8)] {
        let error = DlDataType { code, bits, lanes: 1 }.data_type().unwrap_err();
        assert_eq!(error.code(), "unknown_data_type");
    }
}

#[test]
fn dlpack_fields_are_checked() {
    let good = DlFields {
        dtype: DataType::F32.into(),
        shape: &[2, 3],
        strides: None,
        byte_offset: 0,
        is_padded_to_bytes: false,
    };
    assert_eq!(good.to_desc().unwrap().strides(), [3, 1]);
    let code = |fields: DlFields<'_>| fields.to_desc().unwrap_err().code();
    assert_eq!(code(DlFields { shape: &[2, -3], ..good }), "overflow");
    assert_eq!(code(DlFields { strides: Some(&[1]), ..good }), "rank_mismatch");
    assert_eq!(code(DlFields { strides: Some(&[3, -1]), ..good }), "not_expressible");
    assert_eq!(code(DlFields { byte_offset: 2, ..good }), "not_expressible");
    assert_eq!(code(DlFields { byte_offset: u64::MAX, ..good }), "overflow");
    assert_eq!(code(DlFields { dtype: DlDataType { code: 2, bits: 32, lanes: 0 }, ..good }), "out_of_limits");
    assert_eq!(code(DlFields { dtype: DataType::U4.into(), is_padded_to_bytes: true, ..good }), "not_expressible");
    let vectors = DlFields { dtype: DlDataType { code: 2, bits: 32, lanes: 4 }, strides: Some(&[5, 1]), ..good };
    let desc = vectors.to_desc().unwrap();
    assert_eq!((desc.sizes(), desc.strides()), (&[2, 3, 4][..], &[20, 4, 1][..]));

    let layout = DlLayout::new(&good.to_desc().unwrap()).unwrap();
    let mut raw = *layout.raw(ptr::null_mut(), CPU).get();
    raw.ndim = -1;
    // SAFETY: nothing is read for a rank that is refused.
    assert_eq!(unsafe { raw.to_desc(0) }.unwrap_err().code(), "out_of_limits");
    (raw.ndim, raw.shape) = (2, ptr::null_mut());
    // SAFETY: a shape that is null is refused before it is read.
    assert_eq!(unsafe { raw.to_desc(0) }.unwrap_err().code(), "bad_pointer");
}

#[test]
fn misaligned_dlpack_strides_are_refused() {
    let (mut shape, mut strides) = ([2_i64, 3], [5_i64, 1]);
    let mut raw = DlTensor {
        data: ptr::null_mut(),
        device: CPU,
        ndim: 2,
        dtype: DataType::F32.into(),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    // SAFETY: both lists hold two numbers; nothing is read through an unaligned pointer.
    let read = |raw: &DlTensor| unsafe { raw.to_desc(0) };
    assert_eq!(read(&raw).unwrap().strides(), [5, 1]);
    raw.strides = raw.strides.wrapping_byte_add(4);
    let error = read(&raw).unwrap_err();
    assert_eq!(error.code(), "bad_pointer");
    assert_eq!(error.to_string(), "the pointer to the strides of a DLPack tensor is null or not a multiple of 8 bytes");
    (raw.strides, raw.shape) = (ptr::null_mut(), raw.shape.wrapping_byte_add(1));
    assert_eq!(read(&raw).unwrap_err().code(), "bad_pointer");
    // Without axes there is nothing to read.
    raw.ndim = 0;
    assert_eq!(read(&raw).unwrap().rank(), 0);
}

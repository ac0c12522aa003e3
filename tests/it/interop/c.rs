//! PJRT's and DLPack's C structures, both ways.
#![cfg(all(feature = "pjrt", feature = "dlpack"))]
#![allow(unsafe_code, reason = "reading the raw structures back")]

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use tensor_layout::AnyLayout;
use tensor_layout::interop::dlpack::{
    DlDataType, DlDevice, DlFields, DlLayout, DlManagedTensor, DlOwned, DlTensor, DlVersion,
};
use tensor_layout::interop::pjrt::{PjrtFields, PjrtLayout};
use tensor_layout::map::same_layout;
use tensor_layout::strided::SignedDesc;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error};

const CPU: DlDevice = DlDevice { device_type: 1, device_id: 0 };

fn pjrt(layout: &PjrtLayout, data_type: DataType, sizes: &[u64]) -> Result<AnyLayout, Error> {
    let raw = layout.raw();
    // SAFETY: `layout` owns the lists that the structure points to, and outlives the call.
    unsafe { raw.fields() }?.to_layout(data_type, sizes)
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
        let layout = PjrtLayout::try_from(&shape).unwrap();
        assert_eq!(pjrt(&layout, shape.data_type(), shape.sizes()).unwrap(), AnyLayout::Tiled(shape));
    }
    for text in ["s4[8]{0:E(4)}", "f32[8]{0:S(1)}", "f32[8]{0:L(16)}", "f32[8]{0:SC(0:4)}", "f32[8]{0:M(8)}"] {
        let error = PjrtLayout::try_from(&text.parse::<ArrayShape>().unwrap()).unwrap_err();
        assert_eq!(error.code(), "not_expressible", "{text}");
    }
}

#[test]
fn strides_survive_pjrt_in_bytes() {
    let desc = BufferTensorDesc::new(DataType::F16, &[2, 3, 4], Some(&[40, 0, 1])).unwrap();
    let layout = PjrtLayout::try_from(&desc).unwrap();
    assert_eq!(layout.fields(), PjrtFields::Strides(&[80, 0, 2]));
    let AnyLayout::Strided(read) = pjrt(&layout, DataType::F16, &[2, 3, 4]).unwrap() else { panic!() };
    assert_eq!(read.strides(), desc.strides());
    let packed = BufferTensorDesc::packed(DataType::S4, &[4, 4]).unwrap();
    assert_eq!(PjrtLayout::try_from(&packed).unwrap_err().code(), "not_expressible");
    let shifted = desc.with_base_offset(3).unwrap();
    assert_eq!(PjrtLayout::try_from(&shifted).unwrap_err().code(), "not_expressible");
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
    assert_eq!(code(PjrtFields::Strides(&[24, -4])), "negative");
    let odd = PjrtFields::Strides(&[24, 3]).to_layout(DataType::F32, &[4, 6]).unwrap_err();
    assert!(odd.to_string().contains("axis 1 has a byte stride of 3, which is not a multiple of the 32 bits"), "{odd}");
    assert_eq!(code(PjrtFields::Strides(&[i64::MAX - 3, 4])), "overflow");
    let tiled_is_not_signed = tiled(&[1, 0], &[], &[]).to_signed(DataType::F32, &[4, 6]).unwrap_err();
    assert_eq!(tiled_is_not_signed.code(), "not_expressible");

    let shape: ArrayShape = "f32[4,6]{1,0:T(2,2)}".parse().unwrap();
    let layout = PjrtLayout::try_from(&shape).unwrap();
    let read = |change: &dyn Fn(&mut tensor_layout::interop::pjrt::PjrtMemoryLayout)| {
        let raw = layout.raw();
        let mut changed = *raw;
        change(&mut changed);
        // SAFETY: the changes below leave every list valid or null.
        unsafe { changed.fields() }?.to_layout(DataType::F32, &[4, 6])
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
        BufferTensorDesc::packed(DataType::F32, &[0_u64; 0]).unwrap(),
        BufferTensorDesc::nhwc(DataType::BF16, [2, 3, 8, 8]).unwrap(),
        BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[0, 7])).unwrap().with_base_offset(5).unwrap(),
        BufferTensorDesc::packed(DataType::S4, &[3, 5]).unwrap().with_base_offset(2).unwrap(),
        BufferTensorDesc::packed(DataType::F32, &[0, 5]).unwrap(),
    ] {
        let layout = DlLayout::try_from(&desc).unwrap();
        let raw = layout.raw(ptr::null_mut(), CPU);
        // SAFETY: `layout` owns the lists that the structure points to, and outlives the call.
        let read = BufferTensorDesc::try_from(unsafe { raw.fields(0) }.unwrap()).unwrap();
        assert_eq!((read.sizes(), read.strides()), (desc.sizes(), desc.strides()));
        assert_eq!((read.data_type(), read.base_offset()), (desc.data_type(), desc.base_offset()));
    }
    let inside = BufferTensorDesc::packed(DataType::S4, &[3]).unwrap().with_base_offset(1).unwrap();
    assert_eq!(DlLayout::try_from(&inside).unwrap_err().code(), "not_expressible");
}

#[test]
fn the_fields_of_a_layout_are_what_the_structure_holds() {
    let desc = BufferTensorDesc::new(DataType::F16, &[2, 3], Some(&[8, 1])).unwrap().with_base_offset(5).unwrap();
    let layout = DlLayout::try_from(&desc).unwrap();
    let fields = layout.fields();
    assert_eq!((fields.shape, fields.strides, fields.byte_offset), (&[2, 3][..], Some(&[8, 1][..]), 10));
    assert!(fields.dtype == DataType::F16.into() && !fields.is_padded_to_bytes);
    assert!(same_layout(&BufferTensorDesc::try_from(fields).unwrap(), &desc).unwrap());

    let tiled = PjrtLayout::try_from(&"bf16[300,500]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>().unwrap()).unwrap();
    let expected = PjrtFields::Tiled { minor_to_major: &[1, 0], tile_dims: &[8, 128, 2, 1], tile_dim_sizes: &[2, 2] };
    assert_eq!(tiled.fields(), expected);
}

#[test]
fn every_data_type_has_a_dlpack_code() {
    for &data_type in DataType::ALL {
        let code = DlDataType::from(data_type);
        assert_eq!(DataType::try_from(code), Ok(data_type));
    }
    for (code, bits) in [(3, 64), (2, 8), (15, 8), (18, 4), (99, 8)] {
        let error = DataType::try_from(DlDataType { code, bits, lanes: 1 }).unwrap_err();
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
    assert_eq!(BufferTensorDesc::try_from(good).unwrap().strides(), [3, 1]);
    let code = |fields: DlFields<'_>| BufferTensorDesc::try_from(fields).unwrap_err().code();
    assert_eq!(code(DlFields { shape: &[2, -3], ..good }), "negative");
    assert_eq!(code(DlFields { strides: Some(&[1]), ..good }), "rank_mismatch");
    assert_eq!(code(DlFields { strides: Some(&[3, -1]), ..good }), "negative");
    assert_eq!(code(DlFields { byte_offset: 2, ..good }), "not_expressible");
    assert_eq!(code(DlFields { byte_offset: u64::MAX, ..good }), "overflow");
    assert_eq!(code(DlFields { dtype: DlDataType { code: 2, bits: 32, lanes: 0 }, ..good }), "out_of_limits");
    assert_eq!(code(DlFields { dtype: DataType::U4.into(), is_padded_to_bytes: true, ..good }), "not_expressible");
    let vectors = DlFields { dtype: DlDataType { code: 2, bits: 32, lanes: 4 }, strides: Some(&[5, 1]), ..good };
    let desc = BufferTensorDesc::try_from(vectors).unwrap();
    assert_eq!((desc.sizes(), desc.strides()), (&[2, 3, 4][..], &[20, 4, 1][..]));

    let layout = DlLayout::try_from(&BufferTensorDesc::try_from(good).unwrap()).unwrap();
    let mut raw = *layout.raw(ptr::null_mut(), CPU);
    raw.ndim = -1;
    // SAFETY: nothing is read for a rank that is refused.
    assert_eq!(unsafe { raw.fields(0) }.unwrap_err().code(), "out_of_limits");
    (raw.ndim, raw.shape) = (2, ptr::null_mut());
    // SAFETY: a shape that is null is refused before it is read.
    assert_eq!(unsafe { raw.fields(0) }.unwrap_err().code(), "bad_pointer");
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
    // SAFETY: both lists hold two numbers, and nothing is read through an unaligned pointer.
    let read = |raw: &DlTensor| BufferTensorDesc::try_from(unsafe { raw.fields(0) }?);
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

/// Reads every element by hand. Index 0 is at `first`, and each step adds a stride, which may be negative.
fn elements(sizes: &[i64], strides: &[i64], first: u64, buffer: &[u8]) -> Vec<u8> {
    let mut offsets = vec![i64::try_from(first).unwrap()];
    for (&size, &stride) in sizes.iter().zip(strides) {
        offsets = offsets.iter().flat_map(|offset| (0..size).map(move |i| offset + i * stride)).collect();
    }
    offsets.iter().map(|&offset| buffer[usize::try_from(offset).unwrap()]).collect()
}

#[test]
fn negative_strides_are_copied_in_the_order_of_the_indices() {
    let buffer: Vec<u8> = (0..120).collect();
    let cases: [(&[i64], &[i64]); 8] = [
        (&[4, 6], &[-6, 1]),
        (&[4, 6], &[6, -1]),
        (&[4, 6], &[-6, -1]),
        (&[4, 6], &[-1, 7]),
        (&[2, 3, 4], &[-40, 4, -1]),
        (&[2, 3, 4], &[0, -9, 2]),
        (&[5, 1], &[-3, i64::MIN]),
        (&[0, 6], &[i64::MIN, -1]),
    ];
    for (sizes, strides) in cases {
        let unsigned: Vec<u64> = sizes.iter().map(|&size| u64::try_from(size).unwrap()).collect();
        let packed = BufferTensorDesc::packed(DataType::U8, &unsigned).unwrap();
        for byte_offset in [0, 17, 119] {
            let fields = DlFields {
                dtype: DataType::U8.into(),
                shape: sizes,
                strides: Some(strides),
                byte_offset,
                is_padded_to_bytes: false,
            };
            let read = SignedDesc::try_from(fields).unwrap();
            // The pointer to the first element is `first` after the start of the descriptor's buffer.
            assert!(read.first == byte_offset || read.desc.base_offset() == 0);
            let relayout = crate::literal::replanned::reversing(&read.desc, &packed, &read.reversed).unwrap();
            if relayout.source_size_in_bytes() > 120 {
                continue;
            }
            let mut found = vec![0; usize::try_from(packed.element_count()).unwrap()];
            relayout.run(&buffer, &mut found).unwrap();
            assert_eq!(found, elements(sizes, strides, read.first, &buffer), "{sizes:?}:{strides:?}+{byte_offset}");
        }
        let pjrt = PjrtFields::Strides(strides).to_signed(DataType::U8, &unsigned).unwrap();
        let from = BufferTensorDesc::from_signed(DataType::U8, sizes, strides).unwrap();
        assert_eq!(pjrt, from);
        assert_eq!(from.desc.base_offset(), 0);
    }
}

#[test]
fn dlpack_strides_are_null_without_axes_or_from_an_older_producer() {
    let mut shape = [2_i64, 3];
    let raw = |ndim: i32, shape: *mut i64| DlTensor {
        data: ptr::null_mut(),
        device: CPU,
        ndim,
        dtype: DlDataType { code: 2, bits: 32, lanes: 2 },
        shape,
        strides: ptr::null_mut(),
        byte_offset: 8,
    };
    // SAFETY: the shape holds two numbers, or there are no axes.
    let read = |raw: DlTensor| BufferTensorDesc::try_from(unsafe { raw.fields(0) }.unwrap()).unwrap();
    // In version 1.2, a tensor without axes may have two null pointers.
    assert_eq!(read(raw(0, ptr::null_mut())).to_string(), "f32[2]:[1]+2");
    // Before version 1.2, null strides mean packed. The lanes are one more axis.
    assert_eq!(read(raw(2, shape.as_mut_ptr())).to_string(), "f32[2,3,2]:[6,2,1]+2");
    // Descriptors that are written have strides.
    let scalar = DlLayout::try_from(&BufferTensorDesc::packed(DataType::F32, &[0_u64; 0]).unwrap()).unwrap();
    assert_eq!(scalar.fields().strides, Some(&[][..]));
    let packed = DlLayout::try_from(&BufferTensorDesc::packed(DataType::F32, &[2, 3]).unwrap()).unwrap();
    assert!(!packed.raw(ptr::null_mut(), CPU).strides.is_null());
}

#[test]
fn strides_of_one_index_or_of_no_elements_are_ignored() {
    fn fields<'a>(shape: &'a [i64], strides: &'a [i64]) -> DlFields<'a> {
        let strides = Some(strides);
        DlFields { dtype: DataType::F64.into(), shape, strides, byte_offset: 0, is_padded_to_bytes: false }
    }
    for stride in [0, 1, 99, -1, i64::MIN, i64::MAX] {
        let desc = BufferTensorDesc::try_from(fields(&[2, 1, 3], &[3, stride, 1])).unwrap();
        assert!(same_layout(&desc, &BufferTensorDesc::packed(DataType::F64, &[2, 1, 3]).unwrap()).unwrap());
        // Neither is a byte stride that is not a whole number of elements.
        let AnyLayout::Strided(desc) =
            PjrtFields::Strides(&[24, stride / 2, 8]).to_layout(DataType::F64, &[2, 1, 3]).unwrap()
        else {
            panic!()
        };
        assert!(desc.facts().packed);
    }
    let empty = BufferTensorDesc::try_from(fields(&[3, 0], &[i64::MAX, i64::MAX])).unwrap();
    assert_eq!((empty.element_count(), empty.min_size_in_bytes()), (0, 0));
    let empty = SignedDesc::try_from(fields(&[3, 0], &[-7, i64::MIN])).unwrap();
    assert_eq!((empty.desc.span_elements(), empty.first, empty.reversed), (0, 0, vec![]));
    // NumPy's strides of arrays without elements are 0, PyTorch's are packed: both are read, packed ones are
    // written.
    let sizes = [11, 10, 0, 0, 0, 0, 0, 0, 11, 10, 2570];
    let packed = [2_827_000, 282_700, 282_700, 282_700, 282_700, 282_700, 282_700, 282_700, 25_700, 2570, 1];
    for strides in [&[0; 11][..], &packed] {
        let read = BufferTensorDesc::try_from(fields(&sizes, strides)).unwrap();
        let written = DlLayout::try_from(&read).unwrap();
        assert_eq!(written.fields().strides, Some(&packed[..]));
    }
}

/// What a producer calls when its tensor is no longer used, and how often.
static DELETED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn delete(_: *mut DlManagedTensor) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn managed_tensors_are_deleted_once_and_other_major_versions_are_not_read() {
    let desc: BufferTensorDesc = "f4e2m1fn[3,8]:[8,1]".parse().unwrap();
    let layout = DlLayout::try_from(&desc).unwrap();
    let raw = layout.raw(ptr::null_mut(), CPU);
    let managed = |major| DlManagedTensor {
        version: DlVersion { major, minor: 9 },
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete),
        flags: 1,
        dl_tensor: *raw,
    };
    for (major, minor_is_read) in [(1, true), (0, false), (2, false), (u32::MAX, false)] {
        let mut own = managed(major);
        let before = DELETED.load(Ordering::Relaxed);
        // SAFETY: `own` and the lists of `layout` live until the tensor is dropped.
        let taken = unsafe { DlOwned::new(ptr::NonNull::from(&mut own)) };
        match taken {
            Ok(owned) => {
                assert!(minor_is_read && owned.is_read_only());
                assert_eq!(BufferTensorDesc::try_from(owned.fields().unwrap()), Ok(desc.clone()));
                assert_eq!(DELETED.load(Ordering::Relaxed), before);
            }
            Err(error) => assert!(!minor_is_read && error.code() == "out_of_limits", "{error}"),
        }
        assert_eq!(DELETED.load(Ordering::Relaxed), before + 1);
    }
}

/// The lanes of an element are its last axis, of types below a byte too: PyTorch's float4 has two of 4 bits.
#[test]
fn lanes_of_any_width_are_an_axis() {
    for (dtype, strides, expected) in [
        (DlDataType { code: 17, bits: 4, lanes: 2 }, [8, 1], "f4e2m1fn[3,8,2]:[16,2,1]"),
        (DlDataType { code: 0, bits: 4, lanes: 8 }, [8, 1], "s4[3,8,8]:[64,8,1]"),
        (DlDataType { code: 15, bits: 6, lanes: 4 }, [9, 1], "f6e2m3fn[3,8,4]:[36,4,1]"),
        (DlDataType { code: 4, bits: 16, lanes: 2 }, [1, 3], "bf16[3,8,2]:[2,6,1]"),
        (DlDataType { code: 1, bits: 1, lanes: 8 }, [8, 1], "u1[3,8,8]:[64,8,1]"),
    ] {
        let fields =
            DlFields { dtype, shape: &[3, 8], strides: Some(&strides), byte_offset: 0, is_padded_to_bytes: false };
        assert_eq!(BufferTensorDesc::try_from(fields).unwrap().to_string(), expected);
    }
}

#[test]
fn dlpack_numbers_that_pass_64_bits_are_refused() {
    let fields = |shape: &'static [i64], strides: Option<&'static [i64]>, byte_offset| DlFields {
        dtype: DlDataType { code: 2, bits: 64, lanes: 2 },
        shape,
        strides,
        byte_offset,
        is_padded_to_bytes: false,
    };
    let code = |fields: DlFields<'_>| SignedDesc::try_from(fields).unwrap_err().code();
    assert_eq!(code(fields(&[3], Some(&[i64::MAX]), 0)), "overflow");
    assert_eq!(code(fields(&[3], Some(&[i64::MIN]), 0)), "overflow");
    assert_eq!(code(fields(&[i64::MAX, 3], None, 0)), "overflow");
    assert_eq!(code(fields(&[i64::MAX, i64::MAX], Some(&[0, 0]), 0)), "overflow");
    assert_eq!(code(fields(&[2], Some(&[1]), 1 << 63)), "overflow");
    assert_eq!(code(fields(&[-1], Some(&[1]), 0)), "negative");
}

//! The owner of the gaps, sizes with one meaning each, and integers of any type.
#![cfg_attr(feature = "directml", allow(unsafe_code, reason = "reading a raw structure back, as DirectML would"))]

use crate::read::desc;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};

/// This case once zeroed other tokens: a slot of a cache, described by an engine's own numbers.
#[test]
fn a_base_offset_of_any_value_makes_a_part() {
    let numbers = || BufferTensorDesc::new(DataType::U8, &[2, 3, 4], Some(&[32, 4, 1])).unwrap();
    let slice = desc("u8[2,8,4]:[32,4,1]").slice_axis(1, 0..3).unwrap();
    assert!(!numbers().is_part());
    for part in [numbers().with_base_offset(0).unwrap(), numbers().as_part(), slice] {
        assert!(part.is_part() && part.to_string() == "u8[2,3,4]:[32,4,1]+0");
        let copy = Relayout::new(&desc("u8[2,3,4]:[12,4,1]"), &part).unwrap();
        let error = copy.clone().with_padding(Padding::Zero).unwrap_err();
        assert_eq!(error.code(), "padding_of_part");
        let words = error.to_string();
        assert!(words.contains("`as_part`") && words.contains("`with_padding_of_whole_buffer`"), "{words}");
        let mut memory = [7; 64];
        copy.run(&[1; 24], &mut memory).unwrap();
        assert_eq!(memory.iter().filter(|&&byte| byte == 7).count(), 40, "tokens of others");
    }
    // Views, texts and lowered descriptors remain parts.
    let part = numbers().as_part();
    let turned = part.permute(&[1, 0, 2]).unwrap();
    assert!(turned.is_part() && turned.to_string().parse::<BufferTensorDesc>().unwrap() == turned);
    let tensor_layout::bridge::Lowering::Strided(lowered) =
        tensor_layout::lower(&part.to_index_map().unwrap()).unwrap()
    else {
        panic!()
    };
    assert!(lowered.is_part());
    for line in tensor_layout_text::all_notations(&part).into_iter().filter(|line| {
        use tensor_layout_text::Notation::{Numpy, Strides};
        matches!(line.notation, Numpy | Strides)
    }) {
        let text = line.text.unwrap();
        let read: tensor_layout_text::Layout = text.parse().unwrap();
        assert!(read.as_descriptor().is_some_and(BufferTensorDesc::is_part), "{text}");
    }
}

#[test]
fn a_total_set_by_hand_stays() {
    let rows = BufferTensorDesc::packed(DataType::F32, &[242]).unwrap().with_total_size_in_bytes(1024).unwrap();
    let total = |desc: BufferTensorDesc| desc.total_tensor_size_in_bytes();
    assert_eq!(total(rows.clone().with_base_offset(0).unwrap()), 1024);
    assert_eq!(total(rows.clone().with_base_offset(14).unwrap()), 1024);
    assert_eq!(total(rows.with_base_offset(15).unwrap()), 1028);
}

/// The descriptor, and then its logical, exact, bound, minimum, total and physical bytes.
#[test]
fn each_size_has_one_meaning() {
    let cache = BufferTensorDesc::packed(DataType::F16, &[4, 16, 3]).unwrap();
    for (desc, sizes) in [
        (cache.slice_axis(1, 5..7).unwrap(), [48, 300, 300, 332, 332, 330]),
        (desc("f16[3]:[1]"), [6, 6, 8, 8, 8, 6]),
        (desc("u4[3,5]:[5,1]"), [8, 8, 8, 8, 8, 8]),
        (desc("u4[3]:[1]+3"), [2, 2, 4, 4, 4, 3]),
        (desc("f32[2,3]:[5,1]").with_total_size_in_bytes(40).unwrap(), [24, 32, 40, 32, 40, 40]),
        (desc("f32[2,3]:[0,1]"), [24, 12, 12, 12, 12, 12]),
        (desc("f32[0,3]:[3,1]+8"), [0, 0, 0, 0, 0, 0]),
    ] {
        let found = [
            desc.logical_size_in_bytes(),
            desc.exact_size_in_bytes(),
            desc.bound_size_in_bytes(),
            desc.min_size_in_bytes(),
            desc.total_tensor_size_in_bytes(),
            desc.to_index_map().unwrap().physical_size_in_bytes(),
        ];
        assert_eq!(found, sizes, "{desc}");
    }
    // The slice of the guide is [8,128,192] halves, one token from 5 on.
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/DIRECTML.md")).unwrap();
    for says in [
        "`logical_size_in_bytes` | elements times",
        "| 48 | 6 |",
        "| 300 | 6 |",
        "| 300 | 8 |",
        "| 332 | 8 |",
        "| 330 | 6 |",
    ] {
        assert!(page.contains(says), "{says}");
    }
}

#[cfg(feature = "directml")]
#[test]
fn directml_is_given_the_bound_bytes() {
    use tensor_layout::interop::directml::{DirectmlTensor, DirectmlTensorDesc, RawBufferTensorDesc};
    use tensor_layout::upload::{DeviceLimits, FeatureLevel, Role, UploadBuffer, validate};

    let cache = BufferTensorDesc::packed(DataType::F16, &[4, 16, 8]).unwrap();
    for desc in [cache.slice_axis(1, 5..7).unwrap(), cache.clone(), desc("f16[3]:[1]")] {
        let tensor = DirectmlTensor::new(&desc, FeatureLevel::LATEST).unwrap();
        assert_eq!(tensor.total_size_in_bytes, desc.bound_size_in_bytes());
        let binding = tensor.binding(std::ptr::null_mut(), 256).unwrap();
        let report = validate(&desc, &UploadBuffer::new(4096, 256, Role::Input), &DeviceLimits::directml()).unwrap();
        assert_eq!((binding.offset, binding.size_in_bytes), (report.bound.start, report.total_bytes));
        // The binding is made in one step. The structure behind it does not move with it, and a clone shares
        // it.
        let moved = Box::new(DirectmlTensorDesc::new(&desc, FeatureLevel::LATEST).unwrap());
        let clone = moved.clone();
        let outer = *moved;
        assert_eq!((outer.tensor_type, outer.binding(std::ptr::null_mut(), 256).unwrap().offset), (1, binding.offset));
        let inner = tensor.lend();
        drop(outer);
        // SAFETY: the pointer is into `clone`, which lives.
        let read = unsafe { (*clone.desc.cast::<RawBufferTensorDesc>()).to_desc() };
        // SAFETY: the pointer is into `tensor`, which lives.
        assert_eq!(read, unsafe { inner.to_desc() });
    }
}

#[test]
fn constructors_views_and_offsets_take_an_engines_integers() {
    let (batch, heads, dim): (usize, usize, usize) = (2, 3, 4);
    let cache = BufferTensorDesc::packed(DataType::F16, &[batch, heads, dim]).unwrap();
    assert_eq!(cache, BufferTensorDesc::new(DataType::F16, &[2_i64, 3, 4], None).unwrap());
    assert_eq!(BufferTensorDesc::nchw(DataType::U8, [1_usize, 3, 4, 5]).unwrap().strides(), [60, 20, 5, 1]);
    let volume = BufferTensorDesc::ndhwc(DataType::U8, [1_u32, 3, 4, 5, 6]).unwrap();
    assert_eq!(volume.strides(), [360, 1, 90, 18, 3]);
    let t: usize = 1;
    let token = cache.slice_axis(1, t..t + 1).unwrap();
    assert_eq!((token.base_offset(), token.offset_in_bytes(&[0, 0, 0])), (4, Ok(8)));
    assert_eq!(cache.slice_axis(1, ..t).unwrap().sizes(), [2, 1, 4]);
    assert_eq!(cache.select(1, t).unwrap().sizes(), [2, 4]);
    let buffer = [0_u8; 48];
    assert_eq!(buffer[cache.offset_in_bytes(&[1, 2, 3]).unwrap()..].len(), 2);
    for refused in [
        cache.slice_axis(1, -1..2).unwrap_err(),
        cache.slice_axis(1, -1..).unwrap_err(),
        cache.select(1, -1).unwrap_err(),
    ] {
        assert_eq!(refused.code(), "index_out_of_range");
    }
    assert_eq!(BufferTensorDesc::packed(DataType::U8, &[2, -1]).unwrap_err().code(), "negative");
    assert_eq!(BufferTensorDesc::packed(DataType::U8, &[1_u128 << 70]).unwrap_err().code(), "overflow");
    assert_eq!(cache.with_base_offset(-1).unwrap_err().code(), "overflow");
}

#[test]
fn base_offsets_are_in_bytes_too() {
    let nibbles = BufferTensorDesc::packed(DataType::S4, &[3]).unwrap();
    let at = |bytes: u64| nibbles.clone().with_base_offset_in_bytes(bytes).unwrap();
    assert_eq!((at(5).base_offset(), at(0).is_part()), (10, true));
    assert_eq!(nibbles.with_base_offset(3).unwrap().offset_in_bytes(&[0]).unwrap_err().code(), "offset_inside_byte");
    let words = BufferTensorDesc::packed(DataType::F32, &[3]).unwrap().with_base_offset_in_bytes(6).unwrap_err();
    assert_eq!(words.to_string(), "no base offset describes this layout: byte 6 is inside an element of 32 bits");
    let six = BufferTensorDesc::packed(DataType::F6E2M3FN, &[3]).unwrap();
    assert_eq!(six.clone().with_base_offset_in_bytes(3).unwrap().base_offset(), 4);
    assert!(six.with_base_offset_in_bytes(4).is_err());
}

//! The limits of the specifications, with values on the limit and one beyond it.

use super::named;
use tensor_layout::upload::{DeviceLimits, PackedBuffer, Role, UploadBuffer, suggest, validate, validate_description};
use tensor_layout::{BufferTensorDesc, DataType};

/// The limits are from *MTLTensorDescriptor*, *VkPhysicalDeviceTensorPropertiesARM* (required limits),
/// `cuTensorMapEncodeTiled` and *MLOperandDescriptor*.
#[test]
fn tensor_limits_are_those_of_the_specifications() {
    let metal = named("metal-tensor");
    let learning = named("metal-tensor:ml");
    assert_eq!((&*metal.name, &*learning.name), ("Metal tensor", "Metal tensor, machine learning"));
    assert_eq!((metal.max_rank, metal.stride_multiple, metal.packed_outside), (16, 1, None));
    assert_eq!((learning.max_rank, learning.stride_multiple, learning.packed_outside), (16, 64, Some(2)));
    assert_eq!((metal.zero_offset, learning.zero_offset), (false, true));
    let vulkan = named("vulkan-tensor");
    assert_eq!((&*vulkan.name, vulkan.min_rank, vulkan.max_rank), ("Vulkan tensor minimums", 1, 4));
    let most = 65_536;
    assert_eq!(
        (vulkan.max_size, vulkan.max_logical_elements, vulkan.max_stride_bytes, vulkan.max_extent),
        (most, most, most, most)
    );
    let map = named("cuda-tensor-map");
    assert_eq!((map.min_rank, map.max_rank, map.max_size, map.offset_alignment), (1, 5, 1 << 31, 16));
    assert_eq!((map.stride_multiple, map.max_stride_bytes), (16, 0xff_ffff_ffff), "below 2^40");
    let webnn = named("webnn");
    assert_eq!((&*webnn.name, webnn.max_size, webnn.packed_outside), ("WebNN", 4_294_967_295, Some(1)));
    assert!(webnn.zero_offset && webnn.takes_strides && !webnn.zero_sizes);
}

#[test]
fn what_is_as_large_as_a_limit_is_accepted_and_one_more_is_not() {
    let codes = |text: &str, limits: &DeviceLimits| {
        let desc: BufferTensorDesc = text.parse().unwrap();
        validate_description(&desc, limits).err().map_or_else(Vec::new, |errors| errors.codes())
    };
    let (vulkan, webnn) = (named("vulkan-tensor"), named("webnn"));
    let map = named("cuda-tensor-map");
    for (within, beyond, limits, code) in [
        ("u8[65536]:[1]", "u8[65537]:[1]", &vulkan, "size_limit"),
        ("u8[1,65536]:[65536,1]", "u8[1,1,1,1,8]:[8,8,8,8,1]", &vulkan, "rank_limit"),
        ("f32[2147483648]:[1]", "f32[2147483649]:[1]", &map, "size_limit"),
        ("f32[2,4]:[274877906940,1]", "f32[2,4]:[274877906944,1]", &map, "stride_limit"),
        ("u8[4294967295]:[1]", "u8[4294967296]:[1]", &webnn, "size_limit"),
        ("u8[1]:[1]", "u8[1]:[1]+1", &webnn, "offset_not_zero"),
    ] {
        assert_eq!(codes(within, limits), [""; 0], "{within}, {}", limits.name);
        assert!(codes(beyond, limits).contains(&code), "{beyond}, {}: {:?}", limits.name, codes(beyond, limits));
    }
}

#[test]
fn a_buffer_is_packed_up_to_its_last_byte() {
    let desc = BufferTensorDesc::packed(DataType::U8, &[64]).unwrap();
    let mut limits = DeviceLimits::none();
    (limits.max_binding, limits.max_buffer) = (64, 128);
    assert_eq!(PackedBuffer::new(&[&desc, &desc], &limits).unwrap().len, 128);
    limits.max_buffer = 127;
    assert_eq!(PackedBuffer::new(&[&desc, &desc], &limits).unwrap_err().code(), "buffer_limit");
    (limits.max_binding, limits.max_buffer) = (63, 128);
    assert_eq!(PackedBuffer::new(&[&desc, &desc], &limits).unwrap_err().code(), "binding_limit");
    // Elements begin at multiples of their size, even if the device requires no alignment.
    let wide = BufferTensorDesc::packed(DataType::F64, &[1]).unwrap();
    let odd = BufferTensorDesc::packed(DataType::U8, &[4]).unwrap();
    assert_eq!(PackedBuffer::new(&[&odd, &wide, &odd, &wide], &DeviceLimits::none()).unwrap().offsets, [0, 8, 16, 24]);
}

#[test]
fn strides_that_are_suggested_follow_the_innermost_axis_the_device_wants() {
    let suggested = |text: &str, limits: &DeviceLimits| {
        suggest(&text.parse::<BufferTensorDesc>().unwrap(), limits).map(|found| found.unwrap().desc.to_string())
    };
    // The last axis becomes dense. The other axes keep their order: the column axis was the innermost axis.
    let mut dense = DeviceLimits::none();
    (dense.takes_strides, dense.unit_inner_stride) = (true, true);
    assert_eq!(suggested("f32[2,3,4]:[1,2,6]", &dense).unwrap(), "f32[2,3,4]:[4,8,1]");
    // One row for all indices stays one row if only another stride must change.
    dense.max_stride = 1 << 20;
    assert_eq!(suggested("f32[5,3,4]:[0,4194304,1]", &dense).unwrap(), "f32[5,3,4]:[0,4,1]");
    // An axis of one index repeats nothing. Its stride is not a gap, and is in no wrong order.
    assert_eq!(suggested("f32[1,3,4]:[0,4194304,1]", &dense).unwrap(), "f32[1,3,4]:[4,4,1]");
    let mut ordered = DeviceLimits::none();
    (ordered.takes_strides, ordered.ordered_strides, ordered.stride_multiple) = (true, true, 64);
    assert_eq!(suggested("f32[4,1,10]:[20,99,1]", &ordered).unwrap(), "f32[4,1,10]:[32,16,1]");
    // Rows of 10 elements begin at multiples of 64 bytes. Axes outside of the rows are packed.
    ordered.packed_outside = Some(2);
    assert_eq!(suggested("f32[2,3,10]:[30,10,1]", &ordered).unwrap(), "f32[2,3,10]:[48,16,1]");
}

#[test]
fn gaps_are_overwritten_only_where_there_are_any() {
    let report = |text: &str| {
        let desc: BufferTensorDesc = text.parse().unwrap();
        let bytes = desc.total_tensor_size_in_bytes();
        validate(&desc, &UploadBuffer::new(bytes, 0, Role::Output), &"directml:2.0".parse::<DeviceLimits>().unwrap())
            .unwrap()
    };
    let (dense, padded) = (report("f32[1,1,2,3]:[6,6,3,1]"), report("f32[1,1,2,3]:[8,8,4,1]"));
    assert_eq!((dense.gap_bits, dense.overwrites_gaps), (0, false));
    assert_eq!((padded.gap_bits, padded.overwrites_gaps), (32, true));
}

#[test]
fn a_tensor_without_elements_begins_where_its_buffer_does() {
    let empty: BufferTensorDesc = "f32[0,4]:[4,1]+5".parse().unwrap();
    let mut limits = DeviceLimits::none();
    limits.base_offset_in_binding = true;
    assert_eq!(validate_description(&empty, &limits).unwrap().bound, 0..0);
}

/// Each limit of the description and the binding is set to the tensor's number, and to one less.
#[test]
fn every_limit_holds_what_is_as_large() {
    let desc: BufferTensorDesc = "u16[2,3,4]:[40,8,2]".parse().unwrap();
    let buffer = UploadBuffer::new(256, 0, Role::Input);
    // The last element is number 40 + 2 * 8 + 3 * 2 = 62, and 63 elements are 126 bytes.
    assert_eq!(validate(&desc, &buffer, &DeviceLimits::none()).unwrap().total_bytes, 126);
    type Limit = fn(&mut DeviceLimits, u64);
    let limits: [(u64, &str, Limit); 7] = [
        (3, "rank_limit", |limits, most| limits.max_rank = most.try_into().unwrap()),
        (24, "element_limit", |limits, most| limits.max_logical_elements = most),
        (4, "size_limit", |limits, most| limits.max_size = most),
        (40, "stride_limit", |limits, most| (limits.takes_strides, limits.max_stride) = (true, most)),
        (160, "binding_limit", |limits, most| (limits.takes_strides, limits.max_extent) = (true, most)),
        (126, "binding_limit", |limits, most| limits.max_binding = most),
        (256, "buffer_limit", |limits, most| limits.max_buffer = most),
    ];
    for (most, code, set) in limits {
        let with = |most| {
            let mut limits = DeviceLimits::none();
            set(&mut limits, most);
            validate(&desc, &buffer, &limits).err().map_or_else(Vec::new, |errors| errors.codes())
        };
        assert_eq!((with(most), with(most - 1)), (vec![], vec![code]), "{code} of {most}");
    }
    let names = [named("d3d12"), named("vulkan"), DeviceLimits::webgpu(), named("cuda-tensor-map:64")];
    let names = names.map(|limits| limits.name.into_owned());
    assert_eq!(names, ["Direct3D 12", "Vulkan minimums", "WebGPU defaults", "CUDA tensor map, 64-byte swizzle"]);
}

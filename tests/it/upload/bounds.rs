//! The limits of the specifications, with values on the limit and one beyond it.

use super::named;
use tensor_layout::upload::{DeviceLimits, PackedBuffer, Role, UploadBuffer, validate};
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

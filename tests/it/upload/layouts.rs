//! `upload` for layouts that are not descriptors: XLA shapes and index maps.

use crate::literal::{any_shape, cases, physical};
use crate::read::shape;
use proptest::prelude::*;
use tensor_layout::upload::{
    DeviceLimits, PackedBuffer, Role, UploadBuffer, split_binding, validate, validate_description,
};
use tensor_layout::{BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;

#[test]
fn tiles_are_bytes_to_a_shader_and_no_tensor_of_directml() {
    let tiled = shape("bf16[30,200]{1,0:T(8,128)(2,1)}");
    let report = validate(&tiled, &UploadBuffer::new(1 << 20, 256, Role::Output), &DeviceLimits::webgpu()).unwrap();
    assert_eq!((report.element_count, report.span_elements), (6000, 32 * 256));
    assert_eq!((report.exact_bytes, report.bound.clone()), (16384, 256..256 + 16384));
    assert_eq!(report.gap_bits, (32 * 256 - 6000) * 16);
    let errors = validate_description(&tiled, &DeviceLimits::directml()).unwrap_err();
    assert_eq!(errors.codes(), ["unsupported_data_type", "not_expressible"]);
    assert_eq!(
        errors[1].to_string(),
        "no strided tensor describes this layout: its tiles cut dimensions; `bridge::lower` gives the padded tensor of higher rank"
    );
    let joined = shape("f32[5,7]{1,0:T(*,4)(3,2)}");
    let errors = validate_description(&joined, &DeviceLimits::directml()).unwrap_err();
    assert_eq!(errors.codes(), ["not_expressible"]);
    assert!(errors.to_string().ends_with("copy it to a layout of strides"), "{errors}");
}

#[test]
fn a_shape_without_tiles_has_strides_to_check() {
    let directml = DeviceLimits::directml();
    let columns = shape("f32[4,6]{0,1}");
    assert!(validate(&columns, &UploadBuffer::new(96, 0, Role::Input), &directml).is_ok());
    let mut narrow = directml;
    narrow.max_stride = 3;
    assert_eq!(validate_description(&columns, &narrow).unwrap_err().codes(), ["stride_limit"]);
}

#[test]
fn an_element_as_wide_as_another_type_is_not_a_tensor_of_its_own() {
    let bytes = shape("s4[6,7]{1,0:E(8)}");
    let errors = validate_description(&bytes, &DeviceLimits::directml()).unwrap_err();
    assert_eq!(errors.codes(), ["unsupported_element_bits"]);
    let words = "elements of 8 bits cannot be handled here, only those as wide as their type (sizes alone are XLA's";
    assert!(errors.to_string().starts_with(words), "{errors}");
    assert_eq!(validate_description(&bytes, &DeviceLimits::webgpu()).unwrap().exact_bytes, 42);
}

#[test]
fn what_has_no_map_is_the_only_error() {
    let several = shape("f32[16,16]{1,0:SC(1:8)}");
    let errors = validate(&several, &UploadBuffer::new(1, 3, Role::Input), &DeviceLimits::webgpu()).unwrap_err();
    assert_eq!(errors.codes(), ["not_expressible"]);
    assert_eq!(errors.report.total_bytes, 0);
    assert!(PackedBuffer::new(&[&several], &DeviceLimits::webgpu()).is_err());
    assert!(split_binding(&several, &DeviceLimits::webgpu()).is_err());
}

#[test]
fn an_output_whose_indices_share_places_is_refused() {
    let desc = BufferTensorDesc::new(DataType::F32, &[3, 4], Some(&[2, 1])).unwrap();
    let map: IndexMap = desc.to_index_map().unwrap();
    let buffer = UploadBuffer::new(1024, 0, Role::Output);
    let errors = validate(&map, &buffer, &DeviceLimits::webgpu()).unwrap_err();
    assert_eq!(errors.codes(), ["overlapping_destination"]);
}

#[test]
fn a_text_is_checked_as_what_it_says() {
    // The text counts as a descriptor, whose alignment and total size matter, and not as its map.
    let text: Layout = "f32[2,3]:[5,1]".parse().unwrap();
    assert_eq!(text.as_descriptor().map(BufferTensorDesc::strides), Some(&[5, 1][..]));
    assert_eq!(validate_description(&text, &DeviceLimits::none()).unwrap().exact_bytes, 32);
    let text: Layout = "f32[2,3]{1,0:T(4,4)}".parse().unwrap();
    assert_eq!(text.as_descriptor(), None);
    assert_eq!(validate_description(&text, &DeviceLimits::none()).unwrap().exact_bytes, 64);
    let aligned = BufferTensorDesc::packed(DataType::F32, &[4]).unwrap().with_base_offset_alignment(64).unwrap();
    let errors = validate(&aligned, &UploadBuffer::new(64, 32, Role::Input), &DeviceLimits::none()).unwrap_err();
    assert_eq!(errors.codes(), ["offset_unaligned"]);
}

#[test]
fn a_buffer_of_tiled_weights() {
    let (first, second) = (shape("f32[3,5]{1,0:T(2,2)}"), shape("s4[100]{0:T(64)E(4)}"));
    let packed = PackedBuffer::new(&[&first, &second], &DeviceLimits::webgpu()).unwrap();
    assert_eq!((packed.offsets, packed.len), (vec![0, 256], 256 + 64));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_shape_takes_the_bytes_of_its_literal_tiles(shape in any_shape(3000), offset in 0..1000_u64) {
        let places = physical(&shape).len() as u64;
        let mut limits = DeviceLimits::webgpu();
        (limits.min_binding, limits.offset_alignment) = (0, 1);
        let report = validate(&shape, &UploadBuffer::new(1 << 20, offset, Role::Output), &limits).unwrap();
        prop_assert_eq!(report.exact_bytes, places * 4);
        prop_assert_eq!(report.bound, offset..offset + places * 4);
        prop_assert_eq!(report.gap_bits, u128::from(places - shape.sizes().iter().product::<u64>()) * 32);
    }
}

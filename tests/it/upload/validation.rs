//! Upload validation: each rule alone, all rules together, and recorded bugs that it would have found.

use super::named;
use crate::literal::cases;

use tensor_layout::upload::{
    Binding, DeviceLimits, Errors, FeatureLevel, PackedBuffer, Role, UploadBuffer, UploadReport, validate,
    validate_bindings,
};
use tensor_layout::{BufferTensorDesc, DataType, Error};

fn strided(data_type: DataType, sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(data_type, sizes, Some(strides)).unwrap()
}

fn packed(data_type: DataType, sizes: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::packed(data_type, sizes).unwrap()
}

fn directml() -> DeviceLimits {
    DeviceLimits::directml()
}

/// Checks a tensor at the start of a buffer that is large enough.
fn input(desc: &BufferTensorDesc, limits: &DeviceLimits) -> Result<UploadReport, Errors> {
    validate(desc, &UploadBuffer::new(u64::MAX / 2, 0, Role::Input), &without_buffer_limit(limits))
}

fn without_buffer_limit(limits: &DeviceLimits) -> DeviceLimits {
    let mut limits = limits.clone();
    limits.max_buffer = u64::MAX;
    limits
}

fn codes(result: Result<UploadReport, Errors>) -> Vec<&'static str> {
    result.map_or_else(|errors| errors.codes(), |_| Vec::new())
}

#[test]
fn the_report_reads_as_a_table() {
    let desc = packed(DataType::F16, &[3]);
    let report = validate(&desc, &UploadBuffer::new(8, 0, Role::Input), &DeviceLimits::webgpu()).unwrap();
    assert_eq!(
        report.to_string(),
        "limits           WebGPU defaults\n\
         elements         3 logical, 3 physical, f16\n\
         exact            48 bits = 6 bytes\n\
         rounded          8 bytes\n\
         CPU slice        6 bytes\n\
         padding to zero  6..8\n\
         bound            0..8 (8 bytes)\n\
         alignment        required 256, found any\n\
         index width      i32 in elements, i32 in bytes"
    );
    let whole =
        validate(&packed(DataType::F16, &[4]), &UploadBuffer::new(8, 0, Role::Input), &DeviceLimits::webgpu()).unwrap();
    assert!(whole.to_string().contains("\npadding to zero  none\n"), "{whole}");
}

#[test]
fn ranks_by_feature_level() {
    for &level in FeatureLevel::ALL {
        let accepted: Vec<usize> = (0..=9)
            .filter(|&rank| input(&packed(DataType::F32, &vec![1; rank]), &DeviceLimits::directml_level(level)).is_ok())
            .collect();
        let expected = if level < FeatureLevel::V3_0 { vec![4, 5] } else { (1..=8).collect() };
        assert_eq!(accepted, expected, "{level}");
    }
}

#[test]
fn data_types_by_feature_level() {
    let accepted = |level| {
        let limits = DeviceLimits::directml_level(level);
        DataType::ALL.iter().filter(|&&t| input(&packed(t, &[1, 1, 1, 8]), &limits).is_ok()).count()
    };
    assert_eq!([accepted(FeatureLevel::V2_1), accepted(FeatureLevel::V3_0), accepted(FeatureLevel::V6_3)], [8, 11, 13]);
}

// burn's whisper and llama ports found both errors only when wgpu refused the binding.
#[test]
fn whisper_binding_of_265548800_bytes() {
    let desc = packed(DataType::F32, &[51865, 1280]);
    let errors = validate(&desc, &UploadBuffer::new(265_548_800, 0, Role::Input), &DeviceLimits::webgpu()).unwrap_err();
    assert_eq!(errors.codes(), ["binding_limit"],);
    let pieces = tensor_layout::upload::split_binding(&desc, &DeviceLimits::webgpu()).unwrap();
    assert_eq!(pieces.iter().map(|piece| piece.indices[0].clone()).collect::<Vec<_>>(), [0..26214, 26214..51865]);
}

#[test]
fn llama_buffer_of_524288000_bytes() {
    let desc = packed(DataType::F32, &[32000, 4096]);
    let errors = validate(&desc, &UploadBuffer::new(524_288_000, 0, Role::Input), &DeviceLimits::webgpu()).unwrap_err();
    assert_eq!(errors.codes(), ["binding_limit", "buffer_limit"]);
    let lines: Vec<String> = errors.iter().map(Error::to_string).collect();
    assert_eq!(errors.to_string(), lines.join("\n"));
    assert!(lines[1].contains("524288000") && lines[1].contains("268435456"), "{}", lines[1]);
}

#[test]
fn packed_buffers_pass_their_own_check() {
    let descs = [
        packed(DataType::F16, &[3]),
        packed(DataType::F32, &[5]).with_base_offset_alignment(64).unwrap(),
        strided(DataType::U8, &[2, 2], &[9, 1]),
        packed(DataType::F32, &[2]).with_base_offset(3).unwrap(),
        packed(DataType::U8, &[1]).with_total_size_in_bytes(40).unwrap(),
    ];
    for limits in [directml(), DeviceLimits::webgpu(), named("vulkan"), DeviceLimits::none(), named("d3d12")] {
        let layouts: Vec<_> = descs.iter().map(|desc| desc as &dyn tensor_layout::ToIndexMap).collect();
        let packed = PackedBuffer::new(&layouts, &limits).unwrap();
        let bindings: Vec<Binding<'_>> = descs
            .iter()
            .zip(&packed.offsets)
            .map(|(desc, &offset)| Binding::new(desc, 0, UploadBuffer::new(packed.len, offset, Role::Output)))
            .collect();
        for result in validate_bindings(&bindings, &limits) {
            assert_eq!(codes(result), [""; 0], "{}", limits.name);
        }
    }
}

mod accepted_is_safe {
    use super::*;
    use proptest::prelude::*;

    fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
        let axes = proptest::collection::vec((0..6_u64, 0..20_u64), 0..5);
        (axes, 0..40_u64, 0..DataType::ALL.len(), 0..3_u64, 0..3_u32).prop_map(|(axes, base, kind, more, promise)| {
            let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let desc = BufferTensorDesc::new(DataType::ALL[kind], &sizes, Some(&strides)).unwrap();
            let desc = desc.with_base_offset(base).unwrap();
            let total = desc.min_size_in_bytes() + 32 * more;
            let promise = [0, 16, 64][promise as usize];
            desc.with_total_size_in_bytes(total).unwrap().with_base_offset_alignment(promise).unwrap()
        })
    }

    fn any_limits() -> impl Strategy<Value = DeviceLimits> {
        prop::sample::select(vec!["directml", "d3d12", "webgpu", "vulkan", "none"]).prop_map(named)
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn every_bit_is_in_the_binding_and_the_binding_in_the_buffer(
            desc in any_desc(),
            limits in any_limits(),
            len in 0..2000_u64,
            offset in 0..20_u64,
            output in any::<bool>(),
        ) {
            let role = if output { Role::Output } else { Role::Input };
            let offset = 16 * offset;
            let Ok(report) = validate(&desc, &UploadBuffer::new(len, offset, role), &limits) else {
                return Ok(());
            };
            let bits = u64::from(desc.data_type().bits());
            prop_assert!(report.bound.end <= len);
            prop_assert!(report.bound.start.is_multiple_of(limits.offset_alignment));
            prop_assert!((report.bound.end - report.bound.start).is_multiple_of(limits.size_multiple));
            let mut last_bit = 0;
            let mut seen = std::collections::HashSet::new();
            for element in desc.offsets() {
                let start = 8 * offset + element * bits;
                prop_assert!(start >= 8 * report.bound.start && start + bits <= 8 * report.bound.end);
                last_bit = last_bit.max(start + bits - 8 * report.bound.start);
                prop_assert!(seen.insert(element) || !output);
            }
            if desc.element_count() > 0 {
                prop_assert_eq!(u128::from(last_bit), report.exact_bits);
            }
            prop_assert_eq!(report.exact_bytes, last_bit.div_ceil(8));
            prop_assert_eq!(report.padding, report.exact_bytes..report.total_bytes);
        }

        #[test]
        fn packed_buffers_give_each_tensor_its_own_bytes(
            descs in proptest::collection::vec(any_desc(), 0..6),
            limits in any_limits(),
        ) {
            let layouts: Vec<_> = descs.iter().map(|desc| desc as &dyn tensor_layout::ToIndexMap).collect();
        let packed = PackedBuffer::new(&layouts, &limits).unwrap();
            let mut taken = std::collections::HashSet::new();
            for (desc, &offset) in descs.iter().zip(&packed.offsets) {
                let result = validate(desc, &UploadBuffer::new(packed.len, offset, Role::Input), &limits);
                let report = result.as_ref().unwrap_or_else(|errors| &errors.report);
                prop_assert!(report.bound.end <= packed.len);
                let codes = codes(result.clone());
                prop_assert!(!codes.contains(&"binding_outside_buffer"), "{:?}", codes);
                prop_assert!(!codes.contains(&"offset_unaligned") || codes.contains(&"offset_inside_byte"));
                for byte in report.bound.clone() {
                    prop_assert!(taken.insert(byte), "byte {} twice", byte);
                }
            }
        }
    }
}

#[test]
fn a_source_is_not_too_short() {
    let report =
        validate(&packed(DataType::F16, &[3]), &UploadBuffer::new(8, 0, Role::Input), &DeviceLimits::webgpu()).unwrap();
    for (len, zeros) in [(0, Err("buffer_too_short")), (5, Err("buffer_too_short")), (6, Ok(2)), (8, Ok(2))] {
        assert_eq!(report.check_upload_length(len).map_err(|error| error.code()), zeros, "{len}");
    }
}

/// Only some reports have the lines on gaps, pieces and copies.
#[test]
fn the_report_names_gaps_pieces_and_copies() {
    let rows = strided(DataType::F32, &[2, 3], &[5, 1]);
    let mut limits = DeviceLimits::none();
    for (writes, says) in [(true, "the device may overwrite them"), (false, "the device keeps them")] {
        limits.writes_padding = writes;
        let report = validate(&rows, &UploadBuffer::new(64, 4, Role::Output), &limits).unwrap();
        assert_eq!((report.gap_bits, report.overwrites_gaps), (64, writes));
        let line =
            format!("gaps             8 bytes, which belong to others if this is a part of a larger buffer: {says}\n");
        assert!(report.to_string().contains(&line), "{report}");
        assert!(report.to_string().contains("alignment        required 1, found 4\n"), "{report}");
        let report = validate(&rows, &UploadBuffer::new(64, 4, Role::Input), &limits).unwrap();
        assert!(report.gap_bits == 0 && !report.to_string().contains("gaps"), "{report}");
    }
    (limits.max_binding, limits.max_copy) = (64, 100);
    let errors = validate(&packed(DataType::F32, &[75]), &UploadBuffer::new(512, 0, Role::Input), &limits).unwrap_err();
    assert_eq!(errors.codes(), ["binding_limit"]);
    let text = errors.report.to_string();
    assert!(text.ends_with("\ncopies           3, as one is limited"), "{text}");
}

#[test]
fn errors_come_one_a_line_and_can_be_taken() {
    let desc = packed(DataType::F32, &[64]);
    let errors = validate(&desc, &UploadBuffer::new(200, 4, Role::Input), &named("d3d12")).unwrap_err();
    let sentences: Vec<String> = errors.iter().map(Error::to_string).collect();
    assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), sentences);
    assert_eq!((&errors).into_iter().count(), 2);
    let source: &dyn std::error::Error = &errors;
    assert!(source.source().is_none());
    let codes = errors.codes();
    assert_eq!(errors.into_iter().map(|error| error.code()).collect::<Vec<_>>(), codes);
}

/// A layout without an index map cannot be checked further.
#[test]
fn a_layout_without_a_map_has_one_error_and_an_empty_report() {
    let split: tensor_layout::ArrayShape = "f32[8]{0:SC(0:4)}".parse().unwrap();
    let errors = validate(&split, &UploadBuffer::new(64, 0, Role::Output), &DeviceLimits::webgpu()).unwrap_err();
    assert_eq!(errors.codes(), ["not_expressible"]);
    let report = &errors.report;
    assert_eq!((report.element_count, report.exact_bytes, report.total_bytes, report.cpu_bytes), (0, 0, 0, 0));
    assert_eq!((&*report.limits, &report.padding, &report.bound), ("WebGPU defaults", &(0..0), &(0..0)));
    assert_eq!((report.alignment_required, report.alignment_found, report.copies), (1, None, 0));
}

/// The alignment that a descriptor promises belongs to its buffer. If the binding begins with the first
/// element of a slice, only the promise that remains after the slice is required. If the binding begins with
/// the buffer, the whole promise is required.
#[test]
fn a_promise_of_alignment_is_that_of_what_is_bound() {
    let desc = packed(DataType::F32, &[16]).with_base_offset_alignment(64).unwrap();
    let slice = desc.slice_axis(0, 4..12).unwrap();
    let mut limits = DeviceLimits::none();
    for (in_binding, asked, bound) in [(true, 16, 16..48), (false, 64, 0..48)] {
        limits.base_offset_in_binding = in_binding;
        let report = validate(&slice, &UploadBuffer::new(64, 0, Role::Input), &limits).unwrap();
        assert_eq!((report.alignment_required, report.bound), (asked, bound), "{in_binding}");
        // The tensor is bound 16 bytes later.
        let result = validate(&slice, &UploadBuffer::new(256, 16, Role::Input), &limits);
        assert_eq!(codes(result), if in_binding { vec![] } else { vec!["offset_unaligned"] });
        let whole = validate(&desc, &UploadBuffer::new(256, 64, Role::Input), &limits).unwrap();
        assert_eq!(whole.alignment_required, 64);
    }
}

/// The numbers are from the specifications: *limits* of WebGPU, *Required Limits* of Vulkan,
/// `D3D12_RAW_UAV_SRV_BYTE_ALIGNMENT`, and `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT` with sizes and strides of
/// type `UINT`.
#[test]
fn limits_are_those_of_the_specifications() {
    let webgpu = DeviceLimits::webgpu();
    assert_eq!((webgpu.max_binding, webgpu.max_buffer, webgpu.offset_alignment), (134_217_728, 268_435_456, 256));
    assert_eq!((webgpu.size_multiple, webgpu.min_binding, webgpu.write_granularity), (4, 4, 4));
    assert!(webgpu.exclusive_ranges && webgpu.one_usage && !webgpu.takes_strides && !webgpu.writes_padding);
    assert_eq!(webgpu.max_elements, u64::from(u32::MAX));
    let vulkan = named("vulkan");
    assert_eq!((vulkan.max_binding, vulkan.max_buffer, vulkan.offset_alignment), (1 << 27, u64::MAX, 256));
    assert_eq!((vulkan.size_multiple, vulkan.min_binding, vulkan.write_granularity), (1, 1, 4));
    assert!(!vulkan.exclusive_ranges && !vulkan.one_usage && !vulkan.takes_strides);
    let d3d12 = named("d3d12");
    assert_eq!((d3d12.max_binding, d3d12.offset_alignment, d3d12.max_copy), (u64::MAX, 16, 0xffff_0000));
    assert_eq!((d3d12.size_multiple, d3d12.min_binding, d3d12.write_granularity), (4, 4, 4));
    let directml = directml();
    assert_eq!(
        (directml.min_rank, directml.max_rank, directml.offset_alignment, directml.size_multiple),
        (1, 8, 16, 4)
    );
    let most = u64::from(u32::MAX);
    assert_eq!((directml.max_size, directml.max_stride, directml.max_elements), (most, most, most));
    assert!(
        directml.takes_strides && directml.base_offset_in_binding && directml.writes_padding && !directml.zero_sizes
    );
    assert!(directml.data_types.unwrap().contains(&DataType::F16));
    assert_eq!(DeviceLimits::none().max_binding, u64::MAX);
}

#[test]
fn feature_levels_are_in_order_and_read_back() {
    use tensor_layout::upload::FeatureLevel;
    assert!(FeatureLevel::ALL.is_sorted());
    assert_eq!(FeatureLevel::ALL.last(), Some(&FeatureLevel::LATEST));
    assert_eq!(DeviceLimits::directml_level(FeatureLevel::LATEST), directml_at("6.4"));
    let types = |level: &FeatureLevel| DeviceLimits::directml_level(*level).data_types.unwrap();
    for level in FeatureLevel::ALL {
        assert_eq!(level.to_string().parse(), Ok(*level));
        assert_eq!(level.to_string().replace('.', "_").parse(), Ok(*level));
        assert_eq!(FeatureLevel::try_from(u32::from(*level)), Ok(*level));
        let number = format!("{:x}", u32::from(*level));
        assert_eq!(level.to_string(), format!("{}.{}", &number[..1], &number[1..2]));
        assert_eq!(directml_at(&level.to_string()), DeviceLimits::directml_level(*level));
    }
    // Later levels know all earlier types.
    for pair in FeatureLevel::ALL.windows(2) {
        assert!(types(&pair[1]).starts_with(&types(&pair[0])));
    }
    assert_eq!(FeatureLevel::try_from(0x7000).unwrap_err().code(), "unknown_limits");
    assert_eq!("7.0".parse::<FeatureLevel>().unwrap_err().code(), "unknown_limits");
    for name in ["", "DirectML", "directml:", "directml:9.9", "webgpu:1"] {
        assert_eq!(name.parse::<DeviceLimits>().unwrap_err().code(), "unknown_limits", "{name}");
    }
}

fn directml_at(level: &str) -> DeviceLimits {
    let mut limits = named(&format!("directml:{level}"));
    limits.name = format!("DirectML {level}").into();
    limits
}

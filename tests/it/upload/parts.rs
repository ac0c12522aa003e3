//! Parts of larger buffers in checks: outputs, bindings at the place of a part, and warnings.

use super::named;
use crate::read::desc;
use tensor_layout::upload::{Binding, DeviceLimits, Role, UploadBuffer, validate, validate_bindings};
use tensor_layout::{BufferTensorDesc, DataType, Error};

#[test]
fn a_part_is_no_output_of_a_device_that_overwrites_gaps() {
    let tokens = desc("u8[2,8,4]:[32,4,1]").slice_axis(1, 0..3).unwrap();
    let own_numbers = BufferTensorDesc::new(DataType::U8, &[2, 3, 4], Some(&[32, 4, 1])).unwrap();
    let output = UploadBuffer::new(64, 0, Role::Output);
    for part in [&tokens, &own_numbers.clone().with_base_offset(0).unwrap(), &own_numbers.as_part()] {
        let errors = validate(part, &output, &DeviceLimits::directml()).unwrap_err();
        assert_eq!(errors.codes(), ["gaps_overwritten"]);
        let words = errors[0].to_string();
        assert!(
            words.contains("the 20 bytes between its elements") && words.contains("DeviceLimits::with_gaps_kept"),
            "{words}"
        );
        assert!(validate(part, &UploadBuffer { role: Role::Input, ..output }, &DeviceLimits::directml()).is_ok());
        let kept = validate(part, &output, &DeviceLimits::directml().with_gaps_kept()).unwrap();
        assert!(!kept.overwrites_gaps && kept.gap_bits == 160 && kept.warnings.is_empty());
        assert!(validate(part, &output, &named("d3d12")).is_ok());
    }
    // A tensor that has its buffer to itself is accepted, with a warning that cannot be overlooked.
    let report = validate(&own_numbers, &output, &DeviceLimits::directml()).unwrap();
    let [warning] = &report.warnings[..] else { panic!("{report}") };
    assert_eq!((warning.code(), warning.value()), ("gaps_may_be_overwritten", Some(160)));
    assert!(report.to_string().contains("\nwarning          the device may overwrite the 20 bytes"), "{report}");
    // A part without gaps is accepted: rows of an arena.
    let rows = desc("u8[8,16]:[16,1]").slice_axis(0, 2..4).unwrap();
    assert!(
        validate(&rows, &UploadBuffer::new(128, 0, Role::Output), &DeviceLimits::directml())
            .unwrap()
            .warnings
            .is_empty()
    );
}

/// A cache of 512 MiB, [65536, 32, 128] halves. A token begins 40960 * 8192 + 3 * 256 bytes into the cache.
#[test]
fn a_slice_is_bound_where_it_is() {
    let cache = BufferTensorDesc::packed(DataType::F16, &[65536, 32, 128]).unwrap();
    let buffer = UploadBuffer::new(512 << 20, 0, Role::Input);
    let webgpu = named("webgpu:max_buffer=1GiB");
    let token = cache.slice_axis(0, 40_960..40_961).unwrap().slice_axis(1, 3..4).unwrap();
    let report = validate(&token, &buffer, &webgpu).unwrap();
    let start = 40_960 * 8192 + 768;
    assert_eq!((report.bound.clone(), report.base_offset, report.exact_bytes), (start..start + 256, 0, 256));
    // The slice begins 5 elements later: 10 bytes after a multiple of 256, which a shader adds.
    let inside = token.slice_axis(2, 5..9).unwrap();
    let report = validate(&inside, &buffer, &webgpu).unwrap();
    assert_eq!((report.bound.clone(), report.base_offset, report.span_elements), (start..start + 20, 5, 9));
    // The binding is from the start of the buffer, for a shader that is given the whole base offset.
    let mut whole = webgpu.clone();
    whole.base_offset_in_binding = false;
    let errors = validate(&token, &buffer, &whole).unwrap_err();
    assert_eq!(errors.codes(), ["binding_limit"]);
    assert_eq!(errors[0].to_string(), "the binding takes 335545344 bytes, but the device binds at most 134217728");
    // Outputs count the gaps between their own elements, and not the bytes in front of them.
    let report = validate(&inside, &UploadBuffer { role: Role::Output, ..buffer }, &webgpu).unwrap();
    assert_eq!(report.gap_bits, 0);
}

#[test]
fn offsets_in_bytes_are_judged_too() {
    // llama.cpp #29227: a tensor of 906 million elements has 3.6 GB.
    let large = BufferTensorDesc::packed(DataType::F32, &[1, 288, 2048, 1536]).unwrap();
    let report = validate(&large, &UploadBuffer::new(4 << 30, 0, Role::Input), &DeviceLimits::none()).unwrap();
    assert_eq!((report.index_width.to_string(), report.byte_index_width.to_string()), ("i32".into(), "u32".into()));
    assert_eq!(report.warnings.iter().map(Error::code).collect::<Vec<_>>(), ["wide_byte_offsets"]);
    assert!(report.to_string().contains("index width      i32 in elements, u32 in bytes\n"), "{report}");
}

/// What each device writes beside the elements of a part, in bits: nothing, with advice, or against its
/// rules.
#[test]
fn every_set_says_what_it_writes() {
    let written = |text: &str, name: &str| {
        let output = UploadBuffer::new(4096, 0, Role::Output);
        match validate(&desc(text), &output, &named(name)) {
            Ok(report) => {
                match report.warnings.first().map(|warning| (warning.code(), warning.value(), warning.limit())) {
                    None => "nothing".to_owned(),
                    Some(("whole_units_written", Some(bits), Some(unit))) => format!("{bits} bits in units of {unit}"),
                    Some((code, ..)) => code.to_owned(),
                }
            }
            Err(errors) => format!("{} {:?}", errors[0].code(), errors[0].value()),
        }
    };
    // Rows of 3 bytes, 4 apart: the device's words hold a byte of someone else each.
    for (name, expected) in [
        ("webgpu", "16 bits in units of 4"),
        ("webgpu:write_granularity=1", "nothing"),
        ("vulkan", "16 bits in units of 4"),
        ("d3d12", "16 bits in units of 4"),
        ("vulkan-texel-buffer", "gaps_overwritten Some(2)"),
        ("d3d12-typed", "gaps_overwritten Some(2)"),
        ("cuda-tensor-map:stride_multiple=4", "gaps_overwritten Some(26)"),
        ("directml", "gaps_overwritten Some(2)"),
        ("directml:writes_padding=false", "16 bits in units of 4"),
        ("metal", "nothing"),
        ("opencl", "nothing"),
        ("none", "nothing"),
    ] {
        assert_eq!(written("u8[2,3]:[4,1]+0", name), expected, "{name}");
    }
    // A tensor with a buffer of its own has one gap between its rows, and owns what follows.
    assert_eq!(written("u8[2,3]:[4,1]", "webgpu"), "8 bits in units of 4");
    assert_eq!(written("u8[2,3]:[4,1]", "directml"), "gaps_may_be_overwritten");
    assert_eq!(written("u8[2,3]:[4,1]", "vulkan-texel-buffer"), "gaps_may_be_overwritten");
    // What follows the last element, and what precedes the first, may belong to others as well.
    assert_eq!(written("f16[3]:[1]+0", "webgpu"), "16 bits in units of 4");
    assert_eq!(written("f16[2]:[1]+1", "webgpu"), "32 bits in units of 4");
    assert_eq!(written("f16[3]:[1]+0", "webgpu:write_granularity=2"), "nothing");
    assert_eq!(written("u8[5]:[1]+0", "directml"), "gaps_overwritten Some(3)");
    assert_eq!(written("f16[3]:[1]", "webgpu"), "nothing");
    // Types of a word, and rows of whole words, share nothing.
    assert_eq!(written("f32[2,3]:[4,1]+0", "webgpu"), "nothing");
    assert_eq!(written("u8[2,4]:[8,1]+0", "webgpu"), "nothing");
}

/// Two columns of bytes in one matrix: outputs undo each other's words. An input is read well beside an
/// output whose shader merges, and is overwritten by whole chunks.
#[test]
fn elements_that_share_a_written_unit_clash() {
    let (left, right) = (desc("u8[4,2]:[16,1]"), desc("u8[4,2]:[16,1]+2"));
    let clashes = |name: &str, second: Role| {
        let at = |layout, role| Binding::new(layout, 0, UploadBuffer::new(64, 0, role));
        let limits = named(name).with("base_offset_in_binding", "false").unwrap().with("one_usage", "false").unwrap();
        let results = validate_bindings(&[at(&left, Role::Output), at(&right, second)], &limits);
        results[1].as_ref().err().is_some_and(|errors| errors.codes().contains(&"bindings_overlap"))
    };
    for name in ["vulkan", "d3d12", "vulkan-texel-buffer", "cuda-tensor-map"] {
        assert!(clashes(name, Role::Output), "{name}");
        assert_eq!(clashes(name, Role::Input), named(name).overwrites_units, "{name}");
    }
    assert!(!clashes("metal", Role::Output) && !clashes("vulkan:write_granularity=2", Role::Output));
}

//! Devices that are given strides. Their rules, word for word, are compared with `validate` and `suggest`.

use super::named;
use crate::literal::{cases, strided_offsets};
use crate::read;
use proptest::prelude::*;
use tensor_layout::relayout::Relayout;
use tensor_layout::upload::{DeviceLimits, suggest, validate_description};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

/// A tensor in the form in which these interfaces are given it: sizes and strides from the innermost axis on.
struct Given {
    sizes: Vec<u128>,
    strides: Vec<u128>,
    bits: u128,
    data_type: DataType,
}

impl Given {
    fn new(desc: &BufferTensorDesc) -> Given {
        let inner_first = |numbers: &[u64]| numbers.iter().rev().map(|&number| u128::from(number)).collect();
        let (sizes, strides) = (inner_first(desc.sizes()), inner_first(desc.strides()));
        Given { sizes, strides, bits: desc.data_type().bits().into(), data_type: desc.data_type() }
    }

    fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Whether a stride is a whole number of this many bytes.
    fn is_bytes(&self, stride: u128, bytes: u128) -> bool {
        (stride * self.bits).is_multiple_of(bytes * 8)
    }

    fn bytes(&self, elements: u128) -> u128 {
        (elements * self.bits).div_ceil(8)
    }
}

/// The rules of MTLTensorDescriptor's comments on `dimensions` and `strides`, and of Apple's page on
/// `strides`.
fn metal(given: &Given, machine_learning: bool) -> bool {
    let formats = ["s2", "u2", "s4", "u4", "f4e2m1fn", "f8e4m3fn", "f8e5m2"];
    let plain = ["f32", "f16", "bf16", "s8", "u8", "s16", "u16", "s32", "u32"];
    let name = given.data_type.to_string();
    let format = formats.contains(&&*name);
    if !(format || plain.contains(&&*name)) || given.rank() > 16 || given.sizes.contains(&0) {
        return false;
    }
    if given.rank() == 0 {
        return true;
    }
    if given.strides[0] != 1 || (format && !given.sizes[0].is_multiple_of(32)) {
        return false;
    }
    for i in 1..given.rank() {
        let inside = given.strides[i - 1] * given.sizes[i - 1];
        if given.strides[i] < inside || (format && !given.is_bytes(given.strides[i], 128)) {
            return false;
        }
        if machine_learning && (if i == 1 { !given.is_bytes(given.strides[1], 64) } else { given.strides[i] != inside })
        {
            return false;
        }
    }
    true
}

/// The valid usage of VkTensorDescriptionARM, by number, with the required limits and without
/// `tensorNonPacked`.
fn vulkan(given: &Given) -> bool {
    let rank = given.rank();
    // Vulkan counts from the outermost axis.
    let (sizes, strides): (Vec<u128>, Vec<u128>) =
        (given.sizes.iter().rev().copied().collect(), given.strides.iter().rev().map(|s| s * given.bits).collect());
    let types = ["pred", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"];
    let name = given.data_type.to_string();
    (types.contains(&&*name) || ["f8e4m3fn", "f8e5m2"].contains(&&*name))
        && (1..=4).contains(&rank)
        && sizes.iter().all(|&size| (1..=65536).contains(&size))
        && sizes.iter().product::<u128>() <= 65536
        // 09736
        && strides[rank - 1] == given.bits
        // 09738
        && strides.iter().all(|&stride| stride > 0 && stride <= 65536 * 8)
        // 09739
        && (1..rank).all(|i| strides[i - 1] >= strides[i] * sizes[i])
        // 09740
        && (1..rank).all(|i| strides[i - 1] == strides[i] * sizes[i])
        // 09884
        && strides[0] * sizes[0] <= 65536 * 8
}

/// The requirements of cuTensorMapEncodeTiled, without interleaving. Types of 4 bits are 16U4_ALIGN8B, types
/// of 6 bits 16U6_ALIGN16B.
fn tensor_map(given: &Given) -> bool {
    let types = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"];
    let narrow = ["u4", "s4", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"];
    let name = given.data_type.to_string();
    let (last, stride) = match given.bits {
        4 => (2, 16),
        6 => (128, 32),
        _ => (1, 16),
    };
    (types.contains(&&*name) || narrow.contains(&&*name))
        && given.sizes.first().is_some_and(|size| size.is_multiple_of(last))
        && (1..=5).contains(&given.rank())
        && given.sizes.iter().all(|&size| (1..=1 << 32).contains(&size))
        && given.strides[0] == 1
        && (1..given.rank()).all(|i| {
            let bytes = given.bytes(given.strides[i]);
            given.is_bytes(given.strides[i], stride)
                && bytes < 1 << 40
                && given.strides[i] >= given.strides[i - 1] * given.sizes[i - 1]
        })
}

/// WebNN is given only a type and a shape. So the elements are packed, and the stride of an axis of size 1
/// has no effect.
fn webnn(given: &Given) -> bool {
    let types = ["f32", "f16", "s32", "u32", "s64", "u64", "s8", "u8", "s4", "u4"];
    let mut packed = 1;
    types.contains(&&*given.data_type.to_string())
        && given.sizes.iter().all(|&size| (1..=0xffff_ffff).contains(&size))
        && given.sizes.iter().zip(&given.strides).all(|(&size, &stride)| {
            let fits = size == 1 || stride == packed;
            packed *= size;
            fits
        })
}

type Rules = fn(&Given) -> bool;

fn devices() -> Vec<(DeviceLimits, Rules)> {
    vec![
        (named("metal-tensor"), |given| metal(given, false)),
        (named("metal-tensor:ml"), |given| metal(given, true)),
        (named("vulkan-tensor"), vulkan),
        (named("cuda-tensor-map"), tensor_map),
        (named("webnn"), webnn),
    ]
}

/// Sizes, and strides near the strides of a packed tensor: a little more or less, in another order, or any.
fn desc() -> impl Strategy<Value = BufferTensorDesc> {
    let size = prop_oneof![3 => 1..5_u64, 2 => prop::sample::select(vec![0, 16, 32, 64, 96])];
    let change = prop_oneof![6 => Just(0_i64), 1 => -3..4_i64, 1 => prop::sample::select(vec![16, 32, 64, 128])];
    let axes = prop::collection::vec((size, change, 0..200_u64), 0..6);
    let types = prop::sample::select(DataType::ALL.to_vec());
    (axes, types, 0..8_u8, any::<prop::sample::Index>()).prop_filter_map("small", |(axes, data_type, kind, turn)| {
        let sizes: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let mut strides = vec![0; sizes.len()];
        let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
        if kind == 0 && !order.is_empty() {
            let by = turn.index(order.len());
            order.rotate_left(by);
        }
        let mut next = 1_u64;
        for axis in order {
            let (size, change, any) = axes[axis];
            strides[axis] = if kind == 1 { any } else { next.saturating_add_signed(change) };
            next = strides[axis].max(1) * size.max(1);
        }
        let desc = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap();
        (desc.element_count() < 20_000 && desc.span_elements() < 200_000).then_some(desc)
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn what_is_accepted_follows_the_rules_word_for_word(desc in desc()) {
        let given = Given::new(&desc);
        for (limits, rules) in devices() {
            let errors = validate_description(&desc, &limits).err();
            prop_assert!(errors.is_none() == rules(&given), "{desc} for {}: {errors:?}", limits.name);
        }
    }

    #[test]
    fn what_is_suggested_is_accepted_and_reached(desc in desc()) {
        for (limits, rules) in devices() {
            let Ok(found) = suggest(&desc, &limits) else {
                // No strides cure these errors: the type, the rank, the sizes and their number, or a size
                // that the type does not allow.
                let packed = BufferTensorDesc::packed(desc.data_type(), desc.sizes()).unwrap();
                prop_assert!(validate_description(&packed, &limits).is_err(), "{desc} for {}", limits.name);
                continue;
            };
            let Some(found) = found else {
                prop_assert!(validate_description(&desc, &limits).is_ok());
                continue;
            };
            let from = found.source.clone().unwrap();
            let report = validate_description(&found.desc, &limits).unwrap();
            prop_assert!(rules(&Given::new(&found.desc)), "{desc} became {} for {}", found.desc, limits.name);
            prop_assert_eq!(report.total_bytes, found.bytes);
            prop_assert!(validate_description(&desc, &limits).is_err());
            if !found.moves_bytes() {
                prop_assert_eq!(strided_offsets(&found.desc), strided_offsets(&desc));
            }
            prop_assert!(found.desc.sizes().ends_with(desc.sizes()));
            if desc.data_type().bits() == 8 && desc.element_count() > 0 {
                let source: Vec<u8> = (0..desc.span_elements()).map(|i| (i ^ (i >> 8)) as u8).collect();
                let mut there = vec![0; found.bytes as usize];
                Relayout::new(&from, &found.desc).unwrap().run(&source, &mut there).unwrap();
                for (from, to) in strided_offsets(&desc).into_iter().zip(strided_offsets(&found.desc)) {
                    prop_assert_eq!(source[from], there[to]);
                }
            }
        }
    }
}

#[test]
fn sentences_name_axis_value_and_limit() {
    let sentences = |desc: &str, limits: &DeviceLimits| -> Vec<String> {
        validate_description(&read::desc(desc), limits).unwrap_err().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        sentences("f16[2,3,5]:[1,20,2]", &named("metal-tensor:ml")),
        [
            "axis 0 has a stride of 1 element of 16 bits, which is not a multiple of 64 bytes",
            "axis 0 has stride 1, but the device requires it packed there, with a stride of 60",
            "axis 1 has a stride of 20 elements of 16 bits, which is not a multiple of 64 bytes",
            "axis 2 is the innermost and has stride 2, but the device requires 1 there",
        ]
    );
    assert_eq!(
        sentences("f32[8,16]:[8,1]", &named("cuda-tensor-map")),
        ["axis 0 has stride 8, but the axis inside it takes 16 elements, and the device requires axes in their order"]
    );
    assert_eq!(
        sentences("u4[7,33]:[256,1]", &named("metal-tensor")),
        ["axis 1 has size 33, which is not a multiple of 32"]
    );
}

/// `f32[8,3]` in a uniform buffer: elements are 16 bytes apart, unless the language has the feature that
/// lifts the rule.
#[test]
fn arrays_in_uniform_buffers_are_spread() {
    for name in ["webgpu-uniform", "vulkan-uniform"] {
        for (desc, spread, bytes) in [
            ("u32[8]:[1]", "u32[8]:[4]", 128),
            ("f32[8,3]:[3,1]", "f32[8,3]:[12,4]", 384),
            ("f16[2]:[1]", "f16[2]:[8]", 32),
        ] {
            let desc = read::desc(desc);
            assert!(validate_description(&desc, &named(name)).unwrap_err().codes().contains(&"stride_unaligned"));
            let found = suggest(&desc, &named(name)).unwrap().unwrap();
            assert_eq!((found.desc.to_string().as_str(), found.bytes), (spread, bytes), "{name}");
            let lifted = named(&format!("{name}:uniform_buffer_standard_layout=true"));
            assert!(suggest(&desc, &lifted).unwrap().is_none());
        }
        for scalar in ["u8[]:[]", "u8[1]:[1]", "u16[1,1]:[1,1]"] {
            let bytes = read::desc(scalar).min_size_in_bytes().min(2);
            assert!(validate_description(&read::desc(scalar), &named(name)).unwrap().total_bytes <= bytes, "{scalar}");
        }
        let tiled: ArrayShape = "f32[16]{0:T(8)}".parse().unwrap();
        assert!(validate_description(&"f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>().unwrap(), &named(name)).is_err());
        assert!(validate_description(&tiled, &named(name)).is_err());
    }
}

/// The numbers that a device reports, by the names of its API.
#[test]
fn limits_have_the_names_of_their_apis() {
    let webgpu = named("webgpu:maxStorageBufferBindingSize=1GiB,minStorageBufferOffsetAlignment=32");
    assert_eq!((webgpu.max_binding, webgpu.offset_alignment), (1 << 30, 32));
    assert_eq!(named("vulkan:minStorageBufferOffsetAlignment=16").offset_alignment, 16);
    assert_eq!(named("opencl:CL_DEVICE_MEM_BASE_ADDR_ALIGN=4096").offset_alignment, 512);
    let (found, ignored) =
        DeviceLimits::reported([("maxUniformBufferRange", 65536), ("maxImageDimension2D", 4096)]).unwrap();
    assert_eq!((found.max_binding, found.uniform_buffer_standard_layout), (65536, false));
    assert_eq!(ignored, ["maxImageDimension2D"]);
    assert_eq!(DeviceLimits::reported([("maxImageDimension2D", 4096)]).unwrap_err().code(), "unknown_limits");
    assert_eq!("in-order".parse::<DeviceLimits>().unwrap_err().code(), "unknown_limits");
    assert_eq!("webgpu:maxBufferSise=1".parse::<DeviceLimits>().unwrap_err().code(), "unknown_limits");
}

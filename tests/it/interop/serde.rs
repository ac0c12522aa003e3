//! Values that serde writes are read back as equal values, in the form that the module promises. Damaged JSON
//! is refused by a sentence.
#![cfg(feature = "serde")]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tensor_layout::AnyLayout;
use tensor_layout::relayout::Padding;
use tensor_layout::strided::Slices;
use tensor_layout::tiled::{Layout, Tile};
use tensor_layout::upload::{DeviceLimits, FeatureLevel, Role, TypeLimits, UploadBuffer};
use tensor_layout::{ArrayShape, AxisOrder, BufferTensorDesc, DataType, Error, LayoutClass, Shape, TensorFlags};

use crate::literal::{any_shape, cases};

/// Checks that a value is read back from a text and from a tree of values. Returns the text.
fn reads_back<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T) -> String {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value, "{json}");
    let tree = serde_json::to_value(value).unwrap();
    assert_eq!(&serde_json::from_value::<T>(tree).unwrap(), value, "{json}");
    json
}

/// The sentence that refuses a JSON text, without the place that serde_json puts after it.
fn refusal<T: DeserializeOwned + Debug>(json: &str) -> String {
    let error = serde_json::from_str::<T>(json).expect_err(json).to_string();
    error.split(" at line ").next().unwrap_or_default().to_owned()
}

fn data_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(DataType::ALL.to_vec())
}

fn desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axes = prop::collection::vec((0..9_u64, prop_oneof![0..99_u64, any::<u32>().prop_map(u64::from)]), 0..10);
    let alignment = prop::sample::select(vec![0, 16, 256]);
    (data_type(), axes, any::<bool>(), 0..100_u64, any::<bool>(), 0..3_u64, alignment).prop_map(
        |(data_type, axes, explicit, base, owned, more, alignment)| {
            let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let desc = BufferTensorDesc::new(data_type, &sizes, explicit.then_some(&strides[..])).unwrap();
            let desc = desc.with_base_offset(base).unwrap().with_base_offset_alignment(alignment).unwrap();
            let total = desc.min_size_in_bytes() + 4 * more;
            let flags = if owned { TensorFlags::OwnedByDirectml } else { TensorFlags::None };
            desc.with_total_size_in_bytes(total).unwrap().with_flags(flags)
        },
    )
}

/// Limits with a different value in every field.
fn limits() -> impl Strategy<Value = DeviceLimits> {
    let number = || prop_oneof![Just(u64::MAX), 1..512_u64, any::<u32>().prop_map(|number| u64::from(number) + 1)];
    let types = prop::option::of(prop::collection::vec(data_type(), 0..5));
    let rank = prop_oneof![0..9_usize, Just(usize::MAX)];
    let name = prop::sample::select(vec!["", "none", "adapter 7, \"β\""]);
    (name, types, 0..9_usize, rank, prop::array::uniform10(number()), prop::array::uniform5(any::<bool>())).prop_map(
        |(name, types, min_rank, max_rank, numbers, switches)| {
            let mut limits = DeviceLimits::none();
            limits.name = name.into();
            limits.data_types = types.map(Into::into);
            (limits.min_rank, limits.max_rank) = (min_rank, max_rank.max(min_rank));
            let [size, stride, elements, multiple, binding, other_binding, alignment, buffer, copy, unit] = numbers;
            (limits.max_size, limits.max_stride, limits.max_elements) = (size, stride, elements);
            (limits.min_binding, limits.max_binding) = (binding.min(other_binding), binding.max(other_binding));
            (limits.size_multiple, limits.offset_alignment, limits.write_granularity) = (multiple, alignment, unit);
            (limits.max_buffer, limits.max_copy) = (buffer, copy);
            let [zero, base, padding, exclusive, usage] = switches;
            (limits.zero_sizes, limits.base_offset_in_binding, limits.writes_padding) = (zero, base, padding);
            (limits.exclusive_ranges, limits.one_usage) = (exclusive, usage);
            // The rules of devices that are given strides are made from the same numbers.
            (limits.takes_strides, limits.unit_inner_stride, limits.ordered_strides) = (usage, exclusive, padding);
            (limits.zero_offset, limits.whole_elements) = (base, zero);
            (limits.stride_multiple, limits.max_stride_bytes, limits.max_extent) = (unit, copy, buffer);
            limits.max_logical_elements = alignment;
            limits.packed_outside = zero.then_some(max_rank);
            let data_types = limits.data_types.clone().unwrap_or_default();
            let (inner_size_multiple, stride_multiple, offset_alignment) = (size, stride, elements);
            let rules = TypeLimits { data_types, inner_size_multiple, stride_multiple, offset_alignment };
            limits.stricter_types = base.then_some(rules).into_iter().collect::<Vec<_>>().into();
            (limits.run_multiple, limits.whole_byte_rows, limits.whole_extent) = (multiple, exclusive, usage);
            limits
        },
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn descriptors_read_back(desc in desc()) {
        let json = reads_back(&desc);
        let back: BufferTensorDesc = serde_json::from_str(&json).unwrap();
        // `==` may ignore these fields.
        prop_assert_eq!(back.explicit_strides(), desc.explicit_strides());
        prop_assert_eq!(back.total_tensor_size_in_bytes(), desc.total_tensor_size_in_bytes());
        prop_assert_eq!(back.base_offset_alignment(), desc.base_offset_alignment());
        prop_assert_eq!((back.base_offset(), back.flags()), (desc.base_offset(), desc.flags()));
    }

    #[test]
    fn limits_read_back(limits in limits()) {
        reads_back(&limits);
    }

    #[test]
    fn buffers_paddings_and_sizes_read_back(
        len in any::<u64>(),
        offset in any::<u64>(),
        written in any::<bool>(),
        pattern in any::<u128>(),
    ) {
        reads_back(&UploadBuffer::new(len, offset, if written { Role::Output } else { Role::Input }));
        prop_assert_eq!(reads_back(&Padding::Fill(pattern)), format!("\"{pattern:#x}\""));
    }

    #[test]
    fn tiled_shapes_read_back(shape in any_shape(2000)) {
        reads_back(shape.layout());
        reads_back(&shape.to_string().parse::<AnyLayout>().unwrap());
        prop_assert_eq!(reads_back(&shape), format!("\"{shape}\""));
        reads_back(&Shape::Tuple(vec![Shape::Token, Shape::Array(shape)]));
    }

    /// A descriptor in which one number was replaced is refused, or has values that its constructors accept.
    #[test]
    fn damaged_numbers_are_refused_or_checked(desc in desc(), which in any::<prop::sample::Index>(), number in any::<u64>()) {
        let json = reads_back(&desc);
        let digit = |at: usize| json.as_bytes()[at].is_ascii_digit();
        // The digits in the name of the type are skipped.
        let from = json.find("\"sizes\"").unwrap();
        let starts: Vec<usize> = (from..json.len()).filter(|&at| digit(at) && !digit(at - 1)).collect();
        prop_assume!(!starts.is_empty());
        let start = starts[which.index(starts.len())];
        let end = (start..json.len()).find(|&at| !digit(at)).unwrap();
        let damaged = format!("{}{number}{}", &json[..start], &json[end..]);
        if let Ok(desc) = serde_json::from_str::<BufferTensorDesc>(&damaged) {
            reads_back(&desc);
            let made = BufferTensorDesc::new(desc.data_type(), desc.sizes(), desc.explicit_strides());
            let made = made.and_then(|made| made.with_base_offset(desc.base_offset()));
            prop_assert!(made.is_ok_and(|made| made.min_size_in_bytes() <= desc.total_tensor_size_in_bytes()));
        }
    }
}

fn texts<T>(texts: &[&str])
where
    T: Display + FromStr<Err = Error> + Serialize + DeserializeOwned + Debug + PartialEq,
{
    for text in texts {
        let value: T = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let json = reads_back(&value);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value.to_string());
        // Texts that people write are read like texts that are printed.
        assert_eq!(serde_json::from_str::<T>(&serde_json::to_string(text).unwrap()).unwrap(), value);
    }
}

#[test]
fn what_has_a_text_is_that_text() {
    texts::<DataType>(&["f32", "bf16", "u4", "pred", "f8e4m3fn", "c128"]);
    texts::<AxisOrder>(&["NCHW", "NHWC", "GOIDHW", "HWIO", "ABC"]);
    texts::<Slices>(&["[]", "[8:16,0:128]", "[0:9:2]"]);
    texts::<Tile>(&["(8,128)", "(*,4)", "(1)"]);
    texts::<Layout>(&["{}", "{1,0}", "{1,0:T(8,128)(2,1)}", "{0:T(128)S(1)}", "{2,0,1:T(*,4)(2,1)E(4)}"]);
    texts::<ArrayShape>(&["f32[]", "f32[3,5]{1,0:T(2,2)}", "bf16[<=5,3]{1,0:T(8,128)(2,1)}", "s4[7]{0:T(128)E(4)}"]);
    texts::<Shape>(&["()", "(f32[2]{0}, token[])", "((u8[3]{0}), (bf16[2,3]{0,1}, pred[]))"]);
    for text in ["f32[3,5]{1,0:T(2,2)}", "f32[3,5]:[7,1]", "u4[]:[]+3"] {
        assert_eq!(reads_back(&text.parse::<AnyLayout>().unwrap()), format!("\"{text}\""));
    }
    texts::<LayoutClass>(&["affine", "split", "fused"]);
    for data_type in DataType::ALL {
        assert_eq!(reads_back(data_type), format!("\"{data_type}\""));
    }
}

#[test]
fn what_has_no_text_has_the_form_of_its_table() {
    let desc = BufferTensorDesc::packed(DataType::F16, &[2, 3]).unwrap();
    assert_eq!(reads_back(&desc), r#"{"data_type":"f16","sizes":[2,3]}"#);
    let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1])).unwrap();
    let desc = desc.with_base_offset(4).unwrap().with_base_offset_alignment(256).unwrap();
    let desc = desc.with_flags(TensorFlags::OwnedByDirectml).with_total_size_in_bytes(64).unwrap();
    let json = concat!(
        r#"{"data_type":"f32","sizes":[2,3],"strides":[5,1],"base_offset":4,"flags":"owned_by_dml","#,
        r#""total_tensor_size_in_bytes":64,"base_offset_alignment":256}"#
    );
    assert_eq!(reads_back(&desc), json);
    assert_eq!(reads_back(&Padding::Keep), r#""keep""#);
    assert_eq!(reads_back(&Padding::Zero), r#""zero""#);
    assert_eq!(reads_back(&Padding::Fill(0x7f)), r#""0x7f""#);
    assert_eq!(reads_back(&UploadBuffer::new(64, 16, Role::Output)), r#"{"len":64,"offset":16,"role":"output"}"#);
    let buffer: UploadBuffer = serde_json::from_str(r#"{"role":"input","len":64}"#).unwrap();
    assert_eq!(buffer, UploadBuffer::new(64, 0, Role::Input));
}

/// WebGPU's rules are among the limits: two usages of a buffer, ranges of written bindings, and words that
/// are written at once.
#[test]
fn named_limits_read_back() {
    let named = DeviceLimits::names().map(|name| name.parse::<DeviceLimits>().unwrap());
    for limits in named.chain(FeatureLevel::ALL.iter().map(|&level| DeviceLimits::directml_level(level))) {
        reads_back(&limits);
    }
    let json = reads_back(&"cuda-tensor-map:64".parse::<DeviceLimits>().unwrap());
    for field in [r#""overwrites_units":true"#, r#""ordered_strides":true"#] {
        assert!(json.contains(field), "{field} is not in {json}");
    }
    let json = reads_back(&"metal-tensor:ml".parse::<DeviceLimits>().unwrap());
    for field in [r#""packed_outside":2"#, r#""inner_size_multiple":32"#, r#""zero_offset":true"#] {
        assert!(json.contains(field), "{field} is not in {json}");
    }
    let json = reads_back(&DeviceLimits::webgpu());
    for field in [r#""exclusive_ranges":true"#, r#""one_usage":true"#, r#""write_granularity":4"#] {
        assert!(json.contains(field), "{field} is not in {json}");
    }
    // A field that is left out is not a limit.
    let mut mine = DeviceLimits::none();
    mine.name = "mine".into();
    mine.max_binding = 1024;
    assert_eq!(serde_json::from_str::<DeviceLimits>(r#"{"name":"mine","max_binding":1024}"#).unwrap(), mine);
}

#[test]
fn damaged_objects_are_refused_in_words() {
    for row in include_str!("damaged.txt").lines().skip(1) {
        let [kind, json, sentence] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let refusal = match kind {
            "descriptor" => refusal::<BufferTensorDesc>(json),
            "limits" => refusal::<DeviceLimits>(json),
            _ => refusal::<UploadBuffer>(json),
        };
        assert!(refusal.contains(sentence), "{row}: {refusal}");
    }
}

#[test]
fn damaged_paddings_are_refused() {
    let too_wide = format!("\"0x1{}\"", "0".repeat(32));
    for json in [r#""Keep""#, r#""0x""#, r#""0xg""#, r#""0x+1""#, r#""-0x1""#, r#""127""#, r#""""#, &too_wide] {
        let text: String = serde_json::from_str(json).unwrap();
        let expected = format!("invalid value: string {text:?}, expected keep, zero or at most 128 bits as 0x...");
        assert_eq!(refusal::<Padding>(json), expected);
    }
    assert_eq!(refusal::<Padding>("0"), "invalid type: integer `0`, expected a string");
}

/// A text that the parser refuses is refused in JSON, by the same sentence.
#[test]
fn damaged_texts_are_refused_by_the_sentence_of_the_text() {
    fn refused<T: FromStr<Err = Error> + DeserializeOwned + Debug>(texts: &[&str]) {
        for text in texts {
            let error = text.parse::<T>().expect_err(text);
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(refusal::<T>(&json), error.to_string());
        }
        for json in ["null", "7", "[1]", "{}", "true"] {
            assert!(refusal::<T>(json).ends_with("expected a text"), "{json}");
        }
    }
    refused::<DataType>(&["", "q32", "f33", "u4 x"]);
    refused::<AxisOrder>(&["NCHN", "NXHW", "N C"]);
    refused::<Slices>(&["[8:16", "[8-16]", "[1:2:x]"]);
    refused::<Tile>(&["(8,128", "(0)", "(4,*)", "(-8)"]);
    refused::<Layout>(&["{1,0", "{1,1}", "{0,2}", "{0:T(0)}", "{0:T(8)"]);
    refused::<ArrayShape>(&[
        "f32[3,5]{0}",
        "q32[3]{0}",
        "f32[3,5]{1,0:T(2,*)}",
        "f32[18446744073709551616]{0}",
        "f32[3",
    ]);
    refused::<Shape>(&["(f32[2]{0}", "(f32[2]{1})", "f32[2]{0})"]);
    refused::<AnyLayout>(&["f32[3,5]:[1]", "f32[3,5]:NCHW", "f32[3", "x"]);
}

//! Every error is a sentence that names its values, and has a code of its own. `Debug` has the values too.

use std::collections::BTreeSet;

use tensor_layout::{ArgumentRule, BufferTensorDesc, DeviceRule, Error, ErrorKind, ModelFault};

fn argument(rule: ArgumentRule, what: &'static str, axis: Option<usize>, value: u64, limit: u64) -> Error {
    Error::InvalidArgument { rule, what, axis, value, limit }
}

fn device(rule: DeviceRule, axis: Option<usize>, value: u64, limit: u64, bits: u32) -> Error {
    Error::DeviceLimit { rule, axis, value, least: 0, limit, bits }
}

/// One error of each code. The values of an error differ from each other.
fn errors() -> Vec<Error> {
    use ArgumentRule::*;
    use DeviceRule::*;
    let text = |text: &str| text.to_owned();
    vec![
        Error::Overflow { quantity: "the number of widgets", bits: 64 },
        argument(RankMismatch, "widgets", None, 47, 31),
        argument(AxisOutOfRange, "", Some(31), 0, 47),
        argument(IndexOutOfRange, "", Some(31), 47, 53),
        argument(OffsetOutOfRange, "", None, 31, 47),
        argument(NotAPermutation, "the widget", Some(47), 31, 0),
        argument(NotAscending, "the widget", Some(47), 31, 53),
        argument(SizeMismatch, "", Some(31), 53, 47),
        argument(ZeroSize, "", Some(31), 0, 0),
        Error::UnknownName { code: "unknown_data_type", name: text("q32"), reason: "is not a widget".into() },
        Error::UnsupportedDataType { data_type: "s3", by: "widget 9".into() },
        Error::DataTypeMismatch { expected: "f32", found: "s3" },
        argument(ElementBitsMismatch, "", None, 47, 31),
        argument(UnsupportedElementBits, "whole widgets", None, 31, 0),
        Error::Parse { text: text("f32[x"), column: 5, expected: text("a number"), found: text("`x`") },
        Error::UnknownName { code: "bad_axis_order", name: text("NCX"), reason: "has X, which is not an axis".into() },
        argument(ZeroTile, "", Some(47), 31, 0),
        argument(TrailingCombine, "", None, 31, 0),
        argument(ZeroTailAlignment, "", None, 0, 0),
        argument(TotalSizeTooSmall, "", None, 31, 47),
        argument(TotalSizeUnaligned, "", None, 31, 0),
        argument(BadAlignment, "", None, 31, 47),
        Error::BufferTooShort { what: "widget", offset: None, needed: 31, found: 47 },
        argument(BadPointer, "the widget", None, 0, 31),
        Error::OverlappingDestination { first: vec![31, 47], second: vec![53, 59], offset: 61 },
        Error::Undecided { question: "whether it is a widget", work: 31 },
        Error::NotExpressible { target: "widget", reason: text("it is too odd") },
        Error::FillTooWide { pattern: 0x31, bits: 47 },
        argument(PaddingOfPart, "", None, 31, 0),
        argument(PaddingKept, "the widget is gone", None, 0, 0),
        argument(NotInPlace, "the widget is gone", None, 0, 0),
        Error::NotAView { operation: "widget", axis: 31, reason: text("is too odd") },
        Error::OutOfLimits { what: "the widget", value: 31, min: 47, max: 53 },
        argument(ElementCountMismatch, "", None, 47, 31),
        argument(Negative, "widgets", Some(31), 0, 0),
        Error::DeviceLimit { rule: RankLimit, axis: None, value: 31, least: 47, limit: 53, bits: 0 },
        device(SizeLimit, Some(31), 47, 53, 0),
        device(StrideLimit, Some(31), 47, 53, 0),
        device(ElementLimit, None, 31, 47, 0),
        device(InnerStride, Some(31), 47, 0, 0),
        device(StrideUnaligned, Some(31), 47, 59, 53),
        device(StrideOrder, Some(31), 47, 53, 0),
        device(StrideNotPacked, Some(31), 47, 53, 0),
        device(SizeUnaligned, Some(31), 47, 53, 0),
        device(BoxLimit, Some(31), 47, 53, 0),
        device(BoxUnaligned, Some(31), 47, 59, 53),
        device(OffsetNotZero, None, 31, 0, 0),
        device(OffsetUnaligned, None, 31, 47, 0),
        device(OffsetInsideByte, None, 31, 0, 47),
        device(BindingUnaligned, None, 31, 47, 0),
        device(BindingTooSmall, None, 31, 47, 0),
        device(BindingLimit, None, 31, 47, 0),
        device(BufferLimit, None, 31, 47, 0),
        Error::BufferTooShort { what: "widget", offset: Some(31), needed: 47, found: 53 },
        device(OwnedOutput, None, 0, 0, 0),
        Error::BindingConflict { first: 31, second: 47, byte: Some(53) },
        Error::BindingConflict { first: 31, second: 47, byte: None },
        device(NoPieces, None, 31, 47, 0),
        Error::Model(ModelFault::Header { reason: text("has no widget") }),
        Error::Model(ModelFault::Truncated { what: "the widget", needed: 31, found: 47 }),
        Error::Model(ModelFault::TrailingBytes { bytes: 31 }),
        Error::Model(ModelFault::RepeatedName { name: text("w31"), place: "the widget" }),
        Error::Model(ModelFault::Layout { tensor: text("w31"), layout: text("f32[x"), reason: text("x is odd") }),
        Error::Model(ModelFault::Index { reason: text("has no widget") }),
        Error::Model(ModelFault::PartName { part: text("w31") }),
        Error::Model(ModelFault::MissingTensor { tensor: text("w31"), part: text("w47") }),
        Error::Model(ModelFault::DuplicateTensor { tensor: text("w31"), first: text("w47"), second: text("w53") }),
        Error::UnknownName { code: "unknown_limits", name: text("widget"), reason: "names no widgets".into() },
    ]
}

/// The numbers and the quoted words of a `Debug` text.
fn values(debug: &str) -> Vec<String> {
    let mut values: Vec<String> = debug.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let unquoted: Vec<&str> = debug.split('"').step_by(2).collect();
    let numbers = unquoted.iter().flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    values.extend(numbers.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned));
    values
}

#[test]
fn every_error_names_all_of_its_values() {
    for error in errors() {
        let sentence = error.to_string();
        // A code is not a value, and 0 means that there is no value.
        let unsaid = |value: &String| value == error.code() || value.is_empty() || value == "0";
        for value in values(&format!("{error:?}")).into_iter().filter(|value| !unsaid(value)) {
            // Patterns of bits are written in hexadecimal digits.
            let in_hex = value.parse::<u128>().map(|value| format!("{value:#x}")).unwrap_or_default();
            let is_named = sentence.contains(&value) || !in_hex.is_empty() && sentence.contains(&in_hex);
            assert!(is_named, "{value} of {error:?} is not in: {sentence}");
        }
        assert!(!sentence.ends_with('.') && !sentence.contains('\n') && !sentence.contains("  "), "{sentence}");
        let first = sentence.chars().next().unwrap();
        assert!(first == '`' || first.is_lowercase(), "it may follow a colon: {sentence}");
    }
}

#[test]
fn every_error_has_a_code_of_its_own() {
    let errors = errors();
    let codes: BTreeSet<&str> = errors.iter().map(Error::code).collect();
    assert_eq!(codes.len(), errors.len());
    for error in &errors {
        let code = error.code();
        assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
        // The code of `Error::NotAView` is `not_a_view`, and rules have codes of this form too. The code of a
        // fault of a model begins with `model`.
        let is_binding = matches!(error, Error::BufferTooShort { offset: Some(_), .. });
        if is_binding || matches!(error, Error::UnknownName { .. } | Error::BindingConflict { .. }) {
            continue;
        }
        let debug = format!("{error:?}");
        let (prefix, name) = match (debug.strip_prefix("Model("), debug.split_once("rule: ")) {
            (Some(fault), _) => ("model", fault),
            (None, Some((_, rule))) => ("", rule),
            (None, None) => ("", &debug[..]),
        };
        let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
        let mut words = prefix.to_owned();
        for (place, character) in name.char_indices() {
            if character.is_uppercase() && (place > 0 || !prefix.is_empty()) {
                words.push('_');
            }
            words.extend(character.to_lowercase());
        }
        assert_eq!(code, words);
    }
}

/// Programs act on kinds of errors. Each kind has some errors, and their codes show the kind.
#[test]
fn every_error_is_of_the_kind_that_its_code_says() {
    for error in errors() {
        let code = error.code();
        let expected = match code {
            _ if code.starts_with("model_") => ErrorKind::Model,
            "parse" | "bad_axis_order" => ErrorKind::Parse,
            _ if code.starts_with("unknown_") => ErrorKind::Parse,
            _ if code.starts_with("unsupported_") => ErrorKind::Unsupported,
            _ if code.ends_with("_out_of_range") || code == "out_of_limits" => ErrorKind::OutOfRange,
            "overflow" => ErrorKind::Overflow,
            "not_expressible" | "not_a_view" | "not_in_place" => ErrorKind::NotExpressible,
            "undecided" => ErrorKind::Undecided,
            "buffer_too_short" | "binding_outside_buffer" => ErrorKind::Buffer,
            "overlapping_destination" | "bindings_overlap" | "buffer_read_and_written" => ErrorKind::Overlap,
            "owned_output" | "no_pieces" | "inner_stride" | "stride_order" | "stride_not_packed"
            | "offset_not_zero" | "offset_inside_byte" | "binding_too_small" => ErrorKind::DeviceLimit,
            "total_size_unaligned" => ErrorKind::InvalidArgument,
            _ if code.ends_with("_limit") || code.ends_with("_unaligned") => ErrorKind::DeviceLimit,
            _ => ErrorKind::InvalidArgument,
        };
        assert_eq!(error.kind(), expected, "{error}");
    }
}

#[test]
fn only_a_parse_error_points_at_a_column() {
    for error in errors() {
        let is_parse = error.kind() == ErrorKind::Parse && error.code() == "parse";
        assert_eq!((error.column().is_some(), error.pointer().is_some()), (is_parse, is_parse), "{error}");
        if is_parse {
            assert_eq!((error.column(), error.pointer().as_deref()), (Some(5), Some("f32[x\n    ^")));
        }
    }
    let error = BufferTensorDesc::new(tensor_layout::DataType::F32, &[2, 3], Some(&[1])).unwrap_err();
    let source: &dyn std::error::Error = &error;
    assert!(source.source().is_none());
}

/// Names from a file may hold any characters, and have any length.
#[test]
fn names_out_of_a_file_are_shortened_and_escaped() {
    let fault = |part: String| Error::Model(ModelFault::PartName { part }).to_string();
    assert!(fault("a\n\u{1b}[2Jb".into()).starts_with("`a\\n\\u{1b}[2Jb` is not the name"));
    let long = fault("w".repeat(401));
    assert!(long.contains(&format!("`{}...`", "w".repeat(400))), "{long}");
    let whole = fault("w".repeat(400));
    assert!(whole.contains(&format!("`{}`", "w".repeat(400))), "{whole}");
}

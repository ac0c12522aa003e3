//! Every error is a sentence that names its values, and a row of the table of errors, which the page
//! docs/ERRORS.md shows. `TENSOR_LAYOUT_PRINT=1 cargo test -p tensor-layout-tests --test it error_sentences`
//! writes the page.

use std::collections::BTreeSet;
use std::fmt::Write;

use tensor_layout::plan::Code;
use tensor_layout::{BufferTensorDesc, DataType, Error, ErrorKind};

/// The beginning of the page.
const HEAD: &str = "# Error codes

`Error::code` is a stable word for programs: it stays when a sentence is reworded. `Error::kind` sorts the codes into a few kinds to act on.
`Error::axis`, `value` and `limit` are the numbers of a sentence. The command line prints codes with `--json`, and the feature `serde` writes
errors as `{\"code\", \"message\", \"axis\", \"value\", \"limit\"}`.

This page is printed from the table of errors, `src/error/table.rs`. In a sentence, names in braces stand for what the error at hand names;
where they leave the rule open, what must hold follows.
";

/// The kinds of errors in the order of the page, with what they mean.
const KINDS: [(ErrorKind, &str); 11] = [
    (ErrorKind::Parse, "A text does not follow its grammar, or names something that does not exist."),
    (ErrorKind::InvalidArgument, "Arguments contradict each other, or break a rule that holds on every device."),
    (ErrorKind::OutOfRange, "An axis, an index, an offset or another number is outside its range."),
    (ErrorKind::Overflow, "A number does not fit its integer type."),
    (ErrorKind::Unsupported, "An operation does not handle this data type or this element width."),
    (ErrorKind::NotExpressible, "There is no such view, description or copy. The caller has to move the data instead."),
    (ErrorKind::Undecided, "A search was stopped at its work limit."),
    (ErrorKind::Buffer, "A buffer is too short."),
    (ErrorKind::Overlap, "Elements that are written share memory with other elements."),
    (ErrorKind::DeviceLimit, "A device does not accept the tensor, the buffer or the binding."),
    (ErrorKind::Warning, "What a check accepts and a caller should look at (`UploadReport::warnings`)."),
];

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (kind, about) in KINDS {
        write!(page, "\n## {kind:?}\n\n{about}\n\n").unwrap();
        for row in Code::ALL.iter().map(|code| code.row()).filter(|row| row.kind == kind) {
            writeln!(page, "{}", format!("* `{}`: {}. {}", row.code, row.sentence, row.page).trim_end()).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ERRORS.md");
    if std::env::var_os("TENSOR_LAYOUT_PRINT").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == page(), "print the page again: see the head of this file");
    let rows = page().lines().filter(|line| line.starts_with("* `")).count();
    assert_eq!(rows, Code::ALL.len(), "each kind is on the page");
}

#[test]
fn every_code_is_one_word_of_its_own() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.row().code).collect();
    assert_eq!(codes.len(), Code::ALL.len());
    for code in Code::ALL {
        let mut words = String::new();
        for (place, character) in format!("{code:?}").char_indices() {
            if character.is_uppercase() && place > 0 {
                words.push('_');
            }
            words.extend(character.to_lowercase());
        }
        assert_eq!(code.row().code, words);
    }
}

/// Errors that the constructors of the library make, with their kinds and sentences as callers know them. The
/// values of an error differ from each other.
#[test]
fn errors_say_what_they_always_said() {
    let errors = [
        (
            Error::overflow("the number of widgets", 64),
            ErrorKind::Overflow,
            "the number of widgets does not fit into 64 bits",
        ),
        (Error::axis_out_of_range(31, 47), ErrorKind::OutOfRange, "axis 31 does not exist: the rank is 47"),
        (
            Code::IndexOutOfRange.on_axis(31, 47, 53),
            ErrorKind::OutOfRange,
            "index 47 on axis 31 is out of range: its size is 53",
        ),
        (
            Code::SizeMismatch.on_axis(31, 53, 47),
            ErrorKind::InvalidArgument,
            "axis 31 has size 53, but size 47 was expected",
        ),
        (Error::unsupported_data_type("s3", "widget 9"), ErrorKind::Unsupported, "widget 9 has no data type for s3"),
        (
            Error::unsupported_bits(31, "whole widgets"),
            ErrorKind::Unsupported,
            "elements of 31 bits cannot be handled here, only whole widgets",
        ),
        (
            Error::parse("f32[x", 5, "a number", "`x`"),
            ErrorKind::Parse,
            "column 5 of `f32[x`: expected a number, found `x`",
        ),
        (
            Error::buffer_too_short("widget", 31, 47),
            ErrorKind::Buffer,
            "the widget holds 47 bytes, but its layout needs 31",
        ),
        (
            Error::undecided("whether it is a widget", 31),
            ErrorKind::Undecided,
            "could not decide whether it is a widget within 31 search steps",
        ),
        (
            Error::not_expressible("widget", "it is too odd"),
            ErrorKind::NotExpressible,
            "no widget describes this layout: it is too odd",
        ),
        (
            Error::out_of_limits("the widget", 31, 47, 53),
            ErrorKind::OutOfRange,
            "the widget is 31, but must be between 47 and 53",
        ),
        (
            Error::negative("widgets", 31),
            ErrorKind::InvalidArgument,
            "number 31 of the widgets is negative, which cannot be expressed here",
        ),
        (
            Code::BindingLimit.for_value(31, 47),
            ErrorKind::DeviceLimit,
            "the binding takes 31 bytes, but the device binds at most 47",
        ),
    ];
    for (error, kind, sentence) in errors {
        assert_eq!((error.kind(), &*error.to_string()), (kind, sentence), "{}", error.code());
    }
}

/// A sentence may follow a colon, and be followed by a full stop.
#[test]
fn every_sentence_is_a_clause_on_one_line() {
    for code in Code::ALL {
        let sentence = code.row().sentence;
        assert!(!sentence.ends_with('.') && !sentence.contains('\n') && !sentence.contains("  "), "{sentence}");
        let first = sentence.chars().next().unwrap();
        assert!(first == '`' || first == '{' || first.is_lowercase(), "it may follow a colon: {sentence}");
        let said = code.on_axis(31, 47, 53).to_string();
        assert!(!said.contains(['{', '}']), "{said}");
        for (name, number) in [("{axis}", "31"), ("{value}", "47"), ("{limit}", "53")] {
            assert!(!sentence.contains(name) || said.contains(number), "{said}");
        }
    }
}

#[test]
fn only_a_parse_error_points_at_a_column() {
    let error = Error::parse("f32[x", 5, "a number", "`x`");
    assert_eq!((error.column(), error.pointer().as_deref()), (Some(5), Some("f32[x\n    ^")));
    let past = Error::parse("x", 70_000, "a number", "the end");
    assert_eq!((past.column(), past.pointer().as_deref()), (Some(70_000), Some("x\n ^")));
    assert_eq!(Error::parse("x", 0, "a number", "`x`").pointer().as_deref(), Some("x\n^"));

    let error = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[1])).unwrap_err();
    assert_eq!((error.column(), error.pointer()), (None, None));
    let source: &dyn std::error::Error = &error;
    assert!(source.source().is_none());
    assert_eq!(size_of_val(&error), size_of::<usize>(), "a result with this error stays small");
}

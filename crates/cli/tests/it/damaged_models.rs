//! Models that are damaged or inconsistent: a sentence and exit status 2, never a panic or a huge allocation.

use std::fs;

use crate::command_line::{folder, run};

/// A file with this header, its length as given, and this many bytes after it.
fn file(length: u64, header: &str, data: usize) -> Vec<u8> {
    [&length.to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

fn with_header(header: &str, data: usize) -> Vec<u8> {
    file(header.len().try_into().unwrap(), header, data)
}

#[track_caller]
fn refused(test: &str, bytes: &[u8], complaint: &str) {
    let path = folder(test).join("model.safetensors");
    fs::write(&path, bytes).unwrap();
    for arguments in [&[][..], &["--json"], &["--to", "tpu:v5e"]] {
        let run = run(&[&["model", path.to_str().unwrap()], arguments].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(complaint) && run.stderr.starts_with("error: "), "{}", run.stderr);
        assert!(!run.stderr.contains("panicked") && run.stdout.is_empty());
    }
}

const TWO: &str = r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"U8","shape":[5],"data_offsets":[24,29]}}"#;

#[test]
fn an_undamaged_model_passes() {
    let path = folder("undamaged").join("model.safetensors");
    fs::write(&path, with_header(TWO, 29)).unwrap();
    assert_eq!(run(&["model", path.to_str().unwrap()]).status, 0);
}

#[test]
fn an_empty_file() {
    refused("empty", b"", "too few for a header");
    refused("seven_bytes", b"1234567", "too few for a header");
}

#[test]
fn a_header_of_100_megabytes_that_is_not_there() {
    refused("long_header", &file(100_000_000, "{}", 0), "only 2 follow");
    refused("longer_header", &file(100_000_001, "{}", 0), "its header would be 100000001 bytes long");
    refused("longest_header", &file(u64::MAX, "{}", 0), "its header would be 18446744073709551615 bytes long");
}

#[test]
fn a_text_is_no_model() {
    for (name, text, begin) in [
        ("words", "Once upon a time", "it begins as a text does, with `Once upo`"),
        ("lines", "\n\n# Notes\nof today", "with `# Note`"),
        ("cut_letter", "Grüße è\u{e9}", "with `Grüße`"),
        ("json", "{\"a\": [1, 2, 3]}", "is a JSON file"),
        ("binary", "\u{1}nce upon a time", "its header would be"),
    ] {
        refused(name, text.as_bytes(), begin);
    }
}

#[test]
fn truncated_anywhere() {
    let whole = with_header(TWO, 29);
    refused("truncated", &whole[..whole.len() - 1], "is truncated");
    let path = folder("truncated_anywhere").join("model.safetensors");
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert_eq!(run(&["model", path.to_str().unwrap()]).status, 2, "{end} bytes");
    }
}

#[test]
fn bytes_after_the_last_tensor() {
    refused("too_long", &with_header(TWO, 31), "2 bytes after its last tensor");
}

#[test]
fn headers_that_are_not_json() {
    refused("no_json", &with_header("{\"a\":", 0), "invalid JSON");
    refused("deep_json", &with_header(&"[".repeat(100_000), 0), "expected an object of tensors");
    refused("no_text", &[&4_u64.to_le_bytes()[..], &[0xff, 0xfe, 0xfd, 0xfc]].concat(), "invalid UTF-8");
    refused("other_json", &with_header("[1,2,3]", 0), "header");
    refused("unknown_type", &with_header(r#"{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}"#, 4), "F31");
}

#[test]
fn offsets_that_overlap_or_leave_gaps() {
    let header = |a: &str, b: &str| {
        format!(
            r#"{{"a":{{"dtype":"U8","shape":[4],"data_offsets":{a}}},"b":{{"dtype":"U8","shape":[4],"data_offsets":{b}}}}}"#
        )
    };
    refused("overlapping", &with_header(&header("[0,4]", "[2,6]"), 6), "`b` begins at byte 2, not at 4");
    refused("same_bytes", &with_header(&header("[0,4]", "[0,4]"), 4), "`b` begins at byte 0, not at 4");
    refused("gap", &with_header(&header("[0,4]", "[5,9]"), 9), "`b` begins at byte 5, not at 4");
    refused("backwards", &with_header(&header("[0,4]", "[4,0]"), 4), "header");
    refused("negative", &with_header(&header("[-4,0]", "[0,4]"), 4), "header");
    refused("past_the_end", &with_header(&header("[0,4]", "[4,18446744073709551615]"), 8), "header");
}

#[test]
fn sizes_that_do_not_fit_the_data() {
    let header = |shape: &str| format!(r#"{{"a":{{"dtype":"F64","shape":{shape},"data_offsets":[0,16]}}}}"#);
    refused("too_many_elements", &with_header(&header("[3]"), 16), "header");
    refused("overflow", &with_header(&header("[4294967296,4294967296,4294967296]"), 16), "overflow");
    refused("overflow_in_bits", &with_header(&header("[2305843009213693952]"), 16), "overflow");
    refused("huge_size", &with_header(&header("[99999999999999999999]"), 16), "header");
    refused("fraction", &with_header(&header("[2.5]"), 16), "header");
}

#[test]
fn an_empty_tensor_of_huge_sizes_takes_no_memory() {
    // Legal for the format: no elements. Its tiles must not be counted in more than 64 bits.
    let header = r#"{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}"#;
    let path = folder("empty_huge").join("model.safetensors");
    fs::write(&path, with_header(header, 0)).unwrap();
    for rule in ["packed", "tpu:v5e", "T(8,128)"] {
        let run = run(&["model", path.to_str().unwrap(), "--to", rule, "--limits", "none"]);
        assert!(run.status < 2 && !run.stderr.contains("panicked"), "{rule}: {run:?}");
    }
}

#[test]
fn tiles_that_blow_a_tensor_up_are_not_tried() {
    let path = folder("blown_up").join("model.safetensors");
    fs::write(&path, with_header(TWO, 29)).unwrap();
    let tiles = ["T(1099511627776)", "T(1048576,1048576)", "T(4294967296,4294967296)"];
    for (rule, word) in tiles.into_iter().zip(["not tried", "not tried", "refused"]) {
        let run = run(&["model", path.to_str().unwrap(), "--to", rule, "--limits", "none"]);
        assert_eq!(run.status, 1, "{rule}: {run:?}");
        assert!(run.stdout.contains(word), "{rule}: {}", run.stdout);
    }
}

#[test]
fn floats_of_six_and_four_bits_are_types() {
    let path = folder("f6").join("model.safetensors");
    let header = r#"{"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]},"b":{"dtype":"F4","shape":[2],"data_offsets":[3,4]}}"#;
    fs::write(&path, with_header(header, 4)).unwrap();
    let run = run(&["model", path.to_str().unwrap(), "--limits", "none"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("f6e2m3fn") && run.stdout.contains("2 of 2 identical"), "{run:?}");
}

#[test]
fn names_cannot_move_the_cursor() {
    let path = folder("names").join("model.safetensors");
    let header = r#"{"a\u001b[2Jb\n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    fs::write(&path, with_header(header, 1)).unwrap();
    assert!(!run(&["model", path.to_str().unwrap()]).stdout.contains('\u{1b}'));
}

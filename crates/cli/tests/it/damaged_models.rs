//! Models that are damaged or inconsistent: a sentence and exit status 2, never a panic or a huge allocation.

use std::fs;

use crate::command_line::{folder, run, text};

/// A file with this header, its length as given, and this many bytes after it.
fn file(length: u64, header: &str, data: usize) -> Vec<u8> {
    [&length.to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

fn with_header(header: &str, data: usize) -> Vec<u8> {
    file(header.len().try_into().unwrap(), header, data)
}

const TWO: &str = r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"U8","shape":[5],"data_offsets":[24,29]}}"#;

#[test]
fn an_undamaged_model_passes() {
    let path = folder("undamaged").join("model.safetensors");
    fs::write(&path, with_header(TWO, 29)).unwrap();
    assert_eq!(run(&["model", text(&path)]).status, 0);
}

#[test]
fn every_damage_is_refused_in_words() {
    let path = folder("damaged").join("model.safetensors");
    let whole = with_header(TWO, 29);
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert_eq!(run(&["model", text(&path)]).status, 2, "{end} bytes");
    }
    let alone = |header: &str| with_header(header, 0);
    let pair = |offsets: [&str; 2], data: usize| {
        let tensor = |name: &str, at: &str| format!(r#""{name}":{{"dtype":"U8","shape":[4],"data_offsets":[{at}]}}"#);
        with_header(&format!("{{{},{}}}", tensor("a", offsets[0]), tensor("b", offsets[1])), data)
    };
    let sized =
        |shape: &str| with_header(&format!(r#"{{"a":{{"dtype":"F64","shape":[{shape}],"data_offsets":[0,16]}}}}"#), 16);
    for (bytes, complaint) in [
        (vec![], "too few for a header"),
        (b"1234567".to_vec(), "too few for a header"),
        (file(100_000_000, "{}", 0), "only 2 follow"),
        (file(100_000_001, "{}", 0), "its header would be 100000001 bytes long"),
        (file(u64::MAX, "{}", 0), "its header would be 18446744073709551615 bytes long"),
        // Texts are no models.
        ("Once upon a time".into(), "it begins as a text does, with `Once upo`"),
        ("\n\n# Notes\nof today".into(), "with `# Note`"),
        ("Grüße è\u{e9}".into(), "with `Grüße`"),
        ("{\"a\": [1, 2, 3]}".into(), "is a JSON file"),
        ("\u{1}nce upon a time".into(), "its header would be"),
        (whole[..whole.len() - 1].to_vec(), "is truncated"),
        (with_header(TWO, 31), "2 bytes after its last tensor"),
        // Headers that are not JSON, or not of tensors.
        (alone("{\"a\":"), "invalid JSON"),
        (alone(&"[".repeat(100_000)), "expected an object of tensors"),
        ([&4_u64.to_le_bytes()[..], &[0xff, 0xfe, 0xfd, 0xfc]].concat(), "invalid UTF-8"),
        (alone("[1,2,3]"), "header"),
        (with_header(r#"{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}"#, 4), "F31"),
        // Offsets that overlap or leave gaps.
        (pair(["0,4", "2,6"], 6), "`b` begins at byte 2, not at 4"),
        (pair(["0,4", "0,4"], 4), "`b` begins at byte 0, not at 4"),
        (pair(["0,4", "5,9"], 9), "`b` begins at byte 5, not at 4"),
        (pair(["0,4", "4,0"], 4), "header"),
        (pair(["-4,0", "0,4"], 4), "header"),
        (pair(["0,4", "4,18446744073709551615"], 8), "header"),
        // Sizes that do not fit the data.
        (sized("3"), "header"),
        (sized("4294967296,4294967296,4294967296"), "overflow"),
        (sized("2305843009213693952"), "overflow"),
        (sized("99999999999999999999"), "header"),
        (sized("2.5"), "header"),
    ] {
        fs::write(&path, bytes).unwrap();
        for arguments in [&[][..], &["--json"], &["--to", "tpu:v5e"]] {
            let run = run(&[&["model", text(&path)], arguments].concat());
            assert!(run.status == 2 && run.stdout.is_empty(), "{complaint}: {run:?}");
            assert!(run.stderr.starts_with("error: ") && run.stderr.contains(complaint), "{complaint}: {}", run.stderr);
            assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        }
    }
}

#[test]
fn an_empty_tensor_of_huge_sizes_takes_no_memory() {
    // Legal for the format: no elements. Its tiles must not be counted in more than 64 bits.
    let header = r#"{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}"#;
    let path = folder("empty_huge").join("model.safetensors");
    fs::write(&path, with_header(header, 0)).unwrap();
    for rule in ["packed", "tpu:v5e", "T(8,128)"] {
        let run = run(&["model", text(&path), "--to", rule, "--limits", "none"]);
        assert!(run.status < 2 && !run.stderr.contains("panicked"), "{rule}: {run:?}");
    }
}

#[test]
fn tiles_that_blow_a_tensor_up_are_not_tried() {
    let path = folder("blown_up").join("model.safetensors");
    fs::write(&path, with_header(TWO, 29)).unwrap();
    let tiles = ["T(1099511627776)", "T(1048576,1048576)", "T(4294967296,4294967296)"];
    for (rule, word) in tiles.into_iter().zip(["not tried", "not tried", "refused"]) {
        let run = run(&["model", text(&path), "--to", rule, "--limits", "none"]);
        assert_eq!(run.status, 1, "{rule}: {run:?}");
        assert!(run.stdout.contains(word), "{rule}: {}", run.stdout);
    }
}

#[test]
fn floats_of_six_and_four_bits_are_types() {
    let path = folder("f6").join("model.safetensors");
    let header = r#"{"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]},"b":{"dtype":"F4","shape":[2],"data_offsets":[3,4]}}"#;
    fs::write(&path, with_header(header, 4)).unwrap();
    let run = run(&["model", text(&path), "--limits", "none"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("f6e2m3fn") && run.stdout.contains("2 of 2 identical"), "{run:?}");
}

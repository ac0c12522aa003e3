//! `convert --transfers`.

use serde_json::{Value, json};

use crate::command_line::run;

fn convert(from: &str, to: &str, more: &[&str]) -> Vec<String> {
    let words = ["convert", "--from", from, "--to", to, "--transfers"];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn object(from: &str, to: &str, more: &[&str]) -> Value {
    let words = convert(from, to, more);
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
    run(&words).object()
}

#[test]
fn a_list_has_offsets_lengths_and_loops_in_bytes() {
    let (from, to) = ("f16[3,6]:[8,1]", "f16[3,6]:[6,1]");
    let list = object(from, to, &[]);
    let keys: Vec<&str> = list.as_object().unwrap().keys().map(String::as_str).take(6).collect();
    assert_eq!(keys, ["type", "bytes", "count", "shortest_bytes", "longest_bytes", "transfers"]);
    assert_eq!((&list["type"], &list["bytes"], &list["count"]), (&json!("transfers"), &json!(36), &json!(1)));
    let only = json!([{
        "source": 0, "destination": 0, "bytes": 12,
        "loops": [{ "count": 3, "source_stride": 16, "destination_stride": 12 }],
    }]);
    assert_eq!(list["transfers"], only);
    let ranges = object(from, to, &["--loops", "0"]);
    assert_eq!((&ranges["count"], &ranges["longest_bytes"]), (&json!(3), &json!(12)));
    assert_eq!(ranges["transfers"][2], json!({ "source": 32, "destination": 24, "bytes": 12, "loops": [] }));
    assert_eq!(ranges["fewer"][0]["change"], "padding");
    // NumPy's text may walk an axis backwards.
    let turned = "ndarray(shape=(4,), dtype=uint8, strides=(-1,), offset=3)";
    let backwards = object(turned, "u8[4]:[1]", &[]);
    let loops = json!([{ "count": 4, "source_stride": -1, "destination_stride": 1 }]);
    assert_eq!((&backwards["transfers"][0]["source"], &backwards["transfers"][0]["loops"]), (&json!(3), &loops));
    let empty = object("u8[0,3]:[3,1]", "u8[0,3]:[3,1]", &[]);
    assert_eq!((&empty["count"], &empty["transfers"]), (&json!(0), &json!([])));
}

#[test]
fn people_see_how_many_how_long_and_what_would_help() {
    let words = convert("f16[500,8,16]:[128,16,1]", "f16[500,8,16]:[128,1,8]", &["--loops", "1"]);
    let text = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    for line in [
        "128 transfers of up to 1 loop: 128000 bytes (125.0 KiB) in runs of 2 bytes",
        "by loops   63501 with 0, 128 with 1, 8 with 2, 1 with any",
        "fewer      1 if --from had another order: f16[500,8,16]:[128,1,8]",
        "and 120 more, which --json lists",
    ] {
        assert!(text.stdout.lines().any(|printed| printed == line), "{line} in\n{}", text.stdout);
    }
}

#[test]
fn lists_that_are_too_long_to_count_are_bounded() {
    let size = 1_000_003;
    let [from, to] = ["1,0", "0,1"].map(|order| format!("f32[{size},{size}]{{{order}:T(8,128)}}"));
    let words = convert(&from, &to, &["--loops", "0"]);
    let text = run(&words.iter().map(String::as_str).collect::<Vec<_>>()).stdout;
    assert!(text.contains("\nup to 1000006000009 plain ranges, too many to count here\n"), "{text}");
    assert!(
        text.contains("\nby loops   up to 1000006000009 with 0, ")
            && text.ends_with("\nand more, which --json lists\n")
    );
    let words = convert(&from, &to, &[]);
    let text = run(&words.iter().map(String::as_str).collect::<Vec<_>>()).stdout;
    assert!(text.lines().count() > 20 && text.lines().skip(5).all(|line| line.len() <= 80), "{text}");
    let words = convert("f32[0,3]", "f32[0,3]{0,1}", &[]);
    let text = run(&words.iter().map(String::as_str).collect::<Vec<_>>()).stdout;
    assert!(text.ends_with("\n0 transfers: there is nothing to copy\n"), "{text}");
}

#[test]
fn what_an_executor_does_not_take_is_refused() {
    for (from, to, more, status, sentence) in [
        (
            "u8[2,6]:[6,1]",
            "u8[2,6]:[8,1]",
            &["--limits", "webgpu"][..],
            1,
            "runs that begin with axis 1 are 6 elements",
        ),
        ("s4[3,5]:[5,1]", "s4[3,5]:[8,1]", &[], 1, "begin or end inside a byte"),
        ("u8[4]:[1]", "u8[4]:[1]", &["--limits", "opengl"], 2, "names no executor of transfers: expected any, rdma"),
        ("u8[4]:[1]", "u8[4]:[1]", &["--limits", "rdma:max_run"], 2, "`max_run` needs a value after it"),
        ("u8[4]:[1]", "u8[4]:[1]", &["in", "out"], 2, "cannot be used with"),
    ] {
        let words = convert(from, to, more);
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(run.status == status && run.stderr.contains(sentence), "{run:?}");
    }
}

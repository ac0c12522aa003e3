//! The commands that only look at layouts: `describe`, `offset`, `same`, `view`, `check`, `draw`.
#![cfg(feature = "cli")]

mod command_line;

use command_line::{folder, run, run_with_input};
use serde_json::{Value, json};

#[test]
fn describe_prints_the_promised_keys() {
    let object = run(&["describe", "--json", "f32[3,5]{1,0:T(2,2)}"]).object();
    let expected = json!({
        "input": "f32[3,5]{1,0:T(2,2)}", "notation": "xla", "canonical": "f32[3,5]{1,0:T(2,2)}",
        "data_type": "f32", "sizes": [3, 5], "logical_elements": 15, "physical_elements": 24,
        "min_size_in_bytes": 84, "physical_size_in_bytes": 96, "class": "split", "lowering": "split",
        "strides": null, "split": {"sizes": [2, 2, 3, 2], "strides": [12, 2, 4, 1], "dims": [0, 0, 1, 1]},
        "reason": "dimension 0 is cut into digits of 2 x 2 and dimension 1 into digits of 3 x 2",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&object[key], value, "{key}");
    }
}

#[test]
fn describe_knows_every_class() {
    let cases = [
        ("f32[3,100]{1,0:T(8,128)}", "affine", "strided", json!([128, 1]), 4096),
        ("f32[7,5]{1,0:T(*,4)}", "affine", "strided", json!([5, 1]), 144),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", "split", "split", Value::Null, 128),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "fused", "index_map", Value::Null, 112 * 111 * 4),
        ("f32[2,7,8,11,12]{4,3,2,1,0:T(*,*,2,*,3)}", "split", "split", Value::Null, 2 * 7 * 8 * 11 * 12 * 4),
        ("f32[12,4]{1,0:T(6,2)(4,1)}", "ragged_split", "index_map", Value::Null, 256),
        ("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "irreducible", "index_map", Value::Null, 432),
        ("f32[2,3]:[5,1]", "affine", "strided", json!([5, 1]), 32),
        ("f16[1,3,4,5]:NHWC", "affine", "strided", json!([60, 1, 15, 3]), 120),
        ("s4[3]", "affine", "index_map", json!([1]), 3),
        ("f32[]", "affine", "strided", json!([]), 4),
        ("f32[0,3]", "affine", "strided", json!([3, 1]), 0),
    ];
    for (layout, class, lowering, strides, bytes) in cases {
        let object = run(&["--json", "describe", layout]).object();
        let found = (&object["class"], &object["lowering"], &object["strides"], &object["physical_size_in_bytes"]);
        assert_eq!(found, (&json!(class), &json!(lowering), &strides, &json!(bytes)), "{layout}");
        assert_eq!(object["reason"].is_null(), lowering == "strided", "{layout}");
        assert_eq!(object["split"].is_null(), lowering != "split", "{layout}");
    }
}

#[test]
fn a_refused_line_does_not_stop_a_batch() {
    let run = run_with_input(&["describe", "--json", "-"], "f32[2]\nf32[2,3\r\n\nf32[4294967296,4294967296]\nu8[7]");
    assert_eq!(run.status, 1);
    let objects = run.objects();
    assert_eq!(objects.len(), 5);
    assert_eq!(objects[0]["canonical"], "f32[2]{0}");
    assert_eq!((&objects[1]["input"], &objects[1]["error"]["column"]), (&json!("f32[2,3"), &json!(8)));
    assert_eq!(objects[1]["error"]["code"], "parse");
    assert_eq!(objects[2]["input"], "");
    assert!(objects[3]["error"]["message"].is_string());
    assert_eq!(objects[4]["physical_size_in_bytes"], 7);
}

#[test]
fn an_error_for_people_points_at_the_column() {
    let run = run(&["describe", "f32[2,3"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.ends_with("\n    f32[2,3\n           ^\n"), "{}", run.stderr);
}

#[test]
fn offset_and_back() {
    let figure = "f32[3,5]{1,0:T(2,2)}";
    assert_eq!(run(&["offset", figure, "[2,3]"]).stdout, "17\n");
    assert_eq!(run(&["offset", figure, "2,3"]).stdout, "17\n");
    assert_eq!(run(&["offset", "--inverse", figure, "17"]).stdout, "[2,3]\n");
    assert_eq!(run(&["offset", "--inverse", figure, "14"]).stdout, "padding\n");
    assert_eq!(run(&["offset", "f32[]", "[]"]).stdout, "0\n");
    let object = run(&["offset", "--json", figure, "2,3"]).object();
    assert_eq!(object, json!({"input": figure, "index": [2, 3], "offset": 17, "padding": false}));
    let object = run(&["offset", "--json", "--inverse", figure, "14"]).object();
    assert_eq!(object, json!({"input": figure, "index": null, "offset": 14, "padding": true}));
    for bad in ["3,0", "2", "[2,3", "2,3]", "2,,3", "", "x", "2,99999999999999999999", "[2,é]"] {
        let run = run(&["offset", "--json", figure, bad]);
        assert_eq!(run.status, 1, "{bad}: {run:?}");
        assert!(run.object()["error"]["code"].is_string());
    }
    assert_eq!(run(&["offset", "--inverse", figure, "24"]).status, 1);
}

#[test]
fn offset_reads_lines() {
    let input = "f32[3,5]{1,0:T(2,2)}\t[2,3]\nno tab\nf32[2,3]:[5,1]\t1,2\n";
    let run = run_with_input(&["offset", "-", "--json"], input);
    let objects = run.objects();
    assert_eq!((run.status, objects.len()), (1, 3));
    assert_eq!((&objects[0]["offset"], &objects[2]["offset"]), (&json!(17), &json!(7)));
    assert_eq!(objects[1]["error"]["code"], "parse");
    let back = run_with_input(&["offset", "-", "--inverse"], "f32[2,3]:[5,1]\t7\n");
    assert_eq!((back.status, back.stdout.as_str()), (0, "[1,2]\n"));
}

#[test]
fn offset_explains_digits_and_levels() {
    let digits = run(&["offset", "--explain", "f32[3,5]{1,0:T(2,2)}", "2,3"]).stdout;
    assert!(digits.contains("dimension 1 at 3 = 1*2 + 1*1: 1*4 + 1*1 = 5"), "{digits}");
    let levels = run(&["offset", "--explain", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "5,8,1"]).stdout;
    assert!(levels.contains("after tile (*,2,1): index [2,2,0,2,1,1,0] of [3,3,1,3,2,2,1]"), "{levels}");
    assert!(levels.ends_with("\n107\n"));
}

#[test]
fn same_finds_the_first_difference() {
    let cases = [
        ("f32[3,100]{1,0:T(8,128)}", "f32[3,100]:[128,1]", Value::Null, true),
        ("f32[2,3]:NCHW", "f32[2,3]", Value::Null, false),
        ("f32[3,5]{1,0:T(2,2)}", "f32[3,5]", json!([0, 2]), false),
        ("f32[2,3]", "f32[2,4]", Value::Null, false),
        ("f32[2,1099511627776]", "f32[2,1099511627776]:[1099511627777,1]", json!([1, 0]), false),
        ("f32[2000,2000000]{1,0:T(8)}", "f32[2000,2000000]{1,0:T(4)(2,1)(2,1)}", json!([0, 1]), false),
        ("f32[1000000000]{0:T(1000)}", "f32[1000000000]{0:T(1000)(8)}", Value::Null, true),
        ("f32[48]{0:T(12)(2,1)}", "f32[48]{0:T(12)(3,1)}", json!([1]), false),
        ("s4[3]", "s4[3]:[1]", Value::Null, false),
    ];
    for (first, second, index, same) in cases {
        let run = run(&["same", "--json", first, second]);
        if first.ends_with(":NCHW") {
            assert_eq!(run.object()["error"]["code"], "parse");
            continue;
        }
        assert_eq!((&run.object()["same"], &run.object()["index"]), (&json!(same), &index), "{first} {second}");
        assert_eq!(run.status, i32::from(!same));
    }
}

#[test]
fn views_of_both_models() {
    let cases = [
        ("f32[4,6]:[8,1]", ["--reshape", "2,2,3,2"], json!("f32[2,2,3,2]:[16,8,2,1]")),
        ("f32[4,6]:[8,1]", ["--reshape", "24"], Value::Null),
        ("f32[4,6]:[8,1]", ["--permute", "1,0"], json!("f32[6,4]:[1,8]")),
        ("f32[4,6]:[8,1]", ["--slice", "0:2,1::2"], json!("f32[2,3]:[8,2]+1")),
        ("f32[4,1]:[8,1]", ["--broadcast", "2,4,6"], json!("f32[2,4,6]:[0,8,0]")),
        ("f32[16,256]{1,0:T(8,128)}", ["--slice", "8:16,128:256"], json!("f32[8,128]:[128,1]+3072")),
        ("f32[3,5]{1,0:T(2,2)}", ["--permute", "1,0"], json!("f32[5,3]{0,1:T(2,2)}")),
        ("f32[4,6]{1,0:T(2,2)}", ["--reshape", "2,2,6"], json!("f32[2,2,6]{1,2,0:T(2,1)}")),
        ("f32[3,5]{1,0:T(2,2)}", ["--slice", "1:3,:"], Value::Null),
    ];
    for (layout, [option, value], expected) in cases {
        let run = run(&["view", "--json", layout, option, value]);
        let object = run.object();
        assert_eq!(object["layout"], expected, "{layout} {option} {value}: {object}");
        assert_eq!(object["ok"], json!(!expected.is_null()));
        assert_eq!(object["reason"].is_null(), object["ok"] == json!(true));
        assert_eq!(run.status, i32::from(expected.is_null()));
    }
    for bad in [["--slice", "a,b"], ["--slice", "0:1"], ["--reshape", "["], ["--permute", "0,0"]] {
        assert_eq!(run(&["view", "f32[4,6]", bad[0], bad[1]]).status, 1, "{bad:?}");
    }
    assert_eq!(run(&["view", "f32[4,6]"]).status, 2);
}

#[test]
fn check_names_every_problem() {
    let good = run(&["check", "--json", "f32[1,1,3,5]", "--limits", "directml", "--buffer", "60"]);
    assert_eq!((good.status, &good.object()["ok"], &good.object()["errors"]), (0, &json!(true), &json!([])));
    let arguments = ["--limits", "directml:2.0", "--buffer", "16", "--offset", "12", "--role", "output", "--json"];
    let bad = run(&[&["check", "bf16[2,3]:[0,1]"][..], &arguments].concat());
    let object = bad.object();
    let codes: Vec<&str> = object["errors"].as_array().unwrap().iter().map(|e| e["code"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        [
            "unsupported_data_type",
            "rank_limit",
            "offset_unaligned",
            "binding_outside_buffer",
            "overlapping_destination"
        ]
    );
    assert_eq!((bad.status, &object["min_size_in_bytes"]), (1, &json!(8)));
    // A tiled tensor needs its padding, too.
    let tiled = ["check", "f32[3,5]{1,0:T(2,2)}", "--limits", "none", "--buffer"];
    assert_eq!(run(&[&tiled[..], &["96"]].concat()).status, 0);
    assert_eq!(run(&[&tiled[..], &["95"]].concat()).status, 1);
    assert_eq!(run(&["check", "f32[2]", "--limits", "gpu", "--buffer", "8"]).status, 2);
}

#[test]
fn draw_writes_text_and_svg() {
    let text = run(&["draw", "f32[2,3]:[5,1]"]);
    assert!(text.stdout.contains("5 │ 1,0 1,1 1,2"), "{}", text.stdout);
    let svg = folder("draw").join("figure.svg");
    assert_eq!(run(&["draw", "f32[3,5]{1,0:T(2,2)}", "--svg", svg.to_str().unwrap()]).status, 0);
    assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
    let large = run(&["draw", "f32[50,50]"]);
    assert_eq!(large.status, 1);
    assert!(large.stderr.contains("1024"), "{}", large.stderr);
}

#[test]
fn bad_usage_is_2() {
    for arguments in
        [&[][..], &["describe"], &["offset", "f32[2]"], &["same", "f32[2]"], &["nonsense"], &["describe", "-x"]]
    {
        assert_eq!(run(arguments).status, 2, "{arguments:?}");
    }
    assert_eq!(run(&["--help"]).status, 0);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_panic() {
    use std::process::{Command, Stdio};

    let mut command = Command::new(env!("CARGO_BIN_EXE_tensor-layout"));
    command.args(["describe", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..100_000 {
        if std::io::Write::write_all(&mut stdin, b"f32[3,5]{1,0:T(2,2)}\n").is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

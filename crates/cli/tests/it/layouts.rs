//! The commands that only look at layouts: `describe`, `offset`, `same`, `view`, `check`, `draw`.

use crate::command_line::{folder, program, run, run_with_input, run_with_variable};
use serde_json::{Value, json};

#[test]
fn a_kernel_level_that_is_none_is_reported_and_ignored() {
    let explain = |level: &str| {
        let arguments = ["convert", "--explain", "--from", "f32[64,64]", "--to", "f32[64,64]{0,1}"];
        run_with_variable("TENSOR_LAYOUT_LEVEL", level, &arguments)
    };
    let sentence = "TENSOR_LAYOUT_LEVEL is ignored: column 1 of `Portable`: expected a kernel level: portable, neon, avx2, \
        avx512, found `Portable`\n";
    let run = explain("Portable");
    assert_eq!((run.status, run.stderr), (0, format!("warning: {sentence}")));
    // In the plan the sentence is wrapped.
    assert!(
        run.stdout.replace("\n    ", " ").contains(sentence) && !run.stdout.contains("kernels: portable"),
        "{}",
        run.stdout
    );
    for level in ["portable", "neon", ""] {
        let run = explain(level);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{level}");
        assert!(!run.stdout.contains("ignored"), "{}", run.stdout);
    }
    assert!(explain("portable").stdout.contains("kernels: portable"));
}

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
    assert_eq!(object, json!({"input": figure, "index": [2, 3], "offset": 17, "padding": false, "type": "offset"}));
    let object = run(&["offset", "--json", "--inverse", figure, "14"]).object();
    assert_eq!(object, json!({"input": figure, "index": null, "offset": 14, "padding": true, "type": "offset"}));
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
        ("f32[16,256]{1,0:T(8,128)}", ["--slice", "[8:16,0:128]"], json!("f32[8,128]:[128,1]+2048")),
        ("f32[3,5]{1,0:T(2,2)}", ["--permute", "1,0"], json!("f32[5,3]{0,1:T(2,2)}")),
        ("f32[4,6]{1,0:T(2,2)}", ["--reshape", "2,2,6"], json!("f32[2,2,6]{2,1,0:T(2,2)}")),
        ("f32[16,256]{1,0:T(8,128)S(1)}", ["--reshape", "16,2,128"], json!("f32[16,2,128]{2,1,0:T(8,1,128)S(1)}")),
        ("f32[]{:T(128)}", ["--reshape", "1"], json!("f32[1]{0:T(128)}")),
        ("f32[16,<=256]{1,0:T(8,128)S(1)}", ["--permute", "1,0"], json!("f32[<=256,16]{0,1:T(8,128)S(1)}")),
        ("f32[3,5]{1,0:T(2,2)}", ["--slice", "1:3,:"], Value::Null),
        ("f32((8,2),128):((1,1000000),8)", ["--permute", "1,0"], json!("f32(128,(8,2)):(8,(1,1000000))")),
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
    // Both models say that new axes may be added.
    for layout in ["f32[1,4]", "f32[1,4]:[4,1]"] {
        let refused = run(&["view", layout, "--broadcast", "4"]);
        let sentence =
            "the number of sizes to broadcast to (new axes not counted) must be 2, one for each axis, but is 1";
        assert!(refused.status == 1 && refused.stderr.contains(sentence), "{refused:?}");
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
fn check_suggests_what_the_device_accepts() {
    let check = |layout: &str, more: &[&str]| {
        let arguments = ["check", layout, "--limits", "cuda-tensor-map:128", "--buffer", "1048576"];
        run(&[&arguments[..], more].concat())
    };
    let padded = check("f16[100,15]", &[]);
    assert_eq!(padded.status, 1);
    assert!(
        padded.stdout.contains("  suggestion       f16[100,15]:[16,1] (3198 bytes instead of 3000)\n"),
        "{padded:?}"
    );
    assert!(padded.stderr.contains("axis 0 has a stride of 15 elements of 16 bits"), "{padded:?}");
    let object = check("f16[100,15]", &["--json"]).object();
    let suggestion =
        json!({ "layout": "f16[100,15]:[16,1]", "bytes": 3198, "bytes_before": 3000, "moves_bytes": true });
    assert_eq!(object["suggestion"], suggestion);
    let good = check("f16[64,1024]", &["--json"]).object();
    assert_eq!((&good["ok"], &good["suggestion"]), (&json!(true), &Value::Null));
    // No strides give the device a type that it lacks. XLA stores a byte for each s4, the device has two in
    // one.
    assert_eq!(check("c128[64,1024]", &["--json"]).object()["suggestion"], Value::Null);
    assert_eq!(check("s4[64,1024]", &["--json"]).object()["suggestion"]["layout"], "s4[64,1024]:[1024,1]");
}

#[test]
fn draw_writes_text_and_svg() {
    let text = run(&["draw", "f32[2,3]:[5,1]"]);
    assert!(text.stdout.contains("5  20 │ 1,0 1,1 1,2"), "{}", text.stdout);
    let svg = folder("draw").join("figure.svg");
    assert_eq!(run(&["draw", "f32[3,5]{1,0:T(2,2)}", "--svg", svg.to_str().unwrap()]).status, 0);
    assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
    let large = run(&["draw", "f32[50,50]"]);
    assert_eq!(large.status, 0);
    assert!(large.stdout.contains("shown: [0:16,0:16]"), "{}", large.stdout);
    let end = run(&["draw", "f32[50,50]", "--at", "49,49"]);
    assert!(end.stdout.contains("shown: [48:50,48:50]"), "{}", end.stdout);
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

#[test]
fn an_argument_too_many_is_explained() {
    let run = run(&["check", "f32[2]", "f32[3]", "--limits", "directml"]);
    let expected = "error: unexpected argument 'f32[3]' found\n\nUsage: tensor-layout check ";
    assert_eq!((run.status, run.stderr.starts_with(expected)), (2, true), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_panic() {
    use std::process::Stdio;

    let mut command = program();
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

/// One layout in every notation, or one of them.
#[test]
fn describe_shows_every_notation() {
    let text = run(&["describe", "f32[2,3]:[5,1]"]).stdout;
    for line in [
        "  also       XLA                f32[2,3]{1,0:T(5)}\n",
        "  not as     axis order: axis 0 takes steps of 5 elements, and packed after axis 1 it would take 3\n",
        "             CuTe               f32(2,3):(5,1)\n",
        "             NumPy              ndarray(shape=(2,3), dtype=float32, strides=(20,4))\n",
        r#"{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1],"TotalTensorSizeInBytes":32}"#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let object = run(&["describe", "--json", "f32[2,3]:[5,1]"]).object();
    assert_eq!(object["notations"].as_object().unwrap().len(), 7);
    assert_eq!(object["notations"]["cute"], json!({"text": "f32(2,3):(5,1)", "reason": null}));
    assert_eq!(object["notations"]["axis_order"]["text"], Value::Null);
    // Each as its own line, which reads back to the same layout, or a refusal.
    for (name, text) in [
        ("xla", "f32[8,3,4,5]{1,3,2,0}"),
        ("strides", "f32[8,3,4,5]:[60,1,15,3]"),
        ("order", "f32[8,3,4,5]:NHWC"),
        ("onednn", "f32[8,3,4,5]:acdb"),
        ("cute", "f32(8,3,4,5):(60,1,15,3)"),
        ("numpy", "ndarray(shape=(8,3,4,5), dtype=float32, strides=(240,4,60,12))"),
        ("directml", r#"{"DataType":"FLOAT32","Sizes":[8,3,4,5],"Strides":[60,1,15,3],"TotalTensorSizeInBytes":1920}"#),
    ] {
        assert_eq!(run(&["describe", "--as", name, "f32[8,3,4,5]:NHWC"]).stdout, format!("{text}\n"));
        assert_eq!(run(&["same", text, "f32[8,3,4,5]:NHWC"]).status, 0, "{text}");
        let view = run(&["view", "f32[8,4,5,3]", "--permute", "0,3,1,2", "--as", name]);
        assert_eq!(view.stdout, format!("{text}\n"));
        let plan = run(&["convert", "--explain", "--as", name, "--from", "f32[8,3,4,5]:NHWC", "--to", "f32[8,3,4,5]"]);
        assert!(plan.stdout.starts_with(&format!("from {text}\nto   ")), "{plan:?}");
    }
    let refused = run(&["describe", "--as", "strides", "f32[3,5]{1,0:T(2,2)}"]);
    assert!(refused.status == 1 && refused.stderr.contains("dimension 0 is cut into digits of 2 x 2"), "{refused:?}");
    let refused = run(&["describe", "--as", "directml", "f32[3,4294967296]"]);
    let sentence = "axis 1 has size 4294967296, and DirectML's numbers have 32 bits";
    assert!(refused.status == 1 && refused.stderr.contains(sentence), "{refused:?}");
    assert_eq!(run(&["describe", "--as", "latin", "f32[3]"]).status, 2);
    assert_eq!(run(&["convert", "--as", "cute", "--from", "f32[3]", "--to", "f32[3]", "a", "b"]).status, 2);
}

/// Item 7: the layout a TPU picks for bare sizes.
#[test]
fn describe_gives_bare_sizes_the_layout_of_a_tpu() {
    let object = run(&["describe", "--json", "--tpu", "v5e", "f32[13,1]"]).object();
    assert_eq!(object["canonical"], "f32[13,1]{0,1:T(1,128)}");
    assert_eq!((&object["input"], &object["physical_size_in_bytes"]), (&json!("f32[13,1]"), &json!(512)));
    let run_lines = run_with_input(
        &["describe", "--tpu", "v5e", "--as", "xla", "-"],
        "f32[13,1]\nf32[13,1]{1,0}\n(s4[64,101,1,1])\nf32[3]:[2]",
    );
    assert_eq!(
        run_lines.stdout.lines().collect::<Vec<_>>()[..3],
        ["f32[13,1]{0,1:T(1,128)}", "f32[13,1]{1,0}", "(s4[64,101,1,1]{1,0,3,2:T(64,128)(8,1)E(4)})",]
    );
    assert_eq!(run(&["describe", "--tpu", "v9", "f32[13,1]"]).status, 2);
    assert_eq!(run(&["describe", "--tpu", "v5e", "f6e2m3fn[2,2]"]).status, 1);
}

/// Item 8: tuples, arrays that are divided among memories, and shapes without elements.
#[test]
fn describe_takes_every_shape() {
    let text = "(f32[3,5]{1,0:T(8,128)}, token[], (s8[4], pred[12,456]{1,0:SC(1:50)}))";
    let object = run(&["describe", "--json", text]).object();
    assert_eq!(object["canonical"], "(f32[3,5]{1,0:T(8,128)}, token[], (s8[4]{0}, pred[12,456]{1,0:SC(1:50)}))");
    // 8 x 128 floats, 4 bytes, and 12 rows of the larger part, 406 columns.
    assert_eq!(object["physical_size_in_bytes"], 4096 + 4 + 12 * 406);
    assert_eq!((&object["logical_elements"], &object["tuple_table_bytes"]), (&json!(15 + 4 + 12 * 456), &json!(8 * 5)));
    assert_eq!(
        object["tuples"],
        json!([{"index": [], "elements": 3, "bytes": 24}, {"index": [2], "elements": 2, "bytes": 16}])
    );
    let elements = object["elements"].as_array().unwrap();
    let indices: Vec<_> = elements.iter().map(|element| &element["index"]).collect();
    assert_eq!(indices, [&json!([0]), &json!([1]), &json!([2, 0]), &json!([2, 1])]);
    assert_eq!((&elements[0]["class"], &elements[0]["strides"]), (&json!("affine"), &json!([128, 1])));
    let table = run(&["describe", text]).stdout;
    assert!(table.contains("  {2,0}         4      4 B"), "{table}");
    assert!(table.contains("40 bytes for pointers of 8 bytes: 3 for {}, 2 for {2}"), "{table}");

    let object = run(&["describe", "--json", "pred[123,456]{1,0:SC(1:50,200)}"]).object();
    assert_eq!(
        (&object["sizes"], &object["class"], &object["min_size_in_bytes"]),
        (&json!([123, 456]), &Value::Null, &Value::Null)
    );
    assert_eq!(object["physical_size_in_bytes"], 123 * 256);
    assert!(object["reason"].as_str().unwrap().contains("several memories"));
    assert!(
        run(&["describe", "pred[123,456]{1,0:SC(1:50,200)}"]).stdout.contains("no map     SC(1:50,200) divides it")
    );

    for shape in ["token[]", "opaque[]", "()", "f32[?,3]{1,0}", "b(f32[2]{0})"] {
        let run = run(&["describe", "--json", shape]);
        assert_eq!((run.status, &run.object()["canonical"]), (0, &json!(shape)), "{run:?}");
    }
    let huge = run(&["describe", "(u8[9223372036854775807], u8[9223372036854775807], u8[2])"]);
    assert!(huge.status == 1 && huge.stderr.contains("does not fit into 64 bits"), "{huge:?}");
    assert!(run(&["describe", "(f32[3"]).stderr.ends_with("\n    (f32[3\n          ^\n"));
    assert_eq!(run(&["describe", "--as", "cute", "(f32[3])"]).status, 1);
}

/// Item 8: lines of standard input wherever a layout is requested.
#[test]
fn layouts_from_standard_input() {
    let same = run_with_input(
        &["same", "--json", "-"],
        "f32[2,3]\tf32[2,3]:[3,1]\nf32[2,3]\tf32[2,3]{0,1}\nf32[2\nf32[3]\tf32[x]",
    );
    assert_eq!(same.status, 1);
    let objects = same.objects();
    assert_eq!((&objects[0]["same"], &objects[1]["index"]), (&json!(true), &json!([0, 1])));
    assert_eq!((&objects[2]["error"]["column"], &objects[3]["input"]), (&json!(6), &json!("f32[x]")));
    assert_eq!(run(&["same", "f32[2]"]).status, 2);
    assert_eq!(run(&["same", "-", "f32[2]"]).status, 2);

    let check =
        run_with_input(&["check", "--json", "-", "--limits", "webgpu", "--buffer", "256"], "f32[2,3]\nf32[100]\nf32[");
    assert_eq!(check.status, 1);
    let objects = check.objects();
    assert_eq!(
        (&objects[0]["ok"], &objects[1]["ok"], &objects[2]["error"]["code"]),
        (&json!(true), &json!(false), &json!("parse"))
    );

    let view = run_with_input(&["view", "-", "--permute", "1,0"], "f32[4,6]:[6,1]\nf32[4,6]{1,0:T(2,2)}");
    assert_eq!(view.stdout, "f32[6,4]:[1,6]\nf32[6,4]{0,1:T(2,2)}\n");

    let plans = run_with_input(
        &["convert", "--explain", "--json", "--from", "-", "--to", "-"],
        "f32[2,3]\tf32[2,3]{0,1}\nf32[4]\tf32[4]",
    );
    assert_eq!(plans.objects()[1]["to"], "f32[4]{0}");
    let plans =
        run_with_input(&["convert", "--explain", "--json", "--from", "-", "--to", "f32[2,3]"], "f32[2,3]\nf32[3]");
    assert_eq!((plans.status, plans.objects().len()), (1, 2));
    assert_eq!(run(&["convert", "--from", "-", "--to", "f32[3]", "a", "b"]).status, 2);
}

/// Item 8: several steps, in the order of the command line.
#[test]
fn a_view_takes_steps_in_order() {
    let view = |steps: &[&str]| run(&[&["view", "f32[4,6]:[6,1]"], steps].concat());
    assert_eq!(view(&["--permute", "1,0", "--slice", "0:2,1:3"]).stdout, "f32[2,2]:[1,6]+6\n");
    assert_eq!(view(&["--slice", "0:2,1:3", "--permute", "1,0"]).stdout, "f32[2,2]:[1,6]+1\n");
    assert_eq!(
        view(&["--reshape", "4,2,3", "--permute", "2,0,1", "--permute", "1,2,0"]).stdout,
        "f32[4,2,3]:[6,3,1]\n"
    );
    let refused = view(&["--permute", "1,0", "--reshape", "24", "--slice", "0:2"]);
    assert!(refused.status == 1 && refused.stderr.contains("--reshape 24"), "{refused:?}");
    let object = run(&["view", "--json", "f32[4,6]:[6,1]", "--permute", "1,0", "--reshape", "24"]).object();
    assert_eq!((&object["ok"], &object["step"]), (&json!(false), &json!(1)));
    let tiled = run(&["view", "f32[16,256]{1,0:T(8,128)}", "--permute", "1,0", "--slice", "0:128,8:16"]);
    assert_eq!(tiled.stdout, "f32[128,8]:[1,128]+2048\n");
}

#[test]
fn what_is_not_a_number_or_not_a_part_is_named() {
    let refused = run(&["check", "f32[8]", "--limits", "none", "--buffer", "x"]);
    assert!(refused.status == 2 && refused.stderr.contains("expected a number of bytes below 2^64"), "{refused:?}");
    let refused = run(&["view", "f32[8,256]", "--slice", "[0:8,0:300]"]);
    assert_eq!(refused.status, 1);
    let sentence = "expected a slice of axis 1, whose size is 256, found `0:300`";
    assert!(refused.stderr.contains(sentence), "{refused:?}");
    let object = run(&["view", "f32[8,256]", "--slice", "[0:8,0:300]", "--json"]).object();
    assert_eq!((&object["ok"], &object["step"]), (&json!(false), &json!(0)));
    assert!(run(&["describe", "u1[3]:[1]"]).stdout.contains("u1 with 1 bit an element"));
}
/// Without a buffer, `check` says how large one must be, and every other problem.
#[test]
fn check_without_a_buffer_says_how_large_it_must_be() {
    let well = run(&["check", "f16[4,128]:[128,1]+384", "--limits", "directml"]);
    assert!(well.status == 0 && well.stdout.contains("  buffer           at least 1792 bytes (1.8 KiB)\n"), "{well:?}");
    let bound_at = |offset: &str| run(&["check", "f16[2,3]:[5,1]", "--limits", "webgpu", "--offset", offset]);
    assert!(bound_at("256").stdout.contains("  buffer           at least 272 bytes\n"), "{:?}", bound_at("256"));
    // The size that is printed is accepted, and 1 byte less is not.
    for (bytes, status) in [("272", 0), ("271", 1)] {
        let run = run(&["check", "f16[2,3]:[5,1]", "--limits", "webgpu", "--offset", "256", "--buffer", bytes]);
        assert!(run.status == status && !run.stdout.contains("at least"), "{run:?}");
    }
    let wrong = bound_at("4");
    assert!(wrong.status == 1 && wrong.stderr.contains("not a multiple of 256"), "{wrong:?}");
    assert!(!wrong.stderr.contains("passes the end of the buffer"), "{wrong:?}");
    let json = run(&["check", "f16[2,3]:[5,1]", "--limits", "webgpu", "--offset", "256", "--json"]);
    assert!(json.stdout.contains("\"needed_buffer_bytes\":272"), "{json:?}");
    let past = run(&["check", "u8[18446744073709551612]:[1]", "--limits", "none", "--offset", "4294967296"]);
    assert!(past.status == 1 && !past.stdout.contains("at least"), "{past:?}");
}

/// A notation that cannot express the end of the buffer says how much padding it loses.
#[test]
fn describe_says_what_a_notation_loses() {
    let column = run(&["describe", "f32[13,1]{0,1:T(1,128)}"]).stdout;
    assert!(
        column.contains("CuTe               f32(13,1):(1,1)  (without the last 460 bytes of padding)\n"),
        "{column}"
    );
    assert!(column.contains("oneDNN tag         f32[13,1]:Ab128a\n"), "{column}");
    assert!(column.contains("\"TotalTensorSizeInBytes\":512}"), "{column}");
    for line in column.lines().filter(|line| line.contains("DirectML  ")) {
        assert!(!line.contains("without"), "{line}");
    }
    let whole = run(&["describe", "f32[16,128]{1,0:T(8,128)}"]).stdout;
    assert!(!whole.contains("without the last"), "{whole}");
}

/// A reason that several notations share is printed once.
#[test]
fn describe_gives_each_reason_once() {
    let text = run(&["describe", "f32[16,256]{1,0:T(8,128)}"]).stdout;
    assert_eq!(text.matches("is cut into digits of 2 x 8").count(), 1, "{text}");
    assert!(
        text.contains("  not as     sizes and strides, axis order, NumPy, DirectML: for the same reason\n"),
        "{text}"
    );
    let pitch = run(&["describe", "f16[1,3,3,2]:[24,1,8,3]"]).stdout;
    assert_eq!(
        pitch.lines().filter(|line| line.contains("not as") || line.starts_with("             ")).count(),
        5,
        "{pitch}"
    );
}

/// No line of `convert --explain` is wider than a terminal.
#[test]
fn the_plan_of_a_copy_is_wrapped() {
    let plan =
        run(&["convert", "--explain", "--from", "f32[1000,3000]", "--to", "f32[1000,3000]{0,1:T(8,128)}"]).stdout;
    assert!(plan.lines().count() > 5 && plan.lines().all(|line| line.chars().count() <= 100), "{plan}");
}

/// Which choice is the fastest depends on the machine.
#[test]
fn a_measured_copy_names_its_choice() {
    let arguments = ["convert", "--measure", "--from", "f32[64,96]", "--to", "f32[64,96]{0,1}"];
    let text = run(&arguments).stdout;
    assert!(text.starts_with("choice: v1") && !text.contains("nothing is measured"), "{text}");
    let object = run(&[&arguments[..], &["--json"]].concat()).object();
    assert!(object["choice"].as_str().unwrap().starts_with("v1") && object["estimate_reason"].is_null());
    let large = ["convert", "--measure", "--from", "f32[65536,65536]", "--to", "f32[65536,65536]{0,1}"];
    let reason = "nothing is measured: the buffers take 34359746560 bytes, and 4294967296 are allowed";
    assert_eq!(run(&large).stdout, format!("choice: v1 ({reason})\n"));
}

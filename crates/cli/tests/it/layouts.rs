//! The commands that only look at layouts: what tests/answers does not show.

use crate::command_line::{program, run, run_with_input, run_with_variable};
use serde_json::{Value, json};

#[test]
fn a_kernel_level_that_is_none_is_reported_and_ignored() {
    let explain = |level: &str| {
        let arguments = ["convert", "--explain", "--from", "f32[64,64]", "--to", "f32[64,64]{0,1}"];
        run_with_variable("TENSOR_LAYOUT_LEVEL", level, &arguments)
    };
    let sentence = "TENSOR_LAYOUT_LEVEL is ignored: expected a kernel level: portable, neon, avx2, \
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

#[test]
fn tuples_are_objects_of_their_arrays() {
    let text = "(f32[3,5]{1,0:T(8,128)}, token[], (s8[4], pred[12,456]{1,0:SC(1:50)}))";
    let object = run(&["describe", "--json", text]).object();
    // 8 x 128 floats, 4 bytes, and 12 rows of the larger part, 406 columns.
    assert_eq!(object["physical_size_in_bytes"], 4096 + 4 + 12 * 406);
    assert_eq!((&object["logical_elements"], &object["tuple_table_bytes"]), (&json!(15 + 4 + 12 * 456), &json!(8 * 5)));
    let tuples = json!([{"index": [], "elements": 3, "bytes": 24}, {"index": [2], "elements": 2, "bytes": 16}]);
    assert_eq!(object["tuples"], tuples);
    let elements = object["elements"].as_array().unwrap();
    let indices: Vec<_> = elements.iter().map(|element| &element["index"]).collect();
    assert_eq!(indices, [&json!([0]), &json!([1]), &json!([2, 0]), &json!([2, 1])]);
    assert_eq!((&elements[0]["class"], &elements[0]["strides"]), (&json!("affine"), &json!([128, 1])));
    let object = run(&["describe", "--json", "pred[123,456]{1,0:SC(1:50,200)}"]).object();
    assert_eq!((&object["class"], &object["physical_size_in_bytes"]), (&Value::Null, &json!(123 * 256)));
}

#[test]
fn plans_of_lines_are_objects() {
    let plans =
        |to: &str, lines: &str| run_with_input(&["convert", "--explain", "--json", "--from", "-", "--to", to], lines);
    assert_eq!(plans("-", "f32[2,3]\tf32[2,3]{0,1}\nf32[4]\tf32[4]").objects()[1]["to"], "f32[4]{0}");
    let one_side = plans("f32[2,3]", "f32[2,3]\nf32[3]");
    assert_eq!((one_side.status, one_side.objects().len()), (1, 2));
}

//! The commands that only look at layouts: what tests/answers does not show.

use crate::command_line::{program, run, run_with_input, run_with_variable};

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
fn plans_of_lines_are_objects() {
    let plans =
        |to: &str, lines: &str| run_with_input(&["convert", "--explain", "--json", "--from", "-", "--to", to], lines);
    assert_eq!(plans("-", "f32[2,3]\tf32[2,3]{0,1}\nf32[4]\tf32[4]").objects()[1]["to"], "f32[4]{0}");
    let one_side = plans("f32[2,3]", "f32[2,3]\nf32[3]");
    assert_eq!((one_side.status, one_side.objects().len()), (1, 2));
}

//! docs/FIRST_STEPS.md and README.md: their commands print and draw what the pages show.

use crate::answers::{answers, words};
use crate::command_line::run;

#[test]
fn the_first_steps_print_what_they_show() {
    assert!(answers("docs/FIRST_STEPS.md") > 10);
}

/// README.md: its commands are those that CI runs, its picture is the one that its command draws, and it
/// stays short.
#[test]
fn the_readme_shows_what_its_commands_do() {
    let page = include_str!("../../../../README.md");
    let ci = include_str!("../../../../.ci/run").replace(" --quiet", "");
    let mut commands = 0;
    for block in page.split("```sh\n").skip(1) {
        for command in block.split_once("\n```").unwrap().0.lines() {
            assert!(ci.contains(command), "{command}");
            commands += 1;
        }
    }
    assert_eq!(commands, 2);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/digits.safetensors");
    let printed = run(&["model", model, "--to", "tpu:v5e"]).stdout;
    let shown = page.split_once("```text\n").unwrap().1.split_once("\n```").unwrap().0;
    for line in shown.lines() {
        assert!(printed.lines().any(|printed| printed.trim_end() == line.trim_end()), "{line}\n{printed}");
    }
    let svg = std::env::temp_dir().join(format!("tensor-layout-{}-padded-nhwc.svg", std::process::id()));
    let (before, drawn) = page.split_once("`tensor-layout draw ").unwrap();
    assert!(before.contains("](docs/pictures/padded-nhwc.svg)"));
    let mut words = words(drawn.split_once('`').unwrap().0);
    assert_eq!(words.pop().as_deref(), Some("padded-nhwc.svg"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = run(&[&["draw"], &words[..], &[svg.to_str().unwrap()]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    std::fs::remove_file(&svg).unwrap();
    assert_eq!(picture, include_str!("../../../../docs/pictures/padded-nhwc.svg"));
    for (page, most) in [(page, 120), (include_str!("../../../../docs/PERFORMANCE.md"), 150)] {
        assert!(page.lines().count() <= most, "{} lines", page.lines().count());
    }
}

//! docs/FIRST_STEPS.md, docs/CASES.md and README.md: their commands print and draw what the pages show.

use crate::command_line::run;

/// The words of a command line: single quotes keep blanks and brackets.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    assert!(!quoted, "{line}");
    words
}

#[test]
fn the_first_steps_print_what_they_show() {
    let commands = run_all(include_str!("../../../../docs/FIRST_STEPS.md"));
    assert!(commands > 10, "{commands}");
}

#[test]
fn the_cases_are_answered_as_they_show() {
    let commands = run_all(include_str!("../../../../docs/CASES.md"));
    assert!(commands > 40, "{commands}");
}

/// Runs the commands of a page, and compares what they print with what it shows; `...` stands for the rest.
fn run_all(page: &str) -> usize {
    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let words = words(command.strip_prefix("$ tensor-layout ").expect(command));
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let printed = format!("{}{}", run.stdout, run.stderr);
        match shown.strip_suffix("\n...") {
            Some(beginning) => assert!(printed.starts_with(&format!("{beginning}\n")), "{command}\n{printed}"),
            None => assert_eq!(printed.trim_end(), shown, "{command}"),
        }
        commands += 1;
    }
    commands
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

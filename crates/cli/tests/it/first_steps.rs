//! docs/FIRST_STEPS.md, docs/CASES.md and README.md: their commands print and draw what the pages show.
//!
//! `TENSOR_LAYOUT_WRITE_PAGES=1 cargo test -p tensor-layout-cli --test it first_steps` writes the answers of
//! today into the first two pages; read the diff.

use crate::command_line::{in_repository, run};

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
    let commands = run_all("docs/FIRST_STEPS.md");
    assert!(commands > 10, "{commands}");
}

#[test]
fn the_cases_are_answered_as_they_show() {
    let commands = run_all("docs/CASES.md");
    assert!(commands > 40, "{commands}");
}

/// Runs the commands of a page, and compares what they print with what it shows.
fn run_all(page: &str) -> usize {
    let path = in_repository(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut blocks = text.split("```console\n");
    let (mut commands, mut answered) = (0, blocks.next().unwrap().to_owned());
    for part in blocks {
        let (block, after) = part.split_once("\n```").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let words = words(command.strip_prefix("$ tensor-layout ").expect(command));
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let printed = format!("{}{}", run.stdout, run.stderr);
        let lines: Vec<&str> = printed.trim_end().lines().collect();
        // `...` stands for lines that the page leaves out.
        let shown: Vec<&str> = shown.lines().collect();
        let lines = match shown.iter().position(|&line| line == "...") {
            Some(gap) => {
                let after = shown.len() - gap - 1;
                [&lines[..gap], &["..."], &lines[lines.len() - after..]].concat()
            }
            None => lines,
        };
        answered += &format!("```console\n{command}\n{}\n```{after}", lines.join("\n"));
        commands += 1;
    }
    if std::env::var_os("TENSOR_LAYOUT_WRITE_PAGES").is_some() {
        std::fs::write(&path, &answered).unwrap();
    } else {
        for (printed, shown) in answered.split("```console\n").zip(text.split("```console\n")) {
            assert_eq!(printed, shown, "{page}");
        }
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

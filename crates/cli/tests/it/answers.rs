//! Pages of commands and their answers: each `$` line of a `console` block is run and prints what follows.
//!
//! `printf 'TEXT' |` in front is standard input. Both outputs are shown, the errors last, then a status that
//! the output does not tell: `error:` and `no:` are 1, clap's hint at `--help` is 2, everything else is 0.
//! `...` stands for lines that are left out.
//!
//! `TENSOR_LAYOUT_WRITE_PAGES=1 cargo test -p tensor-layout-cli --test it` writes the answers of today into
//! the pages; read the diff.

use crate::command_line::{in_repository, run_with_input};

/// The words of a command line: single quotes keep blanks and brackets.
pub(crate) fn words(line: &str) -> Vec<String> {
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

/// Runs the commands of a page, compares what they print with what it shows, and returns their number.
#[track_caller]
pub(crate) fn answers(page: &str) -> usize {
    let path = in_repository(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut blocks = text.split("```console\n");
    let (mut commands, mut answered) = (0, blocks.next().unwrap().to_owned());
    for part in blocks {
        let (block, after) = part.split_once("\n```").unwrap();
        answered += "```console";
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            answered += &format!("\n$ {command}");
            for line in answer(command, &shown.lines().collect::<Vec<_>>()) {
                answered += &format!("\n{line}");
            }
            commands += 1;
        }
        answered += &format!("\n```{after}");
    }
    if std::env::var_os("TENSOR_LAYOUT_WRITE_PAGES").is_some() {
        std::fs::write(&path, &answered).unwrap();
    } else {
        for (printed, shown) in answered.split("\n$ ").zip(text.split("\n$ ")) {
            assert_eq!(printed, shown, "{page}");
        }
    }
    commands
}

/// The lines that a command prints, of which the page may leave some out.
#[track_caller]
fn answer(command: &str, shown: &[&str]) -> Vec<String> {
    let (input, program) = match command.strip_prefix("printf '").and_then(|piped| piped.split_once("' | ")) {
        Some((text, program)) => (text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t"), program),
        None => (String::new(), command),
    };
    let words = words(program.strip_prefix("tensor-layout ").expect(command));
    let run = run_with_input(&words.iter().map(String::as_str).collect::<Vec<_>>(), &input);
    let printed = format!("{}{}", run.stdout, run.stderr);
    let mut lines: Vec<String> = printed.trim_end().lines().map(str::to_owned).collect();
    let told = match () {
        () if run.stderr.contains("try '--help'") => 2,
        () => i32::from(run.stderr.contains("error: ") || run.stdout.starts_with("no: ")),
    };
    if run.status != told {
        lines.push(format!("[status {}]", run.status));
    }
    if let Some(gap) = shown.iter().position(|&line| line == "...") {
        let after = lines.len() - (shown.len() - gap - 1);
        lines.splice(gap..after, ["...".to_owned()]);
    }
    lines
}

#[test]
fn commands_answer_as_their_pages_show() {
    for page in ["cases", "kinds", "layouts", "frames", "checks", "mistakes", "names", "shaders"] {
        assert!(answers(&format!("crates/cli/tests/answers/{page}.md")) > 10, "{page}");
    }
}

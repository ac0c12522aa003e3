//! docs/FIRST_STEPS.md: its commands print what it shows.

mod command_line;

use command_line::run;

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
    let page = include_str!("../../docs/FIRST_STEPS.md");
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
    assert!(commands > 10, "{commands}");
}

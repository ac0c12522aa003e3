//! Running the program as a shell would.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The root of the repository: the program runs there, so the tests name its files as a user in a clone
/// would.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A file of the repository, for the test itself.
pub(crate) fn in_repository(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

/// The program, at the root of the repository.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensor-layout"));
    command.current_dir(ROOT);
    command
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program with these arguments and nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Run {
    run_with_input(arguments, "")
}

pub(crate) fn run_with_input(arguments: &[&str], input: &str) -> Run {
    let mut command = program();
    command.args(arguments);
    run_command(command, input)
}

/// Runs the program with a variable of its environment set.
pub(crate) fn run_with_variable(name: &str, value: &str, arguments: &[&str]) -> Run {
    let mut command = program();
    command.args(arguments).env(name, value);
    run_command(command, "")
}

/// Runs the program after some words of a shell, such as a limit.
pub(crate) fn run_after(words: &str, arguments: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.current_dir(ROOT);
    command.args(["-c", &format!("{words}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_tensor-layout")]).args(arguments);
    run_command(command, "")
}

fn run_command(mut command: Command, input: &str) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program that does not read its input to the end is not an error here.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        // 128 and more, as a shell says it, for a program that was killed by a signal.
        status: output.status.code().unwrap_or(128),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// Every line of standard output as JSON.
    #[track_caller]
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        let [object] = &self.objects()[..] else { panic!("not one line: {self:?}") };
        object.clone()
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The names of the files in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

/// A fresh folder for the files of one test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

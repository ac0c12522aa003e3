//! What the command line leaves when the power fails, the disk is full or broken, or its input changes
//! while it is read. strace tells which system calls it makes, and makes them fail.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::command_line::folder;
use serde_json::{Value, json};

/// Everything that writes, or changes what a name means.
const CALLS: &str = "trace=openat,open,creat,write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,?rename,renameat,renameat2,?unlink,unlinkat,?link,linkat";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The program under strace with these options; `None`, and a line that says so, where it cannot be traced.
fn traced(options: &[&str], arguments: &[&str]) -> Option<Command> {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        // Not captured by the test harness.
        let _ = writeln!(std::io::stderr(), "skipped: strace is not installed, or may trace nothing here");
        return None;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "64"]).args(options).arg(env!("CARGO_BIN_EXE_tensor-layout")).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The ways to write a file: the arguments, and the files that are to be there, the last of which comes last.
fn ways(folder: &Path) -> Vec<(Vec<String>, Vec<PathBuf>)> {
    let raw = folder.join("raw");
    fs::write(&raw, (0..1 << 20).map(|place: u32| place.to_le_bytes()[0] | 1).collect::<Vec<_>>()).unwrap();
    let model = folder.join("model.safetensors");
    crate::safetensors_file::write(&model, &[("w", "U8", &[300, 4000], 1_200_000)], None, 1);
    let (sharded, parts) = (folder.join("sharded"), ["one.safetensors", "two.safetensors"]);
    fs::create_dir_all(&sharded).unwrap();
    let mut weights = serde_json::Map::new();
    for part in parts {
        crate::safetensors_file::write(&sharded.join(part), &[(part, "F32", &[33, 70], 9240)], None, 2);
        weights.insert(part.to_owned(), Value::from(part));
    }
    let index = sharded.join("model.safetensors.index.json");
    fs::write(&index, json!({ "metadata": { "total_size": 18480 }, "weight_map": weights }).to_string()).unwrap();
    let out = folder.join("out");
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let new = folder.join("new");
    vec![
        (
            words(&["convert", "--from", "u8[1024,1024]", "--to", "u8[1024,1024]{0,1}", text(&raw), text(&out)]),
            vec![out.clone()],
        ),
        (
            words(&["model", text(&model), "--to", "tpu:v5e", "--limits", "none", "--out", text(&out)]),
            vec![out.clone()],
        ),
        (words(&["draw", "f32[20,30]{0,1}", "--svg", text(&out)]), vec![out]),
        (
            words(&["model", text(&index), "--to", "tpu:v5e", "--limits", "none", "--jobs", "1", "--out", text(&new)]),
            parts.iter().map(|part| new.join(part)).chain([new.join("model.safetensors.index.json")]).collect(),
        ),
    ]
}

/// A system call: its name, the strings and the files of its descriptors in it, and the whole line.
struct Call {
    name: String,
    paths: Vec<String>,
    line: String,
}

fn calls(log: &Path) -> Vec<Call> {
    let call = |line: &str| {
        // `1234 rename("a", "b") = 0`, `1234 write(4</a>, "..."..., 3) = 3`
        let (name, rest) = line.split_once(' ')?.1.trim_start().split_once('(')?;
        let arguments = rest.rsplit_once(" = ").map_or(rest, |(arguments, _)| arguments);
        let pieces = |open: char, close: char| {
            let mut found = Vec::new();
            let mut rest = arguments;
            while let Some((_, after)) = rest.split_once(open) {
                let Some((inner, after)) = after.split_once(close) else { break };
                found.push(inner.to_owned());
                rest = after;
            }
            found
        };
        let is_named = name.starts_with("rename") || name.starts_with("unlink") || name.starts_with("link");
        let paths =
            if is_named || name.starts_with("open") || name == "creat" { pieces('"', '"') } else { pieces('<', '>') };
        Some(Call { name: name.to_owned(), paths, line: line.to_owned() })
    };
    fs::read_to_string(log).unwrap().lines().filter_map(call).collect()
}

/// After a power cut, the disk has what was synced. So the bytes are synced before the file has its name, and
/// the name before anything that counts on it; and nothing that exists is opened for writing.
#[test]
fn bytes_are_on_the_disk_before_a_file_has_its_name() {
    let folder = folder("power_cut_order");
    for (arguments, targets) in ways(&folder) {
        let log = folder.join("log");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let Some(mut command) = traced(&["-y", "-o", text(&log), "-e", CALLS], &arguments) else { return };
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        let calls = calls(&log);
        let all: Vec<&str> = calls.iter().map(|call| call.line.as_str()).collect();
        let all = all.join("\n");
        let position = |from: usize, test: &dyn Fn(&Call) -> bool| {
            calls.iter().skip(from).position(test).map(|place| place + from)
        };
        let mut before = 0;
        for target in &targets {
            let is_renaming = |call: &Call| call.name.starts_with("rename") && call.paths[1] == text(target);
            assert_eq!(calls.iter().filter(|call| is_renaming(call)).count(), 1, "{all}");
            let renamed = position(0, &is_renaming).unwrap();
            let temporary = &calls[renamed].paths[0];
            assert_eq!(Path::new(temporary).parent(), target.parent(), "{all}");
            let created = position(0, &|call| call.name.starts_with("open") && &call.paths[0] == temporary).unwrap();
            assert!(calls[created].line.contains("O_CREAT|O_EXCL"), "{all}");
            let writes = ["write", "pwrite64", "writev", "ftruncate", "fallocate"];
            let is_written =
                |call: &Call| writes.contains(&call.name.as_str()) && call.paths.first() == Some(temporary);
            let last =
                calls.iter().rposition(is_written).unwrap_or_else(|| panic!("{temporary} is not written: {all}"));
            let is_synced = |call: &Call| call.name.ends_with("sync") && call.paths.first() == Some(temporary);
            let synced = position(last, &is_synced).unwrap_or_else(|| panic!("{temporary} is not synced: {all}"));
            assert!(created < last && synced < renamed, "{all}");
            let names_synced =
                |call: &Call| call.name == "fsync" && call.paths.first().map(Path::new) == target.parent();
            let on_disk = position(renamed, &names_synced);
            assert!(on_disk.is_some(), "the name of {} is not synced: {all}", target.display());
            // An index comes after the names of its parts are on the disk.
            assert!(
                before <= created || targets.len() == 1 || !target.ends_with("model.safetensors.index.json"),
                "{all}"
            );
            before = before.max(on_disk.unwrap());
        }
        for call in calls.iter().filter(|call| call.name.starts_with("open") || call.name == "creat") {
            let writes = call.line.contains("O_WRONLY") || call.line.contains("O_RDWR") || call.name == "creat";
            // The file without a name, and what the system itself has.
            let own = call.line.contains("O_EXCL")
                || call.line.contains("O_TMPFILE")
                || !call.paths[0].starts_with(text(&folder));
            assert!(!writes || own, "{}", call.line);
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Each call fails once, with what full and broken disks and quotas say.
#[test]
fn a_disk_that_fails_leaves_the_old_file_and_no_half_of_a_new_one() {
    let folder = folder("failing_disk");
    for (arguments, targets) in ways(&folder).into_iter().filter(|(_, targets)| targets.len() == 1) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let out = &targets[0];
        for (call, error, says) in [
            ("write", "ENOSPC", "No space left on device"),
            ("write", "EDQUOT", "Disk quota exceeded"),
            ("write", "EIO", "Input/output error"),
            ("fdatasync", "ENOSPC", "No space left on device"),
            ("fdatasync", "EIO", "Input/output error"),
            ("?rename,renameat,renameat2", "EACCES", "Permission denied"),
            ("?rename,renameat,renameat2", "EXDEV", "cross-device"),
        ] {
            fs::write(out, "old").unwrap();
            let before = names(&folder);
            let inject = format!("inject={call}:error={error}:when=1");
            let Some(mut command) = traced(&["-o", "/dev/null", "-e", &inject], &arguments) else { return };
            let output = command.output().unwrap();
            let complaint = said(&output);
            assert_eq!(output.status.code(), Some(2), "{inject}: {arguments:?} {complaint}");
            assert!(complaint.starts_with("error: ") && complaint.contains(says), "{inject}: {complaint}");
            assert!(complaint.contains(&format!("{} cannot be written", out.display())), "{inject}: {complaint}");
            assert_eq!((fs::read(out).unwrap(), names(&folder)), (b"old".to_vec(), before), "{inject}: {arguments:?}");
        }
        // The new file has its name by then, but whether that is on the disk is not known.
        let Some(mut command) = traced(&["-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1"], &arguments) else {
            return;
        };
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains("cannot be synced to the disk: Input/output error"), "{}", said(&output));
        assert_ne!(fs::read(out).unwrap(), b"old");
    }
    fs::remove_dir_all(folder).unwrap();
}

/// The program ends at each of its calls: the file is the old one or the whole new one, and nothing else but
/// a temporary file is left.
#[test]
fn a_program_that_ends_anywhere_leaves_the_old_file_or_the_new_one() {
    let folder = folder("ends_anywhere");
    for (arguments, targets) in ways(&folder).into_iter().filter(|(_, targets)| targets.len() == 1) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let out = &targets[0];
        let Some(mut command) = traced(&["-o", "/dev/null"], &arguments) else { return };
        assert!(command.output().unwrap().status.success());
        let new = fs::read(out).unwrap();
        fs::write(out, "old").unwrap();
        let before = names(&folder);
        for (call, may_be_new) in
            [("write", false), ("fdatasync", false), ("?rename,renameat,renameat2", false), ("fsync", true)]
        {
            let inject = format!("inject={call}:signal=KILL:when=1");
            let output = traced(&["-o", "/dev/null", "-e", &inject], &arguments).unwrap().output().unwrap();
            assert!(!output.status.success(), "{inject}: {arguments:?}");
            let left = fs::read(out).unwrap();
            assert!(left == b"old" || left == new, "{inject}: {arguments:?} left {} bytes", left.len());
            assert!(!may_be_new || left == new, "{inject}: the name comes before its folder is synced");
            for name in names(&folder) {
                if name.ends_with(".part") {
                    fs::remove_file(folder.join(&name)).unwrap();
                } else {
                    assert!(before.contains(&name), "{inject}: {name}");
                }
            }
            fs::write(out, "old").unwrap();
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Another program shortens the input, or writes it, after it was opened and before all of it is read.
#[test]
fn an_input_that_changes_is_an_error_and_leaves_no_output() {
    let folder = folder("input_changes");
    for shorten in [true, false] {
        for (place, call) in [(0, "ftruncate"), (1, "write")] {
            let (arguments, targets) = ways(&folder).swap_remove(place);
            let input = folder.join(["raw", "model.safetensors"][place]);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let before = names(&folder);
            // It waits here long enough, and is not waited for: the input is changed once the temporary file
            // is there.
            let inject = format!("inject={call}:delay_enter=3000000:when=1");
            let Some(mut command) = traced(&["-o", "/dev/null", "-e", &inject], &arguments) else { return };
            let mut child = command.spawn().unwrap();
            while names(&folder).len() == before.len() && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            let file = fs::File::options().write(true).open(&input).unwrap();
            if shorten {
                file.set_len(70_000).unwrap();
            } else {
                (&file).write_all(&fs::read(&input).unwrap()[..9]).unwrap();
            }
            let output = child.wait_with_output().unwrap();
            let complaint = said(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
            let says = if shorten {
                "was made shorter or longer by another program"
            } else {
                "was written by another program"
            };
            let says = format!("error: {} {says} while it was read", input.display());
            assert!(complaint.starts_with(&says), "{arguments:?}: {complaint}");
            assert_eq!(names(&folder), before, "{arguments:?}");
            assert!(!targets[0].exists());
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Ways to write files that take a while: the arguments, and how many new files are begun when the signal
/// comes.
fn long_ways(folder: &Path) -> Vec<(Vec<String>, usize)> {
    let (raw, out, new) = (folder.join("raw"), folder.join("out"), folder.join("new"));
    fs::write(&raw, vec![7; 96 << 20]).unwrap();
    let (model, sharded) = (folder.join("model.safetensors"), folder.join("sharded"));
    crate::safetensors_file::write(&model, &[("w", "U8", &[3000, 32_000], 96_000_000)], None, 1);
    fs::create_dir_all(&sharded).unwrap();
    let mut weights = serde_json::Map::new();
    for part in ["one.safetensors", "two.safetensors", "three.safetensors"] {
        crate::safetensors_file::write(&sharded.join(part), &[(part, "U8", &[1000, 32_000], 32_000_000)], None, 2);
        weights.insert(part.to_owned(), Value::from(part));
    }
    let index = sharded.join("model.safetensors.index.json");
    fs::write(&index, json!({ "metadata": { "total_size": 96_000_000 }, "weight_map": weights }).to_string()).unwrap();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let (from, to) = ("u8[96,1024,1024]", "u8[96,1024,1024]{0,1,2}");
    vec![
        (words(&["convert", "--from", from, "--to", to, text(&raw), text(&out)]), 1),
        (words(&["model", text(&model), "--to", "tpu:v5e", "--out", text(&out)]), 1),
        (words(&["model", text(&index), "--to", "tpu:v5e", "--jobs", "1", "--out", text(&new)]), 2),
    ]
}

fn all_names(folder: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    for path in entries {
        names.extend(all_names(&path));
        names.push(path);
    }
    names.sort();
    names
}

/// The program as a terminal starts it. A shell that runs these tests in the background has them ignore
/// SIGINT, and `nohup` has them ignore SIGHUP. A child ignores what its parent ignores, as it should.
fn heeding_signals() -> Command {
    let env = || {
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM,HUP");
        command
    };
    if env().arg("true").output().is_ok_and(|output| output.status.success()) {
        let mut command = env();
        command.arg(env!("CARGO_BIN_EXE_tensor-layout"));
        return command;
    }
    Command::new(env!("CARGO_BIN_EXE_tensor-layout"))
}

/// Starts the program, and stops it (SIGSTOP) once it has begun `begun` new files. It may be done before the
/// signal comes: what it wrote is removed then, and it is started again.
fn stopped(folder: &Path, arguments: &[String], begun: usize) -> Child {
    let before = all_names(folder);
    for _ in 0..50 {
        let mut command = heeding_signals();
        let mut child = command.args(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let parts = || {
            let is_part = |name: &&PathBuf| name.extension().is_some_and(|ending| ending == "part");
            all_names(folder).iter().filter(is_part).count()
        };
        while parts() < begun && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        signal("STOP", &child);
        while child.try_wait().unwrap().is_none() {
            let state = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
            if state.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T')) {
                break;
            }
            std::thread::yield_now();
        }
        if child.try_wait().unwrap().is_none() && parts() >= begun {
            return child;
        }
        signal("CONT", &child);
        child.wait().unwrap();
        remove_all_but(&before, folder);
    }
    panic!("{arguments:?} was always done before it could be stopped");
}

fn signal(name: &str, child: &Child) {
    let process = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &process]).stderr(Stdio::null()).status().is_ok());
}

fn remove_all_but(kept: &[PathBuf], folder: &Path) {
    // A folder sorts before what is in it.
    for name in all_names(folder).iter().filter(|name| !kept.contains(name)).rev() {
        if name.is_dir() { fs::remove_dir(name) } else { fs::remove_file(name) }.unwrap();
    }
}

/// Ctrl-C, `kill` and a closed terminal leave nothing behind, also between two parts of a model, and in a
/// folder that was made for them.
#[test]
fn an_interrupted_program_leaves_nothing() {
    let folder = folder("interrupted");
    for (arguments, begun) in long_ways(&folder) {
        for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let before = all_names(&folder);
            // A program that was stopped behind its last look at the signals ends as if there was none.
            let output = (0..20).find_map(|_| {
                let child = stopped(&folder, &arguments, begun);
                signal(name, &child);
                signal("CONT", &child);
                let output = child.wait_with_output().unwrap();
                if output.status.success() {
                    remove_all_but(&before, &folder);
                    return None;
                }
                Some(output)
            });
            let output = output.unwrap_or_else(|| panic!("{arguments:?} was never interrupted by SIG{name}"));
            assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", said(&output));
            assert_eq!(said(&output), "interrupted; nothing was written\n", "{arguments:?}");
            assert_eq!(all_names(&folder), before, "{arguments:?}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// SIGKILL gives nobody time: the next run names what is left. A file of a run that lives is not named.
#[test]
fn what_a_killed_program_left_is_named_by_the_next() {
    let folder = folder("left");
    let (arguments, begun) = long_ways(&folder).swap_remove(0);
    let mut first = stopped(&folder, &arguments, begun);
    let left = names(&folder).into_iter().find(|name| name.ends_with(".part")).unwrap();
    let next = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tensor-layout"));
        let output = command.args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };
    assert!(!next().contains("warning: "));
    first.kill().unwrap();
    first.wait().unwrap();
    let complaint = next();
    assert!(complaint.starts_with("warning: ") && complaint.contains(&left), "{complaint}");
    assert!(complaint.ends_with(" was left by a run that was killed; it may be removed\n"), "{complaint}");
    fs::remove_dir_all(folder).unwrap();
}

/// `convert a a` is a slip; whoever means it says so.
#[test]
fn a_conversion_replaces_its_input_only_when_asked() {
    let folder = folder("onto_itself");
    let file = folder.join("a");
    fs::write(&file, [1, 2, 3, 4]).unwrap();
    let spelled = folder.join("..").join("onto_itself").join("a");
    let run = |options: &[&str]| {
        let words = ["convert", "--from", "u8[2,2]", "--to", "u8[2,2]{0,1}", text(&file), text(&spelled)];
        crate::command_line::run(&[&words, options].concat())
    };
    let refused = run(&[]);
    assert_eq!((refused.status, fs::read(&file).unwrap()), (2, vec![1, 2, 3, 4]));
    assert!(refused.stderr.contains("is the input itself: choose another output"), "{refused:?}");
    assert_eq!((run(&["--overwrite"]).status, fs::read(&file).unwrap()), (0, vec![1, 3, 2, 4]));
    fs::remove_dir_all(folder).unwrap();
}

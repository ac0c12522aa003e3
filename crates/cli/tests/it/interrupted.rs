//! What the command line leaves when the power fails, the disk is full or broken, or its input changes
//! while it is read. strace tells which system calls it makes, and makes them fail.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::command_line::{folder, names, text};
use serde_json::{Value, json};

/// Everything that writes, or changes what a name means.
const CALLS: &str = "trace=openat,open,creat,write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,?rename,renameat,renameat2,?unlink,unlinkat,?link,linkat";

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

/// The temporary name under which a whole file is for a moment, before it is renamed.
fn is_temporary(name: &str, target: &Path) -> bool {
    let stem = format!(".{}.", target.file_name().unwrap().to_str().unwrap());
    name.strip_prefix(&stem).is_some_and(|letters| letters.len() == 6)
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
            let (home, name) = (target.parent().unwrap(), target.file_name().unwrap().to_str().unwrap());
            // renameat(4</folder>, ".out.a1b2c3", 4</folder>, "out")
            let ending = format!("<{}>, \"{name}\")", home.display());
            let is_renaming = |call: &Call| call.name == "renameat" && call.line.contains(&ending);
            assert_eq!(calls.iter().filter(|call| is_renaming(call)).count(), 1, "{all}");
            let renamed = position(0, &is_renaming).unwrap();
            // The file without a name is `/folder/#123 (deleted)` in the descriptions of strace.
            let is_unnamed =
                |call: &Call| call.paths.first().is_some_and(|path| path.starts_with(&format!("{}/#", text(home))));
            let writes = ["write", "pwrite64", "writev", "ftruncate", "fallocate"];
            let last = (before..renamed)
                .rev()
                .find(|&place| writes.contains(&calls[place].name.as_str()) && is_unnamed(&calls[place]));
            let last = last.unwrap_or_else(|| panic!("{name} is not written without a name: {all}"));
            let synced = position(last, &|call| call.name.ends_with("sync") && is_unnamed(call));
            assert!(synced.is_some_and(|synced| synced < renamed), "{name} is not synced: {all}");
            let names_synced = |call: &Call| call.name == "fsync" && call.paths.first().map(Path::new) == Some(home);
            let on_disk = position(renamed, &names_synced);
            assert!(on_disk.is_some(), "the name of {name} is not synced: {all}");
            // An index is written after the names of its parts are on the disk.
            before = if targets.len() > 1 && name.ends_with(".safetensors") { 0 } else { on_disk.unwrap() };
        }
        for call in calls.iter().filter(|call| call.name.starts_with("open") || call.name == "creat") {
            let writes = call.line.contains("O_WRONLY") || call.line.contains("O_RDWR") || call.name == "creat";
            let own = call.line.contains("O_TMPFILE") || !call.line.contains(text(&folder));
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
            ("fsync", "EIO", "Input/output error"),
            ("fdatasync", "ENOSPC", "No space left on device"),
            ("linkat", "EACCES", "Permission denied"),
            ("renameat", "EXDEV", "cross-device"),
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
            assert_eq!(fs::read(out).unwrap(), b"old", "{inject}: {arguments:?}");
            remove_temporary(&folder, out, &before, !matches!(call, "write" | "linkat"));
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Removes the whole file that a failure between the link and the renaming leaves. No other file may be left.
fn remove_temporary(folder: &Path, target: &Path, before: &[String], may_be_left: bool) {
    for name in names(folder).iter().filter(|name| !before.contains(name)) {
        assert!(may_be_left && is_temporary(name, target), "{name}");
        fs::remove_file(folder.join(name)).unwrap();
    }
}

/// The program ends at each of its calls: the file is the old one or the whole new one, and nothing else is
/// left, except for the moment between the link and the renaming.
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
        for call in ["write", "fsync", "linkat", "renameat"] {
            let inject = format!("inject={call}:signal=KILL:when=1");
            let output = traced(&["-o", "/dev/null", "-e", &inject], &arguments).unwrap().output().unwrap();
            assert!(!output.status.success(), "{inject}: {arguments:?}");
            let left = fs::read(out).unwrap();
            assert!(left == b"old" || left == new, "{inject}: {arguments:?} left {} bytes", left.len());
            remove_temporary(&folder, out, &before, matches!(call, "linkat" | "renameat"));
            fs::write(out, "old").unwrap();
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Whether a program that this strace runs has a file without a name open in the folder.
fn has_new_file(strace: u32, folder: &Path) -> bool {
    let children = fs::read_to_string(format!("/proc/{strace}/task/{strace}/children")).unwrap_or_default();
    let open = |program: &str| fs::read_dir(format!("/proc/{program}/fd")).into_iter().flatten().flatten();
    let is_new = |path: PathBuf| path.starts_with(folder) && path.to_string_lossy().ends_with(" (deleted)");
    children.split_whitespace().flat_map(open).any(|entry| fs::read_link(entry.path()).is_ok_and(is_new))
}

/// Another program writes the input after it was opened and before all of it is read.
#[test]
fn an_input_that_changes_is_an_error_and_leaves_no_output() {
    let folder = folder("input_changes");
    for place in [0, 1] {
        let (arguments, targets) = ways(&folder).swap_remove(place);
        let input = folder.join(["raw", "model.safetensors"][place]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let before = names(&folder);
        // The first write takes a while. The input is changed once the new file is there.
        let options = ["-o", "/dev/null", "-e", "inject=write:delay_enter=3000000:when=1"];
        let Some(mut command) = traced(&options, &arguments) else { return };
        let mut child = command.spawn().unwrap();
        while !has_new_file(child.id(), &folder) && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let file = fs::File::options().write(true).open(&input).unwrap();
        (&file).write_all(&fs::read(&input).unwrap()[..9]).unwrap();
        let output = child.wait_with_output().unwrap();
        let complaint = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        let says = format!("error: {} was changed by another program while it was read", input.display());
        assert!(complaint.starts_with(&says), "{arguments:?}: {complaint}");
        assert_eq!(names(&folder), before, "{arguments:?}");
        assert!(!targets[0].exists());
    }
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

/// A conversion by a recipe that is killed at any of its writes leaves the old file and nothing else.
#[test]
fn a_recipe_that_is_killed_leaves_nothing_half_written() {
    let folder = folder("killed_recipe");
    let [model, recipe, out] = ["model.safetensors", "recipe", "out.safetensors"].map(|name| folder.join(name));
    let sizes: &[usize] = &[1500, 16_000];
    let rows = [("q", "U8", sizes, 24_000_000), ("k", "U8", sizes, 24_000_000)];
    crate::safetensors_file::write(&model, &rows, None, 1);
    fs::write(&recipe, "qk = cat 0 (q, k) | permute 1,0\nt = q | permute 1,0\n* = *").unwrap();
    let arguments = ["model", text(&model), "--recipe", text(&recipe), "--out", text(&out)];
    let Some(mut whole) = traced(&["-o", text(&folder.join("log")), "-e", CALLS], &arguments) else { return };
    fs::write(&out, "the old file").unwrap();
    assert!(whole.output().unwrap().status.success());
    let log = calls(&folder.join("log"));
    let expected = fs::read(&out).unwrap();
    fs::remove_file(folder.join("log")).unwrap();
    // The place of the renaming among the calls that take part, and ten places before it.
    let writes = log.iter().filter(|call| call.name == "pwrite64").count();
    assert!(writes >= 8, "{writes} writes");
    let places = (1..=8).map(|place| ("pwrite64", place)).chain([("fdatasync", 1), ("rename", 1)]);
    for (call, place) in places {
        fs::write(&out, "the old file").unwrap();
        let inject = format!("inject={call}:signal=KILL:when={place}");
        let options = ["-o", "/dev/null", "-e", CALLS, "-e", &inject];
        let killed = traced(&options, &arguments).unwrap().output().unwrap();
        let left = names(&folder);
        if killed.status.success() {
            // This system renames by another call.
            assert_eq!((call, fs::read(&out).unwrap() == expected), ("rename", true));
            continue;
        }
        assert!(call == "rename" || fs::read(&out).unwrap() == b"the old file", "{call} {place}");
        assert!(fs::read(&out).unwrap() == b"the old file" || fs::read(&out).unwrap() == expected);
        let known = ["model.safetensors", "out.safetensors", "recipe"];
        let unknown: Vec<&String> = left.iter().filter(|name| !known.contains(&name.as_str())).collect();
        // Between the link and the renaming, the whole file has a name of its own.
        assert!(
            unknown.is_empty() || call == "rename" && unknown.iter().all(|name| is_temporary(name, &out)),
            "{left:?}"
        );
        unknown.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    }
}

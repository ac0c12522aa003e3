//! The house rules: which folder may use which, where `unsafe` may stand, how long a file may get.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each folder of src may use. Data flows one way: nothing on the right of a row uses the folder on its left.
///
/// `error`, `checked` and `cursor` stand below all folders.
const ARROWS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("checked", &[]),
    ("cursor", &[]),
    ("element", &[]),
    ("strided", &["element"]),
    ("tiled", &["element"]),
    ("map", &["element", "strided"]),
    ("bridge", &["element", "strided", "tiled", "map"]),
    ("relayout", &["element", "map"]),
    ("upload", &["element", "strided", "map"]),
    ("draw", &["element", "map", "bridge"]),
    ("notation", &["element", "strided", "tiled", "map", "bridge"]),
    ("hlo", &["element", "tiled"]),
    // The rim: it sees everything, and nothing inside uses it.
    ("interop", &["element", "strided", "tiled", "map", "bridge", "relayout", "upload", "draw", "notation", "hlo"]),
];

/// What every folder may use.
const GROUND: &[&str] = &["error", "checked", "cursor"];

/// The only places for `unsafe`.
const UNSAFE: &[&str] = &["src/relayout/kernel/", "src/interop/", "src/bin/tensor-layout/mapped_file.rs"];

/// The only files of the command line that may open a file for writing. Both open none that exists already, which the SAFETY
/// arguments of mapped_file.rs rest on.
const WRITERS: &[&str] = &["src/bin/tensor-layout/new_file.rs", "src/bin/tensor-layout/mapped_file.rs"];

/// The ways of the standard library (and of tempfile) to get a handle that writes, or to change a file by its path.
const WRITING: &[&str] = &[
    "File::create",
    "create_new",
    "OpenOptions",
    "File::options",
    "fs::write",
    "fs::copy",
    "hard_link",
    "set_len",
    "tempfile",
];

/// The most lines of a file.
const LINES: usize = 500;

/// Names that say nothing about what is inside.
const VAGUE: &[&str] = &["util", "utils", "common", "base", "helper", "helpers", "misc", "shared", "stuff", "core"];

/// Every Rust file under a folder: its path from the root of the repository, and its text.
fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name: PathBuf = path.strip_prefix(root).unwrap().to_owned();
            found.push((name.to_str().unwrap().replace('\\', "/"), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} holds no Rust files");
    found
}

/// The code without comments. (A `//` inside a string ends its line here, which hides nothing these tests look for.)
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The first names of all `crate::` paths: `a` of `crate::a::b`, `a` and `b` of `use crate::{a::c, b}`.
fn used(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (position, _) in code.match_indices("crate::") {
        let before = code[..position].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[position + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => names.extend(first_name(rest)),
            Some(group) => {
                let (mut depth, mut start) = (0_usize, 0);
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth > 0 => depth -= 1,
                        ',' | '}' if depth == 0 => {
                            names.extend(first_name(&group[start..at]));
                            start = at + 1;
                        }
                        _ => {}
                    }
                    if c == '}' && depth == 0 && start == at + 1 {
                        break;
                    }
                }
            }
        }
    }
    names
}

fn first_name(path: &str) -> Option<String> {
    let path = path.trim_start();
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}

/// The folder of src (or the file right under it) that a file belongs to.
fn home(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap();
    inside.split('/').next().unwrap().trim_end_matches(".rs")
}

#[test]
fn arrows_point_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in files("src") {
        let home = home(&path);
        if home == "lib" || home == "bin" {
            continue;
        }
        let Some((_, may_use)) = ARROWS.iter().find(|(folder, _)| *folder == home) else {
            wrong.push(format!("{path}: the folder `{home}` has no row in the table"));
            continue;
        };
        for name in used(&code(&text)) {
            if name != home && !may_use.contains(&name.as_str()) && !GROUND.contains(&name.as_str()) {
                wrong.push(format!("{path} uses crate::{name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    for (row, (folder, may_use)) in ARROWS.iter().enumerate() {
        for name in *may_use {
            let place = ARROWS.iter().position(|(other, _)| other == name);
            assert!(place.is_some_and(|place| place < row), "`{folder}` may use `{name}`, which must stand above it");
        }
    }
}

#[test]
fn unsafe_stays_where_it_belongs() {
    for folder in ["src", "examples"] {
        for (path, text) in files(folder) {
            let words = |text: &str| {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                text.split(|c| !is_word(c)).any(|word| word == "unsafe")
            };
            let allowed = UNSAFE.iter().any(|place| path.starts_with(place));
            assert!(allowed || !words(&code(&text)), "{path} holds an unsafe block");
        }
    }
}

#[test]
fn mapped_files_are_not_written() {
    for (path, text) in files("src/bin/tensor-layout") {
        // What tests do to their own files is theirs to know.
        let code = code(&text);
        let program = code.split("#[cfg(test)]").next().unwrap();
        let holds = |call: &str| {
            let in_word = |at: usize| program[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            program.match_indices(call).any(|(at, _)| !in_word(at))
        };
        let writing: Vec<_> = WRITING.iter().filter(|call| holds(call)).collect();
        assert!(writing.is_empty() || WRITERS.contains(&path.as_str()), "{path} may write a mapped file: {writing:?}");
        assert!(!holds("File::create("), "{path} would empty a file that may be mapped");
    }
}

#[test]
fn files_stay_short() {
    for (path, text) in files("src") {
        let lines = text.lines().count();
        assert!(lines <= LINES, "{path} has {lines} lines, more than {LINES}");
    }
}

#[test]
fn names_say_what_is_inside() {
    for folder in ["src", "examples", "tests", "benches"] {
        for (path, _) in files(folder) {
            for part in path.split('/') {
                let name = part.trim_end_matches(".rs");
                assert!(!VAGUE.contains(&name) && !name.starts_with("impl_"), "{path}: `{name}` says nothing");
            }
        }
    }
}

#[test]
fn paths_are_found_in_every_spelling() {
    let code =
        "use crate::a::{b, c}; use crate::{d, e::{f, g}, h}; let x = crate::i::j(); $crate::k::l; my_crate::m::n";
    let expected: BTreeSet<String> = ["a", "d", "e", "h", "i"].map(str::to_owned).into();
    assert_eq!(used(code), expected);
}

//! The house rules: which folder may use which, where `unsafe` may be, how long a file may get.

mod comments;
mod graph;
mod inside;
mod paths;
mod source;

use self::graph::Crate;
use self::source::{code, files, is_word, program_files, without_tests};

/// What each folder of src may use. Data flows one way: nothing on the right of a row uses the folder on its
/// left.
///
/// `error`, `dims`, `checked` and `cursor` are below all folders.
const ARROWS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("dims", &[]),
    ("checked", &[]),
    ("cursor", &[]),
    ("short_sort", &[]),
    ("element", &[]),
    ("typed_sizes", &["element"]),
    ("strided", &["element", "typed_sizes"]),
    ("tiled", &["element", "typed_sizes"]),
    ("map", &["element", "strided"]),
    ("bridge", &["element", "strided", "tiled", "map"]),
    ("relayout", &["element", "strided", "map"]),
    ("upload", &["element", "strided", "map"]),
    ("draw", &["element", "map", "bridge"]),
    ("named", &["element", "typed_sizes", "strided", "tiled", "map"]),
    ("notation", &["element", "typed_sizes", "strided", "tiled", "map", "bridge", "named"]),
    // Re-exports for authors of back ends.
    ("plan", &["element", "strided", "map", "bridge", "relayout"]),
    // The rim: it sees everything, and nothing inside uses it.
    ("interop", &["element", "strided", "tiled", "map", "bridge", "relayout", "upload", "draw", "notation"]),
];

/// What every folder may use.
const GROUND: &[&str] = &["error", "dims", "checked", "cursor", "short_sort"];

/// The only places for `unsafe`.
const UNSAFE: &[&str] = &[
    "crates/kernel/src/",
    "src/interop/",
    "crates/capi/src/",
    "crates/cli/src/mapped_file.rs",
    "crates/cli/src/signals.rs",
    "crates/cli/src/terminal.rs",
    "python/src/memory.rs",
];

/// The only files of the command line that may open a file for writing. Both open none that exists already,
/// which the SAFETY arguments of mapped_file.rs rest on.
const WRITERS: &[&str] = &["crates/cli/src/new_file.rs", "crates/cli/src/mapped_file.rs"];

/// The ways of the standard library (and of tempfile) to get a handle that writes, or to change a file by its
/// path.
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

/// The folder of src (or the file right under it) that a file belongs to.
fn home(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap();
    inside.split('/').next().unwrap().trim_end_matches(".rs")
}

#[test]
fn arrows_point_one_way() {
    let mut wrong = Vec::new();
    let is_inside = |path: &str| home(path) != "lib";
    let files: Vec<_> = program_files("src").collect();
    for (path, _) in files.iter().filter(|(path, _)| is_inside(path)) {
        let folder = home(path);
        if !ARROWS.iter().any(|(row, _)| *row == folder) {
            wrong.push(format!("{path}: the folder `{folder}` has no row in the table"));
        }
    }
    // What a test uses to write its layouts down is its own business.
    let graph = Crate::new(files.into_iter().map(|(path, text)| (path, without_tests(&code(&text))))).graph();
    for (from, to, path) in graph.arrows().filter(|(from, ..)| is_inside(from)) {
        let (user, used) = (home(from), home(to));
        let may_use = ARROWS.iter().find(|(row, _)| *row == user).map_or(&[][..], |(_, may_use)| may_use);
        if used != user && !may_use.contains(&used) && !GROUND.contains(&used) {
            wrong.push(format!("{from} uses {to} (by {path})"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    for (row, (folder, may_use)) in ARROWS.iter().enumerate() {
        for name in *may_use {
            let place = ARROWS.iter().position(|(other, _)| other == name);
            assert!(place.is_some_and(|place| place < row), "`{folder}` may use `{name}`, which must be above it");
        }
    }
}

#[test]
fn unsafe_stays_where_it_belongs() {
    for folder in [
        "src",
        "crates/capi/src",
        "crates/hlo/src",
        "crates/kernel/src",
        "crates/shader/src",
        "crates/cli/src",
        "examples",
        "python/src",
    ] {
        for (path, text) in files(folder) {
            let words = |text: &str| text.split(|c| !is_word(c)).any(|word| word == "unsafe");
            let allowed = UNSAFE.iter().any(|place| path.starts_with(place));
            assert!(allowed || !words(&code(&text)), "{path} holds an unsafe block");
        }
    }
}

/// Plans decide: what depends on the machine is in the schedule that kernels are given.
#[test]
fn kernels_read_no_trait_of_the_machine() {
    for (path, text) in
        files("crates/kernel/src").into_iter().filter(|(path, _)| path.starts_with("crates/kernel/src/simd/"))
    {
        let program = without_tests(&code(&text));
        for word in ["Traits", "Knobs", "machine", "cpuid"] {
            assert!(!program.split(|c| !is_word(c)).any(|other| other == word), "{path} uses `{word}`");
        }
    }
}

#[test]
fn mapped_files_are_not_written() {
    // What tests do to their own files is theirs to know.
    for (path, text) in files("crates/cli/src").into_iter().filter(|(path, _)| !path.ends_with("/tests.rs")) {
        let program = without_tests(&code(&text));
        let holds = |call: &str| {
            let in_word = |at: usize| program[..at].ends_with(is_word);
            program.match_indices(call).any(|(at, _)| !in_word(at))
        };
        let writing: Vec<_> = WRITING.iter().filter(|call| holds(call)).collect();
        assert!(writing.is_empty() || WRITERS.contains(&path.as_str()), "{path} may write a mapped file: {writing:?}");
        assert!(!holds("File::create("), "{path} would empty a file that may be mapped");
    }
}

#[test]
fn files_stay_short() {
    for folder in [
        "src",
        "crates/capi/src",
        "crates/hlo/src",
        "crates/kernel/src",
        "crates/shader/src",
        "crates/cli/src",
        "python/src",
    ] {
        for (path, text) in files(folder) {
            let lines = text.lines().count();
            assert!(lines <= LINES, "{path} has {lines} lines, more than {LINES}");
        }
    }
}

#[test]
fn names_say_what_is_inside() {
    for folder in [
        "src",
        "python/src",
        "crates/capi",
        "crates/hlo",
        "crates/kernel/src",
        "crates/shader",
        "crates/cli/src",
        "crates/cli/tests",
        "examples",
        "tests",
        "benches",
    ] {
        for (path, _) in files(folder) {
            for part in path.split('/') {
                let name = part.trim_end_matches(".rs");
                assert!(!VAGUE.contains(&name) && !name.starts_with("impl_"), "{path}: `{name}` says nothing");
            }
        }
    }
}

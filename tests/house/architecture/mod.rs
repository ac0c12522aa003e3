//! The house rules: which folders may use which, where `unsafe` may be, and how long files and lines of
//! comments may be.

mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::TokenTree::{Group, Ident, Literal, Punct};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use self::graph::{arrows, circle};

/// The folders of src that each folder may use. Data flows one way: a folder on the right of a row does not
/// use the folder on the left.
const ARROWS: &[(&str, &[&str])] = &[
    ("element", &[]),
    ("typed_sizes", &["element"]),
    ("strided", &["element", "typed_sizes"]),
    ("tiled", &["element", "typed_sizes"]),
    ("map", &["element", "strided"]),
    ("bridge", &["element", "typed_sizes", "strided", "tiled", "map"]),
    ("relayout", &["element", "strided", "map"]),
    ("upload", &["element", "strided", "map", "bridge"]),
    // Re-exports for authors of back ends.
    ("plan", &["element", "typed_sizes", "strided", "tiled", "map", "relayout"]),
    // Structures of other libraries: `interop` may use every folder, and no folder uses `interop`.
    ("interop", &["element", "strided", "tiled", "map", "bridge", "relayout", "upload"]),
];

/// The modules that every folder may use.
const GROUND: &[&str] = &["exact", "error", "dims", "checked", "cursor", "short_sort"];

/// The only places for `unsafe`.
const UNSAFE: &str = "benches/peers/src/onednn.rs crates/capi/ crates/cuda/ crates/kernel/src/ python/ src/interop/ crates/wgpu/src/mapped.rs \
    crates/files/src/input.rs";

/// Folders in which files may use each other in circles, each with the reason.
const CIRCLES: &[(&str, &str)] = &[("python/src/", "new")];

/// The most lines of a file, and the most columns of a line of a comment with its indentation.
const LINES: usize = 500;
const COLUMNS: usize = 110;

/// Names that do not tell what a file contains.
const VAGUE: &str = "util utils common base helper helpers misc shared stuff core";

/// The path and the text of every Rust file of the repository.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = open.pop() {
        let built = ["target", "node_modules", "mutants.out", ".git"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !built {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// The files of each crate's `src` and their code, by the folder of the crate. Files of tests are left out.
fn crates() -> BTreeMap<String, Vec<(String, String)>> {
    let mut crates: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (path, text) in files().iter().filter(|(path, _)| !path.ends_with("tests.rs") && !path.contains("tests/")) {
        if let Some((folder, below)) = path.split_once("src/") {
            let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            crates.entry(folder.to_owned()).or_default().push((below.to_owned(), code(program.parse().unwrap())));
        }
    }
    crates
}

/// The names and marks of the code, each followed by a blank, with no blanks around `::`. Comments and
/// literals are left out.
fn code(tokens: TokenStream) -> String {
    let print = |token: TokenTree| match token {
        Group(group) if group.delimiter() == Delimiter::Brace => format!("{{ {}}} ", code(group.stream())),
        Group(group) => format!("( {}) ", code(group.stream())),
        Ident(name) => format!("{name} "),
        Punct(mark) => format!("{mark} "),
        Literal(_) => String::new(),
    };
    tokens.into_iter().map(print).collect::<String>().replace(" : : ", "::")
}

#[test]
fn arrows_point_one_way() {
    for (from, to, by) in arrows(&crates()[""]) {
        let (Some(user), Some(used)) = (from.first(), to.first().map(String::as_str)) else { continue };
        let row = ARROWS.iter().find(|(name, _)| name == user);
        let allowed = row.is_some_and(|(_, may_use)| may_use.contains(&used)) || GROUND.contains(&used);
        assert!(user == used || allowed, "{} uses {} (by {by})", from.join("::"), to.join("::"));
    }
}

#[test]
fn files_use_each_other_in_no_circle() {
    let mut found = String::new();
    for (folder, files) in crates() {
        let arrows = arrows(&files);
        let parents = arrows.iter().flat_map(|(from, ..)| (0..=from.len()).map(|length| &from[..length]));
        for parent in parents.collect::<BTreeSet<_>>() {
            let place = format!("{folder}src/{}", parent.join("/"));
            if !CIRCLES.iter().any(|(allowed, _)| place.starts_with(allowed)) {
                found += &circle(&arrows, parent).replacen("\n", &format!("\nin {place}\n"), 1);
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn unsafe_stays_where_it_belongs() {
    for (folder, files) in crates() {
        for (path, code) in files.into_iter().map(|(path, code)| (format!("{folder}src/{path}"), code)) {
            let allowed = UNSAFE.split(' ').any(|place| path.starts_with(place));
            assert!(allowed || !code.contains(" unsafe "), "{path} holds an unsafe block");
        }
    }
}

#[test]
fn files_stay_short_and_names_say_what_is_inside() {
    for (path, text) in files() {
        let lines = text.lines().count();
        assert!(lines <= LINES || !path.contains("src/"), "{path} has {lines} lines, more than {LINES}");
        for name in path.split('/').map(|part| part.trim_end_matches(".rs")) {
            let vague = name.starts_with("impl_") || VAGUE.split(' ').any(|vague| vague == name);
            assert!(!vague, "{path}: `{name}` says nothing");
        }
    }
}

/// Examples, tables and drawings of the documentation may be wider.
#[test]
fn comments_are_narrow() {
    for (path, text) in files() {
        let mut in_example = false;
        for (number, line) in (1..).zip(text.lines().map(str::trim_end)) {
            let comment = line.trim_start();
            let words = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!")).map(str::trim_start);
            in_example = words.is_some_and(|words| in_example != words.starts_with("```"));
            let free = in_example || words.is_some_and(|words| words.starts_with('|'));
            let narrow = free || !comment.starts_with("//") || line.chars().count() <= COLUMNS;
            assert!(narrow, "{path}:{number}: a comment of more than {COLUMNS} columns");
        }
    }
}

#[test]
fn circles_and_arrows_are_found() {
    let files = [
        ("lib.rs", "mod a; mod d; pub use a::B; /* crate::e */ mod e;"),
        ("a/mod.rs", "mod b; mod c; pub use b::{self, B}; pub(crate) use {c::make as made};"),
        ("a/b.rs", "pub struct B;"),
        ("a/c.rs", "use super::b::B; pub fn make() -> B { other::d::x() }"),
        ("d.rs", "fn d(b: crate::B) { vec![crate::a::made::<u8>(self::d)] } fn e() -> impl Sized + use<'a> {}"),
        ("e.rs", "use super::{d, a::{b::*, c as f}}; pub struct E;"),
    ];
    let mut files = files.map(|(path, text)| (path.to_owned(), code(text.parse().unwrap())));
    let found = arrows(&files);
    let shown = found.iter().map(|(from, to, _)| format!("{}->{}", from.join("/"), to.join("/")));
    assert_eq!(shown.collect::<Vec<_>>(), ["a/c->a/b", "d->a/b", "d->a/c", "e->d", "e->a/b", "e->a/c"]);
    assert_eq!(circle(&found, &[]), "");
    files[2].1 = code("use crate::e::E;".parse().unwrap());
    let found = arrows(&files);
    assert!(circle(&found, &[]).starts_with("\n  a -> e (by e::E in a::b)\n  d -> a (by B in d)"));
    assert_eq!(circle(&found, &["a".to_owned()]), "");
}

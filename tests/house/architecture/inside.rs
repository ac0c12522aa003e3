//! The arrows inside folders: between the files of `map` and `tiled`, and between the rooms of `relayout`.

use std::collections::BTreeSet;

use super::graph::{Crate, Graph};
use super::source::{code, program_files, without_tests};

/// The files of a folder on floors, the ground floor first. A file uses files of lower floors only: none of
/// its own floor, and none above. `mod.rs` holds declarations, and no one uses it.
const FLOORS: &[(&str, &[&[&str]])] = &[
    (
        "src/map/",
        &[
            &["digits", "layout_class", "levels", "offset_box", "storage_rule"],
            &["deviation", "index_map", "refine"],
            &["reversed"],
            &[
                "atoms",
                "boxes",
                "from_digits",
                "injective",
                "inverse",
                "mixed_radix",
                "normal_form",
                "places",
                "view",
                "walk",
            ],
            &["difference", "from_tiles", "invariants", "padding", "reshape"],
            &["equality"],
            &["contiguous"],
        ],
    ),
    (
        "src/tiled/",
        &[
            &["layout"],
            &["array"],
            &["expand", "facts", "shape"],
            &["parse_sizes", "print", "tpu"],
            &["parse_layout"],
            &["parse"],
        ],
    ),
];

/// A group of files: a folder with all below it (its name ends with `/`), or one file. A file belongs to the
/// longest name that its path begins with.
struct Room {
    name: &'static str,
    /// What it may use besides itself.
    may_use: &'static [&'static str],
}

/// The rooms of `relayout`: verbs use exec and plan, exec uses plan. The kernels are a crate of their own,
/// which depends on nothing. A plan is made for a level.
const RELAYOUT: &[Room] = &[
    // The public verbs.
    Room { name: "src/relayout/", may_use: &["src/relayout/exec/", "src/relayout/plan/"] },
    Room { name: "src/relayout/exec/", may_use: &["src/relayout/plan/"] },
    Room { name: "src/relayout/plan/", may_use: &["src/relayout/cpu_family.rs", "src/relayout/level.rs"] },
];

fn graph() -> Graph {
    Crate::new(program_files("src").map(|(name, text)| {
        let code = without_tests(&code(&text));
        (name, code)
    }))
    .graph()
}

/// The arrows from one room to another that no row allows. Files outside all rooms are none of its business.
fn forbidden(graph: &Graph, rooms: &[Room]) -> Vec<String> {
    let room = |file: &str| rooms.iter().filter(|room| file.starts_with(room.name)).max_by_key(|room| room.name.len());
    let mut wrong = Vec::new();
    for (from, to, path) in graph.arrows() {
        let (Some(user), Some(used)) = (room(from), room(to)) else { continue };
        if user.name != used.name && !user.may_use.iter().any(|allowed| to.starts_with(allowed)) {
            wrong.push(format!("{from} uses {to} (by {path}), and {} must not", user.name));
        }
    }
    wrong
}

/// The arrows of a folder's files that do not go down, and the names that are missing or too many.
fn not_downward(graph: &Graph, present: &BTreeSet<String>, folder: &str, floors: &[&[&str]]) -> Vec<String> {
    let path = |name: &str| format!("{folder}{name}.rs");
    let floor = |file: &str| floors.iter().position(|floor| floor.iter().any(|name| path(name) == file));
    let module = path("mod");
    let mut wrong = Vec::new();
    for (from, to, by) in graph.inside(folder).arrows() {
        if to == module {
            wrong.push(format!("{from} uses {to} (by {by})"));
        } else if floor(from).zip(floor(to)).is_some_and(|(user, used)| user <= used) {
            wrong.push(format!("{from} uses {to} (by {by}), which is on no lower floor"));
        }
    }
    let listed: BTreeSet<String> = floors.concat().into_iter().map(path).chain([module.clone()]).collect();
    wrong.extend(present.difference(&listed).map(|file| format!("{file} is on no floor")));
    wrong.extend(listed.difference(present).map(|file| format!("{file} is listed, but not there")));
    wrong
}

#[test]
fn files_of_a_folder_use_those_below_them() {
    let graph = graph();
    for (folder, floors) in FLOORS {
        let present = program_files(folder).map(|(name, _)| name).collect();
        let wrong = not_downward(&graph, &present, folder, floors);
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

#[test]
fn rooms_of_relayout_use_what_they_may() {
    let wrong = forbidden(&graph(), RELAYOUT);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_circle_in_any_folder() {
    let graph = graph();
    // In each folder its files are nodes, and the folders in it, each with all its files as one.
    let mut folders = BTreeSet::from(["src/".to_owned()]);
    for (name, _) in program_files("src") {
        let ends = name.match_indices('/').map(|(at, _)| &name[..=at]);
        folders.extend(ends.map(str::to_owned));
    }
    let mut circles = Vec::new();
    for folder in folders {
        if let Some(circle) = graph.inside(&folder).circle() {
            circles.push(format!("a circle in {folder}:\n{circle}"));
        }
    }
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}

#[test]
fn an_arrow_between_rooms_needs_a_row() {
    let files = [
        ("src/a/mod.rs", "mod low; mod high; mod verb; mod open;"),
        ("src/a/verb.rs", "use super::high::do_it; use super::low::part::secret;"),
        ("src/a/open.rs", "pub enum Open {}"),
        ("src/a/high/mod.rs", "mod part; pub use part::do_it;"),
        ("src/a/high/part.rs", "use crate::a::low::{public, part::secret}; use crate::a::open::Open; fn do_it() {}"),
        ("src/a/low/mod.rs", "mod part; mod public;"),
        ("src/a/low/public.rs", "use super::part::secret;"),
        ("src/a/low/part.rs", "use crate::a::verb::run; fn secret() { super::super::open::Open::A }"),
        ("src/b.rs", "use crate::a::low::part::secret;"),
    ];
    let rooms = [
        Room { name: "src/a/", may_use: &["src/a/high/", "src/a/open.rs"] },
        Room { name: "src/a/open.rs", may_use: &[] },
        Room { name: "src/a/high/", may_use: &["src/a/low/public.rs", "src/a/open.rs"] },
        Room { name: "src/a/low/", may_use: &[] },
    ];
    let graph = Crate::new(files.map(|(name, code)| (name.to_owned(), code.to_owned()))).graph();
    assert_eq!(
        forbidden(&graph, &rooms),
        [
            "src/a/high/part.rs uses src/a/low/part.rs (by crate::a::low::part::secret), and src/a/high/ must not",
            "src/a/low/part.rs uses src/a/open.rs (by super::super::open::Open::A), and src/a/low/ must not",
            "src/a/low/part.rs uses src/a/verb.rs (by crate::a::verb::run), and src/a/low/ must not",
            "src/a/verb.rs uses src/a/low/part.rs (by super::low::part::secret), and src/a/ must not",
        ]
    );
}

#[test]
fn an_arrow_up_or_along_a_floor_is_found() {
    let files = [
        ("src/a/mod.rs", "mod one; mod two; mod three; mod four; fn here() {}"),
        ("src/a/one.rs", "use super::three::Three;"),
        ("src/a/two.rs", "use super::one::One; use super::here;"),
        ("src/a/three.rs", "use super::one::One; pub struct Three;"),
        ("src/a/four.rs", ""),
    ];
    let graph = Crate::new(files.map(|(name, code)| (name.to_owned(), code.to_owned()))).graph();
    let present = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    let wrong = not_downward(&graph, &present, "src/a/", &[&["one", "two"], &["three", "five"]]);
    assert_eq!(
        wrong,
        [
            "src/a/one.rs uses src/a/three.rs (by super::three::Three in src/a/one.rs), which is on no lower floor",
            "src/a/two.rs uses src/a/mod.rs (by super::here in src/a/two.rs)",
            "src/a/two.rs uses src/a/one.rs (by super::one::One in src/a/two.rs), which is on no lower floor",
            "src/a/four.rs is on no floor",
            "src/a/five.rs is listed, but not there",
        ]
    );
}

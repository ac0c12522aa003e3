//! Which file uses which, and the shortest circle among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::paths::{Written, defined, written};

/// A file, by its path from the root of the repository.
type Name = String;

/// Arrows from each node to those it uses, each with the path that says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Graph(BTreeMap<Name, BTreeMap<Name, String>>);

impl Graph {
    fn insert(&mut self, from: &str, to: &str, path: &str) {
        if from != to {
            self.0.entry(from.to_owned()).or_default().entry(to.to_owned()).or_insert_with(|| path.to_owned());
        }
    }

    /// All arrows: from, to, and the path.
    pub(crate) fn arrows(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.0
            .iter()
            .flat_map(|(from, used)| used.iter().map(move |(to, path)| (from.as_str(), to.as_str(), path.as_str())))
    }

    /// The graph of the files and folders right inside `folder` (which ends with `/`): all files of a folder
    /// are one node.
    pub(crate) fn inside(&self, folder: &str) -> Graph {
        let node = |file: &str| {
            let rest = file.strip_prefix(folder)?;
            let name = rest.find('/').map_or(rest, |end| &rest[..=end]);
            Some(format!("{folder}{name}"))
        };
        let mut graph = Graph::default();
        for (from, to, path) in self.arrows() {
            if let (Some(from_node), Some(to_node)) = (node(from), node(to)) {
                graph.insert(&from_node, &to_node, &format!("{path} in {from}"));
            }
        }
        graph
    }

    /// A shortest circle, as a drawing.
    pub(crate) fn circle(&self) -> Option<String> {
        let nodes = self.shortest_circle()?;
        let mut drawing = nodes.first()?.to_string();
        for pair in nodes.windows(2) {
            drawing += &format!("\n    -> {}    (by {})", pair[1], self.0[pair[0]][pair[1]]);
        }
        Some(drawing)
    }

    /// Its nodes in order, the first again at the end.
    fn shortest_circle(&self) -> Option<Vec<&str>> {
        self.0.keys().filter_map(|start| self.way_back(start)).min_by_key(Vec::len)
    }

    /// A shortest way from a node to itself, by breadth-first search.
    fn way_back<'a>(&'a self, start: &'a str) -> Option<Vec<&'a str>> {
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for next in self.0.get(node).into_iter().flat_map(BTreeMap::keys) {
                if next == start {
                    let mut way = vec![start, node];
                    while let Some(before) = way.last().and_then(|last| came_from.get(last)) {
                        way.push(before);
                    }
                    way.reverse();
                    return Some(way);
                }
                if !came_from.contains_key(next.as_str()) {
                    came_from.insert(next, node);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// The files of a crate, and the modules they are.
pub(crate) struct Crate {
    files: Vec<File>,
    /// By module path; the crate's root is the empty one.
    modules: BTreeMap<Vec<String>, usize>,
}

struct File {
    name: Name,
    module: Vec<String>,
    paths: Vec<Written>,
    defined: BTreeSet<String>,
}

impl Crate {
    /// From the files of `src`, as path and code.
    pub(crate) fn new(files: impl IntoIterator<Item = (String, String)>) -> Crate {
        let file = |(name, code): (String, String)| {
            assert!(!code.contains("#[path"), "{name}: a module from another path is not followed");
            File { module: module(&name), paths: written(&code), defined: defined(&code), name }
        };
        let files: Vec<File> = files.into_iter().map(file).collect();
        let modules = files.iter().enumerate().map(|(place, file)| (file.module.clone(), place)).collect();
        Crate { files, modules }
    }

    /// Which file uses which.
    ///
    /// A name that a file only passes on (`pub use`) is looked up where it is defined. That a module passes
    /// on names of those below it is not a use of them.
    pub(crate) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        for file in &self.files {
            for path in &file.paths {
                let passed_on = path.import.as_ref().is_some_and(|import| import.public);
                for target in self.targets(file, path) {
                    let below = target.module.len() > file.module.len() && target.module.starts_with(&file.module);
                    if !(passed_on && below) {
                        graph.insert(&file.name, &target.name, &path.segments.join("::"));
                    }
                }
            }
        }
        graph
    }

    /// The files in which a path ends: none for another crate's, several for a glob import.
    fn targets(&self, file: &File, path: &Written) -> Vec<&File> {
        let mut found = BTreeSet::new();
        self.follow(file, path, &mut Vec::new(), &mut found);
        found.into_iter().map(|place| &self.files[place]).collect()
    }

    /// Adds them to `found`. `seen` holds the names that are being looked up.
    fn follow(&self, file: &File, path: &Written, seen: &mut Vec<(Name, String)>, found: &mut BTreeSet<usize>) {
        let here = [file.module.as_slice(), &path.inside].concat();
        let Some((module, rest)) = self.walk(here, &path.segments) else { return };
        let Some(place) = self.file_of(&module) else { return };
        match rest {
            None => {
                found.insert(place);
            }
            Some(name) => self.look_up(&self.files[place], name, seen, found),
        }
    }

    /// The module that a path leads to from the module `here`, and the name after it, if any. `None` for
    /// another crate's.
    fn walk<'a>(&self, here: Vec<String>, segments: &'a [String]) -> Option<(Vec<String>, Option<&'a str>)> {
        let (first, mut rest) = segments.split_first()?;
        let mut module = here;
        match first.as_str() {
            "crate" => module.clear(),
            "self" => {}
            "super" => {
                module.pop();
            }
            name => {
                module.push(name.to_owned());
                self.modules.get(&module)?;
            }
        }
        while let Some((segment, after)) = rest.split_first() {
            if segment == "super" {
                module.pop();
            } else {
                module.push(segment.clone());
                if !self.modules.contains_key(&module) {
                    module.pop();
                    return Some((module, Some(segment)));
                }
            }
            rest = after;
        }
        Some((module, None))
    }

    /// The file that a module is in: its own, or that of the module around an inline one.
    fn file_of(&self, module: &[String]) -> Option<usize> {
        (0..=module.len()).rev().find_map(|length| self.modules.get(&module[..length]).copied())
    }

    /// Where a name of a module is defined: in the file itself, or where its imports lead.
    fn look_up(&self, file: &File, name: &str, seen: &mut Vec<(Name, String)>, found: &mut BTreeSet<usize>) {
        let key = (file.name.clone(), name.to_owned());
        if seen.contains(&key) {
            return;
        }
        seen.push(key);
        let place = self.modules[&file.module];
        if name == "*" {
            found.insert(place);
            // All that its imports bring.
            for path in file.paths.iter().filter(|path| path.import.is_some()) {
                self.follow(file, path, seen, found);
            }
            return;
        }
        if file.defined.contains(name) {
            found.insert(place);
            return;
        }
        let mut imported = false;
        for path in &file.paths {
            match &path.import {
                Some(import) if import.name == name => {
                    imported = true;
                    self.follow(file, path, seen, found);
                }
                // The name may come from there.
                Some(import) if import.name == "*" => {
                    let here = [file.module.as_slice(), &path.inside].concat();
                    let source = self.walk(here, &path.segments).and_then(|(module, _)| self.file_of(&module));
                    if let Some(source) = source.filter(|&source| self.provides(source, name, &mut Vec::new())) {
                        imported = true;
                        self.look_up(&self.files[source], name, seen, found);
                    }
                }
                _ => {}
            }
        }
        if !imported {
            // Made by a macro.
            found.insert(place);
        }
    }

    /// Does a file define or import a name?
    fn provides(&self, place: usize, name: &str, seen: &mut Vec<usize>) -> bool {
        if seen.contains(&place) {
            return false;
        }
        seen.push(place);
        let file = &self.files[place];
        file.defined.contains(name)
            || file.paths.iter().any(|path| match &path.import {
                Some(import) if import.name == name => true,
                Some(import) if import.name == "*" => {
                    let here = [file.module.as_slice(), &path.inside].concat();
                    let source = self.walk(here, &path.segments).and_then(|(module, _)| self.file_of(&module));
                    source.is_some_and(|source| self.provides(source, name, seen))
                }
                _ => false,
            })
    }
}

/// `src/a/b.rs` is the module `a::b`, `src/a/mod.rs` is `a`, `src/lib.rs` the root.
fn module(file: &str) -> Vec<String> {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> Graph {
        Crate::new(files.iter().map(|&(name, code)| (name.to_owned(), code.to_owned()))).graph()
    }

    /// `a->b` for every arrow, without `src/` and `.rs`.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let short = |file: &str| file.trim_start_matches("src/").trim_end_matches(".rs").to_owned();
        graph(files).arrows().map(|(from, to, _)| format!("{}->{}", short(from), short(to))).collect()
    }

    #[test]
    fn paths_lead_to_files_however_they_are_written() {
        let files = [
            ("src/lib.rs", "pub mod a; mod d; pub use a::B;"),
            ("src/a/mod.rs", "mod b; mod c; mod e; pub use b::B; pub(crate) use c::{make as made};"),
            ("src/a/b.rs", "pub struct B; "),
            ("src/a/c.rs", "use super::b::B; pub fn make() -> B {}"),
            ("src/a/e/mod.rs", "pub(super) mod f; mod g; use f::F; struct E(F);"),
            ("src/a/e/f.rs", "use super::super::{c::make}; pub struct F;"),
            ("src/a/e/g.rs", "mod inner { use super::super::f; } fn g() { super::super::b::B::new() }"),
            ("src/d.rs", "use std::fmt; fn d(b: crate::B) { crate::a::made::<u8>(self::d); other::b::B }"),
        ];
        let expected = ["a/c->a/b", "a/e/f->a/c", "a/e/g->a/b", "a/e/g->a/e/f", "a/e/mod->a/e/f", "d->a/b", "d->a/c"];
        assert_eq!(arrows(&files), expected);
    }

    #[test]
    fn glob_imports_use_all_that_they_bring() {
        let files = [
            ("src/a/mod.rs", "mod b; mod c; mod d; mod e; pub use b::*; use c::C;"),
            ("src/a/b.rs", "pub struct B;"),
            ("src/a/c.rs", "pub struct C;"),
            ("src/a/d.rs", "use super::*;"),
            ("src/a/e.rs", "use super::B;"),
        ];
        assert_eq!(arrows(&files), ["a/d->a/b", "a/d->a/c", "a/d->a/mod", "a/e->a/b", "a/mod->a/c"]);
    }

    #[test]
    fn what_a_module_defines_is_its_own() {
        let files = [("src/a/mod.rs", "mod b; pub use b::b; fn help() {}"), ("src/a/b.rs", "fn b() { super::help() }")];
        assert_eq!(arrows(&files), ["a/b->a/mod"]);
        // Passing on another folder's name is a use.
        let files = [("src/a.rs", "pub use crate::b::x;"), ("src/b.rs", "pub fn x() {}")];
        assert_eq!(arrows(&files), ["a->b"]);
        // Names that are only passed round are nowhere.
        let files = [("src/a.rs", "pub use crate::b::x;"), ("src/b.rs", "pub use crate::a::x;")];
        assert_eq!(arrows(&files), [""; 0]);
    }

    #[test]
    fn circles_are_found_and_drawn() {
        let chain = [("src/a.rs", "use crate::b::B;"), ("src/b.rs", "use crate::c;"), ("src/c.rs", "struct C;")];
        assert_eq!(graph(&chain).circle(), None);
        let mut files = chain.to_vec();
        files[2].1 = "fn c() { crate::a::f() }";
        let drawing = graph(&files).circle().unwrap();
        assert!(drawing.starts_with("src/a.rs\n    -> src/b.rs    (by crate::b::B)\n    -> src/c.rs"), "{drawing}");
        assert!(drawing.ends_with("-> src/a.rs    (by crate::a::f)"), "{drawing}");
        // The shortest of several.
        files.push(("src/d.rs", "use crate::e::E;"));
        files.push(("src/e.rs", "use super::d::D;"));
        assert!(graph(&files).circle().unwrap().starts_with("src/d.rs\n    -> src/e.rs"));
    }

    #[test]
    fn folders_are_single_nodes_from_outside() {
        let files = [
            ("src/a/mod.rs", "mod b; mod c;"),
            ("src/a/b/mod.rs", "mod one; mod two;"),
            ("src/a/b/one.rs", "use crate::a::c::C;"),
            ("src/a/b/two.rs", ""),
            ("src/a/c.rs", "use super::b::two::T;"),
        ];
        assert_eq!(graph(&files).circle(), None);
        assert_eq!(graph(&files).inside("src/a/b/"), Graph::default());
        let drawing = graph(&files).inside("src/a/").circle().unwrap();
        assert!(
            drawing.starts_with("src/a/b/\n    -> src/a/c.rs    (by crate::a::c::C in src/a/b/one.rs)"),
            "{drawing}"
        );
    }
}

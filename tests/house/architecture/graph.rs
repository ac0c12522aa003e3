//! Which modules of a crate use which, and circles among them.
//!
//! A path that begins with `crate`, `self`, `super` or a child's name is followed through the crate's modules
//! as far as it names modules. The next name is looked up in the `use` lines of the last module, which may
//! lead to another module.
//!
//! ```text
//! a/mod.rs   pub use b::B;
//! a/c.rs     use super::B;                  a::c uses a::b
//! d.rs       fn d(b: crate::a::B)           d uses a::b; seen from the root: d uses a
//! ```
//!
//! A module that passes on names of the modules below it (`pub use`) does not use them.

use std::collections::{BTreeMap, BTreeSet};

/// The names of a module from the root of a crate. The root itself has none.
type Module = Vec<String>;

/// A module that uses another module, the used module, and the path in the code.
pub(crate) type Arrow = (Module, Module, String);

/// A path from the root of the crate. An import also has the name that it defines, and whether that name is
/// public.
type Use = (Vec<String>, Option<(String, bool)>);

/// The arrows between the files of a crate. Each file is given as its path below `src/` and its code.
pub(crate) fn arrows(files: &[(String, String)]) -> Vec<Arrow> {
    let mut modules: BTreeMap<Module, Vec<Use>> = files.iter().map(|(path, _)| (module(path), Vec::new())).collect();
    for (path, code) in files {
        let here = module(path);
        let from_root = |(path, import): (String, _)| Some((absolute(&modules, &here, &path)?, import));
        let uses = paths(code).into_iter().filter_map(from_root).collect();
        modules.insert(here, uses);
    }
    let mut arrows = Vec::new();
    for (from, (path, import)) in modules.iter().flat_map(|(from, uses)| uses.iter().map(move |one| (from, one))) {
        let to = target(&modules, path, 8);
        let passed_on = matches!(import, Some((_, true))) && to.starts_with(from);
        if to != *from && !passed_on {
            arrows.push((from.clone(), to, path.join("::")));
        }
    }
    arrows
}

/// The module of a file: `map/view.rs` is `map::view`, `map/mod.rs` is `map`, `lib.rs` is the root.
fn module(path: &str) -> Module {
    let names = path.trim_end_matches(".rs").split('/').filter(|name| !["mod", "lib"].contains(name));
    names.map(str::to_owned).collect()
}

/// All paths in the code. Each import has the name that it defines, and whether that name is public.
fn paths(code: &str) -> Vec<(String, Option<(String, bool)>)> {
    let (mut found, mut before) = (Vec::new(), "");
    let mut words = code.split_whitespace();
    while let Some(word) = words.next() {
        if word == "use" {
            let tree = words.by_ref().take_while(|word| *word != ";");
            let tree: String = tree.map(|word| if word == "as" { " as " } else { word }).collect();
            for path in branches(&tree) {
                let (path, name) = path.split_once(" as ").unwrap_or((&path, path.rsplit("::").next().unwrap_or("")));
                found.push((path.to_owned(), Some((name.to_owned(), ["pub", ")"].contains(&before)))));
            }
        } else if word.contains("::") {
            found.push((word.to_owned(), None));
        }
        before = word;
    }
    found
}

/// Splits a `use` tree: `a::{b, c::{self, d as e}}` is `a::b`, `a::c` and `a::c::d as e`.
fn branches(tree: &str) -> Vec<String> {
    let Some((stem, rest)) = tree.split_once('{') else {
        return vec![tree.strip_suffix("::self").unwrap_or(tree).to_owned()];
    };
    let mut depth = 0;
    let list = rest.strip_suffix('}').unwrap_or(rest).split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    list.filter(|branch| !branch.is_empty()).flat_map(|branch| branches(&format!("{stem}{branch}"))).collect()
}

/// Returns a path from the root of the crate, or `None` for a path of another crate.
fn absolute(modules: &BTreeMap<Module, Vec<Use>>, here: &Module, path: &str) -> Option<Vec<String>> {
    let mut whole = here.clone();
    for (place, name) in path.split("::").enumerate() {
        match name {
            "crate" => whole.clear(),
            "self" => {}
            "super" => drop(whole.pop()),
            _ => whole.push(name.to_owned()),
        }
        if place == 0 && whole.len() > here.len() && !modules.contains_key(&whole) {
            return None;
        }
    }
    Some(whole)
}

/// The module in which a path ends, after at most `hops` re-exports.
fn target(modules: &BTreeMap<Module, Vec<Use>>, path: &[String], hops: usize) -> Module {
    let length = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length])).unwrap_or(0);
    let (module, rest) = path.split_at(length);
    let named = |one: &&Use| one.1.as_ref().is_some_and(|(name, _)| Some(name) == rest.first());
    match modules.get(module).and_then(|uses| uses.iter().find(named)) {
        Some((path, _)) if hops > 0 => target(modules, path, hops - 1),
        _ => module.to_vec(),
    }
}

/// The circles among the modules directly below `parent`. Each module counts with all modules below it; `mod`
/// is the file of `parent`.
pub(crate) fn circle(arrows: &[Arrow], parent: &[String]) -> String {
    let node = |module: &Module| Some(module.strip_prefix(parent)?.first().map_or("mod", String::as_str).to_owned());
    let ends = arrows.iter().filter_map(|arrow| Some((node(&arrow.0)?, node(&arrow.1)?, arrow)));
    let mut open: Vec<_> = ends.filter(|(from, to, _)| from != to).collect();
    // A module that uses no module, or that no module uses, is in no circle. Its arrows are removed.
    let mut before = usize::MAX;
    while open.len() < before {
        before = open.len();
        let (users, used): (BTreeSet<_>, BTreeSet<_>) = open.iter().cloned().map(|(from, to, _)| (from, to)).unzip();
        open.retain(|(from, to, _)| users.contains(to) && used.contains(from));
    }
    let drawn =
        open.iter().map(|(from, to, (user, _, by))| format!("\n  {from} -> {to} (by {by} in {})", user.join("::")));
    drawn.collect()
}

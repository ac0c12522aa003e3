//! Finds the public types of a crate that a test does not name.

use std::fs;
use std::path::Path;

/// The public types in the files of `folder` that `text` does not name. `text` is a file that asserts
/// something of each type.
pub(crate) fn missing_in(text: &str, folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    public_types(folder, &mut names);
    assert!(names.len() > 10, "{names:?}");
    // Comments name types too, and are left out.
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let asserted: Vec<&str> = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).collect();
    names.retain(|name| !asserted.contains(&name.as_str()));
    names
}

/// The names after `pub struct`, `pub enum` and `pub union` in the files of a folder.
fn public_types(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            public_types(&path, names);
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some("pub") && matches!(words.next(), Some("struct" | "enum" | "union")) {
                let name = words.next().unwrap_or_default();
                let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
                names.push(name[..end].to_owned());
            }
        }
    }
}

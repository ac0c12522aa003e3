//! Writes a copy of the library that holds all of its mutants at once: mutant schemata (Untch, Offutt and Harrold, 1993).
//!
//! `tensor-layout-mutants LIST SKIPPED FROM TO`: LIST is what `cargo mutants --list --json` says of the tree FROM, SKIPPED a file with the
//! numbers of those (their places in the list) that do not compile. Files with mutants are written to TO, which has a copy of the tree; `lib.rs`
//! gets the switch. Prints the numbers of those that have no place in an expression: in constants, and in conditions with `let`.

mod list;
mod places;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use list::Mutant;
use places::{ByPlace, Places};

const SWITCH: &str = include_str!("../switch.rs");

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, skipped, from, to] = arguments.as_slice() else {
        return Err("tensor-layout-mutants LIST SKIPPED FROM TO".into());
    };
    let mutants: Vec<Mutant> = serde_json::from_str(&fs::read_to_string(list)?)?;
    let skipped = fs::read_to_string(skipped)?;
    let skipped: HashSet<usize> = skipped.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, mutant) in mutants.iter().enumerate() {
        // Also those of which every mutant is skipped: they were written with them before.
        let numbers = files.entry(&mutant.file).or_default();
        if !skipped.contains(&number) {
            numbers.push(number);
        }
    }
    for (file, numbers) in files {
        let text = fs::read_to_string(Path::new(from).join(file))?;
        let mut by_place = ByPlace::new();
        for &number in &numbers {
            let mutant = &mutants[number];
            let place = (mutant.span.start.byte(&text), mutant.genre);
            by_place.entry(place).or_default().push((number, mutant.replacement.clone()));
        }
        let places = Places::of(&text, &by_place)?;
        numbers.iter().filter(|number| !places.found.contains(number)).for_each(|number| println!("{number}"));
        write(&Path::new(to).join(file), &text::with_mutants(&text, &places.nodes))?;
    }
    // Inner attributes come first, the rest of the switch behind all.
    let root = "src/lib.rs";
    let library = fs::read_to_string(Path::new(from).join(root))?;
    let (attributes, items) = SWITCH.split_once("\n\n").ok_or("switch.rs begins with attributes and an empty line")?;
    write(&Path::new(to).join(root), &format!("{attributes}\n{library}\n{items}"))?;
    Ok(())
}

/// A file that is as it was keeps its time, so that nothing is built again for it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

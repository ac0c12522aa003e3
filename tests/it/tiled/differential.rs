//! The reader of shapes is compared with XLA's reader, on texts whose outcome was recorded
//! (tests/data/xla_differential.py).
//!
//! docs/XLA.md lists the differences. Each difference has a line here, and there are no others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tensor_layout::{DataType, Shape};

/// The reasons why this crate refuses texts that XLA reads: a part of the error, and the difference in
/// docs/XLA.md.
const REFUSED: [(&str, &str); 24] = [
    ("a dimension that was not named before", "a permutation"),
    ("a dimension below the rank", "a permutation"),
    ("the number of a dimension", "a permutation"),
    // XLA continues with the next part if a part is not finished.
    ("expected `,` or `)`, found", "unfinished parts"),
    ("expected `)`, found", "unfinished parts"),
    ("expected `(` and a", "unfinished parts"),
    ("expected a number, found `}`", "unfinished parts"),
    ("expected a number, found `M`", "unfinished parts"),
    ("expected a data type such as f32, bf16, s8 or pred, found `*`", "unfinished parts"),
    ("expected a tile size or `*`, found `}`", "unfinished parts"),
    ("expected a tile size or `*`, found `#`", "unfinished parts"),
    ("found `-`", "negative numbers"),
    ("a tile size of at least 1", "tile size 0"),
    ("a tile size, as `*` joins", "`*` in the last place"),
    ("below 2^63", "numbers that wrap"),
    ("a memory space of at most 127", "numbers that wrap"),
    ("an unsigned integer type", "index and pointer types"),
    ("s8 or pred, found `)`", "index and pointer types"),
    ("s8 or pred, found `token`", "index and pointer types"),
    ("at least one index, in ascending order", "divisions"),
    ("sizes whose product is below 2^64", "sizes that overflow"),
    ("D( with", "level types"),
    ("an array with a bound for every size", "buffers without a bound"),
    ("a number of bits below 2^32", "numbers that wrap"),
];

/// Returns the reason why this crate reads a text that XLA refuses.
fn reads_more(text: &str) -> Option<&'static str> {
    let other_name = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.parse::<DataType>().is_ok_and(|data_type| data_type.to_string() != word));
    let beyond = text.split(|c: char| !c.is_ascii_digit()).any(|n| n.parse::<u64>().is_ok_and(|n| n > 1 << 62));
    let empty = text.contains("]{}") || text.contains("] {}") || text.contains("]{ }");
    // In a tuple, XLA checks layouts by rules that it does not apply to arrays alone.
    let in_tuple = text.starts_with('(') && ["#(", "*(", "SC(", "T()", ")()"].iter().any(|part| text.contains(part));
    let huge = |n: &str| n.parse::<u64>().is_ok_and(|n| n >= 1 << 61);
    let huge_in_tuple = text.starts_with('(') && text.split(|c: char| !c.is_ascii_digit()).any(huge);
    [
        (other_name, "other names of types"),
        (beyond, "sizes to 2^64"),
        (empty, "a scalar's empty layout"),
        (in_tuple || huge_in_tuple, "layouts in tuples"),
    ]
    .iter()
    .find_map(|&(applies, name)| applies.then_some(name))
}

#[test]
fn differences_from_xla_are_the_listed_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/xla_differential.tsv");
    let text = fs::read_to_string(path).unwrap();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut unlisted = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [outcome, text, printed] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let ours = text.parse::<Shape>();
        let difference = match (outcome, &ours) {
            ("ok", Ok(shape)) if shape.to_string() == printed => "read by both",
            ("ok", Ok(shape)) => {
                unlisted.push(format!("{text}: XLA prints {printed}, this crate {shape}"));
                continue;
            }
            ("ok", Err(error)) if error.code() == "parse" => {
                let message = error.to_string();
                let known = REFUSED.iter().find(|(part, _)| message.contains(part));
                let Some(&(_, name)) = known else {
                    unlisted.push(format!("{text}: XLA reads it; {message}"));
                    continue;
                };
                name
            }
            ("error", Err(error)) if error.code() == "parse" => "refused by both",
            ("error", Ok(shape)) => {
                let Some(name) = reads_more(text) else {
                    unlisted.push(format!("{text}: XLA refuses it, this crate reads {shape}"));
                    continue;
                };
                name
            }
            _ => panic!("{line}: {ours:?}"),
        };
        *seen.entry(difference).or_default() += 1;
    }
    println!("{seen:#?}");
    assert!(unlisted.is_empty(), "{} differences are not listed:\n{}", unlisted.len(), unlisted.join("\n"));
    assert!(seen["read by both"] > 400 && seen["refused by both"] > 400);
}

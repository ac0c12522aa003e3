//! Compares the two forms of a row's rule, digits and tiles, with each other and with recorded cases.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test may panic"
)]

use serde_json::Value;

use super::memory::{LayoutPart, Rule};
use super::{NamedLayout, rows};

fn indices(sizes: &[u64]) -> impl Iterator<Item = Vec<u64>> + '_ {
    (0..sizes.iter().product()).map(|mut number: u64| {
        let mut index: Vec<u64> = sizes
            .iter()
            .rev()
            .map(|size| {
                let i = number % size;
                number /= size;
                i
            })
            .collect();
        index.reverse();
        index
    })
}

#[test]
fn digits_and_tiles_say_the_same() {
    let mut compared = 0;
    for line in include_str!("../../../../tests/data/named_layouts.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let sizes: Vec<u64> = case["sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).collect();
        let (name, data_type) = (case["name"].as_str().unwrap(), case["dtype"].as_str().unwrap().parse().unwrap());
        for row in rows().iter().filter(|row| row.name == name && row.has_rank(sizes.len()) && row.tiles != "-") {
            for numbers in super::known::every_choice(row) {
                let values = row.values(data_type, &sizes, &numbers);
                if row.unmet(&values).unwrap().is_some() {
                    continue;
                }
                let parts = Rule { row, values, data_type, sizes: sizes.clone() }.parts().unwrap();
                let [LayoutPart { map, .. }] = parts.as_slice() else { panic!("{name}: {} parts", parts.len()) };
                let tiled = NamedLayout::of_row(row, data_type, &sizes, &numbers).unwrap();
                let tiled = &tiled.parts[0].map;
                assert_eq!(map.physical_elements(), tiled.physical_elements(), "{name} {sizes:?} {numbers:?}");
                assert_eq!(map.is_part(), tiled.is_part(), "{name}");
                for index in indices(&sizes) {
                    let offset = map.offset(&index).unwrap();
                    assert_eq!(offset, tiled.offset(&index).unwrap(), "{name} {sizes:?} {numbers:?} {index:?}");
                    assert_eq!(map.inverse(offset).unwrap(), Some(index), "{name} {sizes:?}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 152, "{compared}");
}

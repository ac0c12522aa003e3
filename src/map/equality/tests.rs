use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::super::tests::{indices, map, offsets};
use super::*;

const TILES: [&str; 9] =
    ["(1)", "(3)", "(2,2)", "(*,4)(3)", "(*,5)(2)", "(*,5)(3)", "(*,9)(2)", "(*,10)(4)", "(*,10)(4)(3)"];

fn of_sizes(a: u64, b: u64) -> Vec<IndexMap> {
    let texts = TILES.iter().flat_map(|tiles| ["0,1", "1,0"].map(|order| format!("u8[{a},{b}]{{{order}:T{tiles}}}")));
    texts.map(|text| map(&text)).collect()
}

/// Compares the first difference with a walk over all indices. Most of these layouts are Fused, some in the
/// order of the indices and some in another order.
#[test]
fn the_first_difference_of_fused_dimensions_is_that_of_a_walk() {
    for (a, b) in (2..7).flat_map(|a| (2..7).map(move |b| (a, b))) {
        let (maps, indices) = (of_sizes(a, b), indices(&[a, b]));
        let tables: Vec<_> = maps.iter().map(offsets).collect();
        for (first, x) in maps.iter().zip(&tables) {
            for (second, y) in maps.iter().zip(&tables) {
                let walked = x.iter().zip(y).position(|(x, y)| x != y).map(|place| indices[place].clone());
                assert_eq!(first.same_places(second), Ok(walked.is_none()), "{first:?} {second:?}");
                assert_eq!(first.first_difference(second), Ok(walked), "{first:?} {second:?}");
            }
        }
    }
}

/// A tile of 31,500,003 elements is followed by one element of padding, so the offsets of the two maps differ
/// in the last 500,010 indices of dimension 1 alone. A walk in row-major order reaches its work limit before
/// the first of these indices.
#[test]
fn layouts_may_be_known_to_differ_where_the_first_difference_is_not() {
    let (packed, padded) = (map("u8[7,5000011]{0,1}"), map("u8[7,5000011]{0,1:T(*,31500003)(2)}"));
    assert_eq!(packed.same_places(&padded), Ok(false));
    assert_eq!(packed.first_difference(&padded), Err(undecided()));
}

#[test]
fn a_hash_tells_layouts_apart() {
    let hash = |map: &IndexMap| {
        let mut hasher = DefaultHasher::new();
        map.hash(&mut hasher);
        hasher.finish()
    };
    let maps = [of_sizes(4, 6), of_sizes(6, 4)].concat();
    for (a, b) in maps.iter().flat_map(|a| maps.iter().map(move |b| (a, b))) {
        assert_eq!(a == b, hash(a) == hash(b), "{a:?} {b:?}");
    }
}

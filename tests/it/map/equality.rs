//! Equality and first differences of layouts that are hard to compare.

use crate::literal::{any_shape, bounded, indices};
use crate::read::map;
use proptest::prelude::*;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use tensor_layout::map::same_layout;
use tensor_layout::tiled::Tile;
use tensor_layout::{ArrayShape, IndexMap, LayoutClass, ToIndexMap};

#[test]
fn equality_of_large_irreducible_layouts_is_decided() {
    let (tiled, same) = ("f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}", "f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)(1)}");
    let other = "f32[480,480,480]{2,1,0:T(2,3,2)(*,3,1)}";
    assert_eq!(map(tiled).class(), LayoutClass::Irreducible);
    assert_eq!(map(tiled).same_places(&map(same)), Ok(true));
    assert_eq!(map(tiled), map(same));
    assert_eq!(map(tiled).first_difference(&map(same)), Ok(None));
    assert_eq!(map(tiled).same_places(&map(other)), Ok(false));
    let difference = map(tiled).first_difference(&map(other)).unwrap().unwrap();
    assert_eq!(difference, first_by_walking(&map(tiled), &map(other)));
}

fn first_by_walking(a: &IndexMap, b: &IndexMap) -> Vec<u64> {
    indices(&[a.sizes()[0].min(4), a.sizes()[1].min(8), a.sizes()[2].min(8)])
        .find(|index| a.offset(index) != b.offset(index))
        .unwrap()
}

#[test]
fn equal_layouts_that_do_not_separate_are_not_walked() {
    for (text, again) in [
        ("f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}", "f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}"),
        ("f32[6000,6000]{1,0:T(*,7)(5)}", "f32[6000,6000]{1,0:T(*,7)(5)}"),
        ("f32[6000,6000]{1,0:T(*,7)(5)}", "f32[6000,6000]{1,0:T(*,7)(5)(1)(1,1)}"),
        (
            "f32[1000000007]{0:T(500000003)(250000013)(125000003)}",
            "f32[1000000007]{0:T(500000003)(250000013)(125000003)(1)}",
        ),
        ("f32[6000,6000]{0,1:T(*,7)(5)}", "f32[6000,6000]{0,1:T(*,7)(5)(1)}"),
    ] {
        assert_eq!(map(text).same_places(&map(again)), Ok(true), "{text} {again}");
        assert_eq!(map(text).first_difference(&map(again)), Ok(None), "{text} {again}");
    }
}

#[test]
fn ragged_layouts_of_a_thousand_million_elements_differ_where_they_do() {
    let (a, b) = (map("f32[1000000007]{0:T(500000003)(250000013)}"), map("f32[1000000007]{0:T(500000004)(250000013)}"));
    assert_eq!(a.same_places(&b), Ok(false));
    let first = a.first_difference(&b).unwrap().unwrap()[0];
    assert_eq!(a.offset(&[first - 1]), b.offset(&[first - 1]));
    assert_ne!(a.offset(&[first]), b.offset(&[first]));
    // Both layouts have a hole after the first tile of 250000013 in the second half. The holes are one
    // element apart.
    assert_eq!(first, 500_000_003);
}

#[test]
fn a_comparison_that_takes_too_long_says_so() {
    // Dividing by 7 and then by 5 is dividing by 35. There are 6 million values in the first tile.
    let (first, second) = ("{1,0:T(2001,3001)(*,7)(5,1)}", "{1,0:T(2001,3001)(*,35)(7)(5,1)}");
    let compare = |sizes: &str| map(&format!("f32{sizes}{first}")).same_places(&map(&format!("f32{sizes}{second}")));
    assert_eq!(compare("[6000,6000]").unwrap_err().code(), "undecided");
    let difference = map(&format!("f32[6000,6000]{first}")).first_difference(&map(&format!("f32[6000,6000]{second}")));
    assert_eq!(difference.unwrap_err().code(), "undecided");
    // The forms differ. `==` returns `false` at once, and promises no more.
    assert_ne!(map(&format!("f32[6000,6000]{first}")), map(&format!("f32[6000,6000]{second}")));
}

#[test]
fn what_a_star_joins_again_is_the_number_it_was() {
    let packed = map("f32[6007,6007]{1,0}");
    assert_eq!(map("f32[6007,6007]{1,0:T(*,7)(*,5)}").same_places(&packed), Ok(true));
}

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
        let (maps, indices): (_, Vec<_>) = (of_sizes(a, b), indices(&[a, b]).collect());
        let table = |map: &IndexMap| indices.iter().map(|index| map.offset(index).unwrap()).collect::<Vec<_>>();
        let tables: Vec<_> = maps.iter().map(table).collect();
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
    assert_eq!(packed.first_difference(&padded).unwrap_err().code(), "undecided");
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

proptest! {
    #![proptest_config(crate::literal::cases(1500))]

    /// The spellings are of any class, and are equal or nearly equal.
    #[test]
    fn comparisons_are_those_of_a_walk(shape in any_shape(1500), entries in prop::collection::vec(1..=6_i64, 1..=3), join in any::<bool>()) {
        let mut entries = entries;
        if join && entries.len() > 1 {
            entries[0] = -1;
        }
        let mut tiles = shape.layout().tiles().to_vec();
        tiles.push(Tile::try_from(&entries[..]).unwrap());
        let changed = ArrayShape::new(shape.data_type(), shape.sizes(), shape.layout().clone().with_tiles(&tiles)).unwrap();
        if !bounded(&changed, 20_000) {
            return Ok(());
        }
        let (a, b) = (shape.to_index_map().unwrap(), changed.to_index_map().unwrap());
        let walked = indices(shape.sizes()).find(|index| a.offset(index) != b.offset(index));
        prop_assert_eq!(a.same_places(&b), Ok(walked.is_none()), "{} {}", shape, changed);
        prop_assert_eq!(same_layout(&a, &b), Ok(walked.is_none()));
        prop_assert_eq!(a.first_difference(&b), Ok(walked), "{} {}", shape, changed);
    }
}

//! The digits of a map: one normal form for many spellings, chains against walks over all numbers, and the
//! digits in the order of memory.

use crate::literal::{indices, offsets};
use crate::read::map;
use crate::relayout::plan_as_data::elements;
use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout::{ArrayShape, DataType, IndexMap, LayoutClass, ToIndexMap};

/// The sizes and strides of the digits of each dimension.
fn of_digits(dimensions: &[Vec<(u64, u64)>]) -> IndexMap {
    IndexMap::from_digits(DataType::U8, 8, dimensions).unwrap()
}

/// One dimension of `size` numbers, cut by one, two and three tiles: exact and ragged chains, with digits in
/// and out of order.
fn chains(size: u64) -> Vec<(IndexMap, Vec<u64>)> {
    let mut tiles = vec![String::new()];
    for a in 2..=7 {
        tiles.push(format!("T({a})"));
        for b in 2..=5 {
            tiles.extend([format!("T({a})({b})"), format!("T({a})({b},1)"), format!("T({a})({b},1)(2,1,1)")]);
        }
    }
    let chain = |tiles: &String| {
        let shape: ArrayShape = format!("u8[{size}]{{0:{tiles}}}").parse().unwrap();
        let map = shape.to_index_map().unwrap();
        let table: Vec<u64> = offsets(&shape).into_iter().map(|offset| offset as u64).collect();
        assert!((0..).zip(&table).all(|(number, offset)| map.offset(&[number]) == Ok(*offset)), "{shape}");
        assert_eq!(map.span_elements(), table.iter().max().unwrap() + 1, "{shape}");
        (map, table)
    };
    tiles.iter().map(chain).collect()
}

#[test]
fn the_first_difference_of_two_chains_is_that_of_a_walk() {
    for size in [1, 6, 13, 24] {
        let chains = chains(size);
        for ((a, x), (b, y)) in chains.iter().flat_map(|one| chains.iter().map(move |other| (one, other))) {
            let walked = x.iter().zip(y).position(|(x, y)| x != y).map(|number| vec![number as u64]);
            assert_eq!(a.same_places(b), Ok(walked.is_none()), "{a:?} {b:?}");
            assert_eq!(a.first_difference(b), Ok(walked), "{a:?} {b:?}");
        }
    }
}

/// The boxes of a pair hold every number once, forwards and backwards.
#[test]
fn the_boxes_of_two_chains_copy_every_number_once() {
    for size in [6, 13, 24] {
        let chains = chains(size);
        for (place, (a, x)) in chains.iter().enumerate() {
            for (b, y) in chains.iter().skip(place % 3).step_by(3) {
                for reversed in [vec![], vec![0]] {
                    let settings = Settings { reversed: reversed.clone(), ..Settings::default() };
                    let plan = Relayout::with_settings(a, b, &settings).unwrap();
                    let passes: Vec<_> = plan.passes().collect();
                    if passes.len() > 1 {
                        continue;
                    }
                    let mut found: Vec<(u64, u64)> = passes[0].boxes().flat_map(|copy| elements(&copy)).collect();
                    let turned = |number: usize| if reversed.is_empty() { number } else { x.len() - 1 - number };
                    let mut expected: Vec<(u64, u64)> =
                        (0..x.len()).map(|number| (x[turned(number)], y[number])).collect();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{a:?} {b:?} {reversed:?}");
                }
            }
        }
    }
}

/// A chain is cut at a width exactly if its values are a sum of a value of the quotient and one of the
/// remainder.
#[test]
fn a_chain_is_cut_where_it_separates() {
    for size in [6, 12, 24] {
        for (map, table) in chains(size) {
            for width in (1..=size).filter(|width| size.is_multiple_of(*width)) {
                let at = |x: u64, y: u64| table[(x * width + y) as usize];
                let separates =
                    (0..size / width).all(|x| (0..width).all(|y| at(x, y) + at(0, 0) == at(x, 0) + at(0, y)));
                let view = map.reshape(&[size / width, width]);
                assert_eq!(view.is_ok(), separates, "{map:?} at {width}");
                if let Ok(view) = view {
                    assert!(indices(view.sizes()).all(|i| view.offset(&i) == Ok(at(i[0], i[1]))), "{map:?} at {width}");
                }
            }
        }
    }
}

/// The last tiles hold one element each, or are as large as the dimension that they divide, such as `(2,1)`.
#[test]
fn a_last_tile_that_moves_nothing_is_left_out() {
    let text = |last: &str| format!("u8[6,9,2]{{2,1,0:T(2,3,2)(*,2,1){last}}}");
    let plain = map(&text(""));
    assert_eq!(plain.class(), LayoutClass::Irreducible);
    for last in ["(1)", "(1,1)", "(1,1,1)", "(1,1,1,1,1,1,1,1)", "(2,1)", "(1,2,1)", "(2,2,1)", "(1)(1,1)"] {
        assert_eq!(map(&text(last)), plain, "{last}");
    }
    for last in ["(2)", "(2,1,1)", "(3,1,1)", "(3,1)"] {
        assert_ne!(map(&text(last)), plain, "{last}");
    }
}

#[test]
fn dimensions_of_one_element_are_not_in_the_way_of_fused_ones() {
    let fused = map("u8[4,3]{1,0:T(*,7)(5)}");
    assert_eq!((fused.class(), fused.components().len()), (LayoutClass::Fused, 1));
    for (sizes, order) in [("4,1,3", "2,1,0"), ("1,4,3", "2,1,0"), ("4,3,1", "2,1,0"), ("4,3,1", "1,2,0")] {
        let map = map(&format!("u8[{sizes}]{{{order}:T(*,*,7)(5)}}"));
        assert_eq!(map.class(), LayoutClass::Fused, "{sizes}");
        assert_eq!(map.components()[0].chain, fused.components()[0].chain, "{sizes}");
    }
}

#[test]
fn a_digit_of_one_value_says_nothing() {
    let map = |digits: &[(u64, u64)]| of_digits(&[digits.to_vec(), vec![(2, 1)]]);
    let plain = map(&[(3, 40), (4, 5)]);
    for place in 0..=2 {
        let mut digits = vec![(3, 40), (4, 5)];
        digits.insert(place, (1, 7));
        assert_eq!(map(&digits), plain, "{digits:?}");
    }
    assert_eq!(map(&[(1, 7)]), map(&[]));
}

/// Tests three digits with all small strides. The value of each digit is the quotient by its stride exactly
/// if the strides nest.
#[test]
fn places_nest_exactly_where_dividing_by_the_strides_finds_every_index() {
    for number in 0..1000 {
        let strides = [number / 100, number / 10 % 10, number % 10];
        let sizes = [2, 3, 2];
        let dimensions = [vec![(sizes[0], strides[0]), (sizes[1], strides[1])], vec![(sizes[2], strides[2])]];
        let map = of_digits(&dimensions);
        let places = map.digit_places();
        let finds = |i: u64, j: u64| {
            let mut rest = map.offset(&[i, j])?;
            let mut found = [0, 0];
            for place in &places {
                found[place.component] += rest.checked_div(place.stride).unwrap_or(0) * place.divisor;
                rest = rest.checked_rem(place.stride).unwrap_or(rest);
            }
            Ok::<bool, tensor_layout::Error>(found == [i, j])
        };
        let all = (0..6).flat_map(|i| (0..2).map(move |j| (i, j))).all(|(i, j)| finds(i, j).unwrap());
        let mut reach = 0;
        let nest = places.iter().rev().all(|place| {
            let nests = place.stride > reach;
            reach += place.stride * (place.count - 1);
            nests
        });
        assert_eq!(nest, all, "{strides:?}");
    }
}

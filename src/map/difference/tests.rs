use super::super::tests::{indices, map, offsets};
use super::*;

/// Checks, for every pair of these layouts, that the first difference by atoms is the first difference in a
/// walk over all indices.
fn check_pairs(texts: &[String]) {
    let maps: Vec<_> = texts.iter().map(|text| map(text)).collect();
    let tables: Vec<_> = maps.iter().map(offsets).collect();
    let indices = indices(maps[0].sizes());
    for (first, a) in maps.iter().zip(&tables) {
        for (second, b) in maps.iter().zip(&tables) {
            let walked = a.iter().zip(b).position(|(a, b)| a != b).map(|place| &indices[place]);
            let found = by_atoms(first, second);
            assert_eq!((found.first.as_ref(), found.differs), (walked, walked.is_some()), "{first:?} {second:?}");
            assert_eq!(found.unknown, None, "{first:?} {second:?}");
        }
    }
}

#[test]
fn the_first_difference_is_that_of_a_walk() {
    let tiles = [
        "(1)",
        "(2)(*,3)",
        "(2)(*,5)",
        "(3)(*,2)",
        "(4)(*,6)",
        "(*,2)(*,3)",
        "(*,4)(*,6)(2)",
        "(2,2)(*,3)",
        "(2,3)(*,2)",
        "(2,3)(*,2,1)",
        "(2,3)(*,3,1)",
        "(3,2)(*,4)",
        "(3,2)(*,4)(1)",
        "(2,5)(*,4,3)",
        "(*,4)(2)(*,3)",
        "(2,4)(*,*,4)",
        "(2,4)(*,*,4)(*,3)",
        "(*,6)(4)(*,*,9)",
        "(2,6)(*,5)",
        "(2,6)(*,5)(*,10)",
        "(4,3)(*,7)",
        "(4,3)(*,7)(*,7)",
    ];
    for sizes in ["5,7", "6,4", "3,8", "7,5", "12,3"] {
        check_pairs(&tiles.map(|tiles| format!("u8[{sizes}]{{1,0:T{tiles}}}")));
        check_pairs(&tiles.map(|tiles| format!("u8[{sizes}]{{0,1:T{tiles}}}")));
    }
    let tiles = [
        "(2,3,2)(*,2,1)",
        "(2,3,2)(*,3,1)",
        "(2,3,2)(*,3,1)(1)",
        "(2,2,2)(*,3,1)(*,2)",
        "(*,4,3)(*,2)",
        "(2,1,3)(*,*,2,2)",
    ];
    for sizes in ["3,4,5", "5,2,6", "4,6,3"] {
        check_pairs(&tiles.map(|tiles| format!("u8[{sizes}]{{2,0,1:T{tiles}}}")));
    }
    check_pairs(&["(1)", "(2)", "(5)", "(4)(3)", "(6)(4)", "(6)(4)(3)"].map(|tiles| format!("u8[13]{{0:T{tiles}}}")));
}

#[test]
fn a_difference_may_take_two_digits_or_be_that_of_the_only_one() {
    let strided = |digits: &[(u64, u64)]| {
        let dimensions: Vec<_> = digits.iter().map(|&digit| vec![digit]).collect();
        IndexMap::from_pairs(crate::DataType::U8, 8, &dimensions).unwrap()
    };
    // `*` joins x and y to 3 * x + y, which is divided into tiles of four. Only indices with x and y above 0
    // reach the second tile.
    let (tiled, plain) = (map("u8[2,3,2]{2,1,0:T(2,3,2)(*,4,1)}"), strided(&[(2, 3), (3, 1), (2, 4)]));
    assert_eq!(by_atoms(&tiled, &plain).first, Some(vec![1, 1, 0]));
    assert_eq!(by_atoms(&strided(&[(5, 1)]), &strided(&[(5, 2)])).first, Some(vec![1]));
}

/// Digits that both layouts have in common are not tried, so the size of the layouts does not matter.
#[test]
fn equal_layouts_are_known_at_once() {
    for (sizes, tiles, more) in [
        ("1000000007,1000000009,3]{2,1,0", "(2,3,2)(*,2,1)", "(1)"),
        ("1000000007,1000000009,3]{2,1,0", "(2,3,2)(*,2,1)", "(2,1)"),
        ("1000000007,1000000009]{1,0", "(2,3)(*,5)", "(1,1)"),
        ("1000000007,1000000009]{1,0", "(2,3)(*,5)", "(*,5)"),
    ] {
        let (first, second) = (map(&format!("u8[{sizes}:T{tiles}}}")), map(&format!("u8[{sizes}:T{tiles}{more}}}")));
        let found = by_atoms(&first, &second);
        assert_eq!((found.first, found.differs, found.unknown), (None, false, None), "{sizes} {tiles} {more}");
    }
}

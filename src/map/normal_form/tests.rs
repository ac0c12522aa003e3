use super::super::index_map::IndexMap;
use super::super::tests::map;
use crate::{DataType, LayoutClass};

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
    assert_eq!((fused.class(), fused.components.len()), (LayoutClass::Fused, 1));
    for (sizes, order) in [("4,1,3", "2,1,0"), ("1,4,3", "2,1,0"), ("4,3,1", "2,1,0"), ("4,3,1", "1,2,0")] {
        let map = map(&format!("u8[{sizes}]{{{order}:T(*,*,7)(5)}}"));
        assert_eq!(map.class(), LayoutClass::Fused, "{sizes}");
        assert_eq!(map.components[0].chain, fused.components[0].chain, "{sizes}");
    }
}

#[test]
fn a_digit_of_one_value_says_nothing() {
    let map = |digits: &[(u64, u64)]| IndexMap::from_pairs(DataType::U8, 8, &[digits.to_vec(), vec![(2, 1)]]).unwrap();
    let plain = map(&[(3, 40), (4, 5)]);
    for place in 0..=2 {
        let mut digits = vec![(3, 40), (4, 5)];
        digits.insert(place, (1, 7));
        assert_eq!(map(&digits), plain, "{digits:?}");
    }
    assert_eq!(map(&[(1, 7)]), map(&[]));
}

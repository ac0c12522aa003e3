use super::*;
use crate::DataType;

/// Tests three digits with all small strides. The value of each digit is the quotient by its stride exactly
/// if the strides nest.
#[test]
fn places_nest_exactly_where_dividing_by_the_strides_finds_every_index() {
    for number in 0..1000 {
        let strides = [number / 100, number / 10 % 10, number % 10];
        let sizes = [2, 3, 2];
        let dimensions = [vec![(sizes[0], strides[0]), (sizes[1], strides[1])], vec![(sizes[2], strides[2])]];
        let map = IndexMap::from_pairs(DataType::U8, 8, &dimensions).unwrap();
        let places = map.digit_places();
        let finds = |i: u64, j: u64| {
            let mut rest = map.offset(&[i, j])?;
            let mut found = [0, 0];
            for place in &places {
                found[place.component] += rest.checked_div(place.stride).unwrap_or(0) * place.divisor;
                rest = rest.checked_rem(place.stride).unwrap_or(rest);
            }
            Ok::<bool, crate::Error>(found == [i, j])
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

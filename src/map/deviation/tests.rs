use std::num::NonZeroU64;

use super::*;

/// Returns every chain of at most three digits with divisors and strides below these limits.
fn chains(divisors: u64, strides: u64) -> Vec<Vec<Digit>> {
    let digit = |divisor, stride| Digit::new(NonZeroU64::new(divisor).unwrap(), stride);
    let mut all = Vec::new();
    for last in 0..strides {
        all.push(vec![digit(1, last)]);
        for q in 2..divisors {
            for middle in 0..strides {
                all.push(vec![digit(q, middle), digit(1, last)]);
                for p in q + 1..divisors {
                    all.extend((0..strides).map(|top| vec![digit(p, top), digit(q, middle), digit(1, last)]));
                }
            }
        }
    }
    all
}

#[test]
fn the_first_deviation_is_that_of_a_walk_over_all_numbers() {
    let chains = chains(8, 3);
    let extent = 17;
    let walks: Vec<Vec<u64>> = chains
        .iter()
        .map(|digits| (0..extent).map(|number| super::super::digits::evaluate(digits, number)).collect())
        .collect();
    for (a, first) in chains.iter().zip(&walks) {
        for (b, second) in chains.iter().zip(&walks) {
            let walked = (0..extent).zip(first.iter().zip(second)).find(|(_, (x, y))| x != y).map(|(number, _)| number);
            for end in [2, 7, extent] {
                let expected = walked.filter(|&place| place < end);
                let mut search = Search { left: 1000 };
                assert_eq!(search.deviation(a, b, end), Ok(expected), "{a:?} {b:?} below {end}");
            }
        }
    }
}

#[test]
fn a_chain_against_its_own_shift_is_that_of_a_walk() {
    for digits in chains(9, 4) {
        let value = |number| i128::from(super::super::digits::evaluate(&digits, number));
        for shift in 0..20 {
            let rise = value(shift);
            for length in [1, 5, 30] {
                let walked = (0..length).find(|&u| value(shift + u) != value(u) + rise);
                let found = Search { left: 1000 }.shift(&digits, shift, length, rise);
                assert_eq!(found, Ok(walked), "{digits:?} shifted by {shift}");
            }
        }
    }
}

/// One chain has one more digit, whose stride continues the chain. Both chains agree for a while past this
/// digit.
#[test]
fn a_chain_that_is_continued_deviates_where_a_walk_says() {
    let digit = |divisor, stride| Digit::new(NonZeroU64::new(divisor).unwrap(), stride);
    let value = super::super::digits::evaluate;
    for (p, q) in (3..25).flat_map(|p| (2..p).map(move |q| (p, q))) {
        for strides in 0..9 {
            let chain = [digit(q, strides / 3), digit(1, strides % 3)];
            let continued = [digit(p, value(&chain, p)), chain[0], chain[1]];
            let walked = (0..100).find(|&number| value(&chain, number) != value(&continued, number));
            assert_eq!(Search { left: 100 }.deviation(&continued, &chain, 100), Ok(walked), "{continued:?}");
            assert_eq!(Search { left: 100 }.deviation(&chain, &continued, 100), Ok(walked), "{continued:?}");
        }
    }
}

#[test]
fn a_search_ends_after_its_steps() {
    let digit = |divisor, stride| Digit::new(NonZeroU64::new(divisor).unwrap(), stride);
    let (a, b) = ([digit(7, 9), digit(4, 5), digit(1, 1)], [digit(6, 7), digit(1, 1)]);
    assert_eq!(Search { left: 2 }.deviation(&a, &b, 100), Err(undecided()));
    assert_eq!(Search { left: 2 }.shift(&a, 5, 100, 0), Err(undecided()));
    assert_eq!(Search { left: 100 }.deviation(&a, &b, 100), Ok(Some(4)));
}

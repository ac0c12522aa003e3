//! Tests the arithmetic of chains for every extent, divisor and stride up to 24, against the definition.
//!
//! The definition divides a number by the largest divisor first, and each digit moves by its stride. The
//! tests assume nothing else. Where a chain is cut, refined or compared, the expected result comes from a
//! walk over all numbers.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "a test may panic"
)]

use std::collections::HashMap;
use std::num::NonZeroU64;

use super::deviation::first_deviation;
use super::digits::{Chain, Digit};
use super::index_map::{IndexMap, ToIndexMap};
use super::refine::{Loop, Segments, refine};
use super::reversed::{counts_down, destination_reversed, source_reversed};
use crate::checked::next_index;

/// The largest extent, divisor and stride of these tests.
const MOST: u64 = 24;

type Digits = [(u64, u64)];

pub(super) fn map(text: &str) -> IndexMap {
    text.parse::<crate::ArrayShape>().unwrap().to_index_map().unwrap()
}

/// Returns every index in row-major order. No size may be 0.
pub(super) fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    let (mut index, mut all) = (vec![0; sizes.len()], Vec::new());
    loop {
        all.push(index.clone());
        if !next_index(&mut index, sizes) {
            return all;
        }
    }
}

/// Returns the offset of every index, in row-major order of the indices.
pub(super) fn offsets(map: &IndexMap) -> Vec<u64> {
    indices(map.sizes()).iter().map(|index| map.offset(index).unwrap()).collect()
}

fn value(digits: &Digits, mut number: u64) -> u64 {
    let mut moved = 0;
    for (divisor, stride) in digits {
        moved += number / divisor * stride;
        number %= divisor;
    }
    moved
}

fn values(digits: &Digits, end: u64) -> Vec<u64> {
    (0..end).map(|number| value(digits, number)).collect()
}

fn chain(digits: &Digits, extent: u64) -> Chain {
    let digits: Vec<Digit> =
        digits.iter().map(|&(divisor, stride)| Digit::new(NonZeroU64::new(divisor).unwrap(), stride)).collect();
    Chain::normalised(digits.into_iter(), extent)
}

/// Returns every pair of divisors, the larger divisor first.
fn pairs_of_divisors() -> impl Iterator<Item = (u64, u64)> {
    (3..=MOST).flat_map(|high| (2..high).map(move |low| (high, low)))
}

/// Checks that the chain of these digits is in normal form and has the values of the definition on
/// `0..extent`. Also checks its largest value, and the largest value of each part.
fn check_chain(digits: &Digits, extent: u64) -> (Chain, Vec<u64>) {
    let (chain, walked) = (chain(digits, extent), values(digits, extent));
    let divisors: Vec<u64> = chain.digits().iter().map(|digit| digit.divisor.get()).collect();
    assert!(divisors.iter().zip(divisors.iter().skip(1)).all(|(high, low)| high > low));
    assert!(divisors.first().is_none_or(|&top| top < extent) && divisors.last().is_none_or(|&last| last == 1));
    assert!(walked.iter().zip(0..).all(|(&value, number)| chain.at(number) == value), "{digits:?} on 0..{extent}");
    assert_eq!(Some(&chain.largest(extent)), walked.iter().max(), "{digits:?} on 0..{extent}");
    (chain, walked)
}

/// Tests 24 x 23 x 25 x 25 chains of two digits, and 24 x 253 x 125 of three digits.
#[test]
fn chains_equal_their_functions_and_exact_ones_have_one_form() {
    let mut forms: HashMap<Vec<u64>, Chain> = HashMap::new();
    for extent in 1..=MOST {
        forms.clear();
        let mut check = |digits: &Digits| {
            let (chain, walked) = check_chain(digits, extent);
            if chain.is_exact() {
                let form = forms.entry(walked).or_insert_with(|| chain.clone());
                assert_eq!(*form, chain, "{digits:?} on 0..{extent}");
            }
        };
        for divisor in 2..=MOST {
            for (high, low) in (0..=MOST).flat_map(|high| (0..=MOST).map(move |low| (high, low))) {
                check(&[(divisor, high), (1, low)]);
            }
        }
        for (high, low) in pairs_of_divisors() {
            for strides in 0..125 {
                check(&[(high, strides / 25), (low, strides / 5 % 5), (1, strides % 5)]);
            }
        }
    }
}

/// Tests 24 x 23 x 15 chains of two digits and 253 x 27 chains of three digits, at every width.
#[test]
fn a_chain_is_cut_where_it_separates() {
    let separates = |chain: &Chain, width: u64, end: u64| {
        (0..end).all(|number| chain.at(number) == chain.at(number - number % width) + chain.at(number % width))
    };
    let check = |digits: &Digits, extent: u64, is_exact: bool| {
        let chain = chain(digits, extent);
        for width in 1..=MOST {
            let cut = chain.cut(NonZeroU64::new(width).unwrap());
            if let Some((high, low)) = &cut {
                let (high, low) =
                    (Chain::normalised(high.iter().copied(), MOST), Chain::normalised(low.iter().copied(), width));
                for number in 0..extent {
                    let parts = high.at(number / width) + low.at(number % width);
                    assert_eq!(chain.at(number), parts, "{digits:?} on 0..{extent} at {width}");
                }
            }
            // An exact chain of two digits that `cut` refuses must not separate for all numbers below a few
            // top blocks.
            let top = chain.digits().first().map_or(1, |digit| digit.divisor.get());
            if is_exact && cut.is_none() {
                assert!(!separates(&chain, width, 2 * top * width), "{digits:?} on 0..{extent} at {width}");
            }
        }
    };
    for (extent, divisor) in (1..=MOST).flat_map(|extent| (2..=MOST).map(move |divisor| (extent, divisor))) {
        for low in 0..3 {
            for high in [0, 1, 2, 3, low * divisor] {
                check(&[(divisor, high), (1, low)], extent, true);
            }
        }
    }
    for (high, low) in pairs_of_divisors() {
        (0..27)
            .for_each(|strides| check(&[(high, strides / 9), (low, strides / 3 % 3), (1, strides % 3)], MOST, false));
    }
}

/// Returns the pairs of source offset and destination offset that segments copy, in ascending order.
fn copied(segments: &Segments) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for segment in &segments.list {
        let mut places = vec![(segment.source, segment.destination)];
        for step in &segment.loops {
            let moves: Vec<(u64, u64, bool)> = match step {
                Loop::Strided { extent, source, destination } => {
                    (0..*extent).map(|i| (i * source, i * destination, false)).collect()
                }
                Loop::Reversed { extent, source, destination } => {
                    (0..*extent).map(|i| (i * source, i * destination, true)).collect()
                }
                Loop::Table(entries) => entries.iter().map(|&(from, to)| (from, to, false)).collect(),
            };
            let moved = |&(source, destination): &(u64, u64)| {
                let at = move |&(from, to, back): &(u64, u64, bool)| {
                    (if back { source - from } else { source + from }, destination + to)
                };
                moves.iter().map(at).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(moved).collect();
        }
        all.extend(places);
    }
    all.sort_unstable();
    all
}

/// Whether every loop except a table has two or more steps, and a loop that walks backwards has a stride
/// above 0.
fn every_loop_moves(segments: &Segments) -> bool {
    segments.list.iter().flat_map(|segment| &segment.loops).all(|step| match step {
        Loop::Strided { extent, .. } => *extent > 1,
        Loop::Reversed { extent, source, .. } => *extent > 1 && *source > 0,
        Loop::Table(entries) => !entries.is_empty(),
    })
}

/// Checks that the segments of a pair of chains copy every number once, also backwards on either side.
fn check_refinement(first: &Digits, second: &Digits, extent: u64) {
    let (source, destination) = (chain(first, extent), chain(second, extent));
    let mut segments = Segments::with_capacity(0);
    refine(extent, &source, &destination, &mut segments).unwrap();
    let walked = |from: &dyn Fn(u64) -> u64, to: &dyn Fn(u64) -> u64| {
        let mut all: Vec<_> =
            (0..extent).map(|number| (value(first, from(number)), value(second, to(number)))).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(copied(&segments), walked(&|u| u, &|u| u), "{first:?} {second:?} on 0..{extent}");
    assert!(every_loop_moves(&segments), "{first:?} {second:?} on 0..{extent}");
    let last = extent - 1;
    if counts_down(&source, extent) {
        let mut reversed = segments.clone();
        reversed.list.iter_mut().for_each(|segment| source_reversed(segment, source.at(last)));
        assert!(every_loop_moves(&reversed), "{first:?} {second:?} on 0..{extent}, source reversed");
        assert_eq!(
            copied(&reversed),
            walked(&|u| last - u, &|u| u),
            "{first:?} {second:?} on 0..{extent}, source reversed"
        );
    }
    if counts_down(&destination, extent) {
        segments.list.iter_mut().for_each(|segment| destination_reversed(segment, destination.at(last)));
        assert!(every_loop_moves(&segments), "{first:?} {second:?} on 0..{extent}, destination reversed");
        assert_eq!(
            copied(&segments),
            walked(&|u| u, &|u| last - u),
            "{first:?} {second:?} on 0..{extent}, destination reversed"
        );
    }
}

/// Tests 24 x 24 x 24 pairs of chains of two digits with 9 choices of strides.
#[test]
fn refinements_of_two_digits_copy_every_number_once() {
    for extent in 1..=MOST {
        for (a, b) in (1..=MOST).flat_map(|a| (1..=MOST).map(move |b| (a, b))) {
            // The blocks are apart, repeated or interleaved, or a block continues where the previous block
            // ended.
            for first in [(100, 1), (0, 1), (1, 30)] {
                for second in [(100, 1), (2 * b, 2), (1, 30)] {
                    let digits = |divisor, (high, low)| -> Vec<(u64, u64)> {
                        if divisor > 1 { vec![(divisor, high), (1, low)] } else { vec![(1, low)] }
                    };
                    check_refinement(&digits(a, first), &digits(b, second), extent);
                }
            }
        }
    }
}

/// Blocks of 257 and blocks of 256 repeat together only after 65,792 numbers.
#[test]
fn a_table_has_at_most_65536_entries() {
    let refined = |extent| {
        let (source, destination) = (chain(&[(257, 1000), (1, 1)], extent), chain(&[(256, 500), (1, 1)], extent));
        refine(extent, &source, &destination, &mut Segments::with_capacity(0))
    };
    assert_eq!((refined(65_536), refined(65_537)), (Some(()), None));
}

/// Tests all pairs of chains of three digits whose top divisor is below the extent. There are 256,795 pairs.
/// The strides 10,000, 100 and 1 give every number an offset of its own.
#[test]
fn refinements_of_three_digits_copy_every_number_once() {
    let mut checked = 0;
    for extent in 4..=MOST {
        let below: Vec<_> = pairs_of_divisors().filter(|&(high, _)| high < extent).collect();
        for (first, second) in below.iter().flat_map(|first| below.iter().map(move |second| (first, second))) {
            let digits = |&(high, low): &(u64, u64)| [(high, 10_000), (low, 100), (1, 1)];
            check_refinement(&digits(first), &digits(second), extent);
            checked += 1;
        }
    }
    assert_eq!(checked, 256_795);
}

/// Tests 24 x 24 x 81 pairs of chains of two digits below every end, and 253 x 253 x 16 pairs of three
/// digits.
#[test]
fn the_first_deviation_of_any_two_chains_is_that_of_a_walk() {
    let check = |first: &Digits, second: &Digits, ends: std::ops::RangeInclusive<u64>| {
        let (a, b) = (values(first, MOST), values(second, MOST));
        let walked = (0..).zip(a.iter().zip(&b)).find(|(_, (a, b))| a != b).map(|(number, _)| number);
        for end in ends {
            let found = first_deviation(&chain(first, end), &chain(second, end), end);
            assert_eq!(found, Ok(walked.filter(|&place| place < end)), "{first:?} {second:?} below {end}");
        }
    };
    for (p, q) in (2..=MOST).flat_map(|p| (2..=MOST).map(move |q| (p, q))) {
        for strides in 0..81 {
            let (first, second) = ([(p, strides / 27), (1, strides / 9 % 3)], [(q, strides / 3 % 3), (1, strides % 3)]);
            check(&first, &second, 1..=MOST);
        }
    }
    let all: Vec<_> = pairs_of_divisors().collect();
    for (first, second) in all.iter().flat_map(|first| all.iter().map(move |second| (first, second))) {
        for strides in 0..16_u64 {
            let bit = |place: u32| 1 + ((strides >> place) & 1);
            let first = [(first.0, bit(0)), (first.1, bit(1)), (1, 1)];
            let second = [(second.0, bit(2)), (second.1, bit(3)), (1, 1)];
            check(&first, &second, MOST..=MOST);
        }
    }
}

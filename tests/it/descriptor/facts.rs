//! The truth table of layout facts, row by row, and every fact against its definition.

use crate::literal::cases;
use std::collections::HashMap;

use proptest::prelude::*;
use tensor_layout::strided::Overlap;
use tensor_layout::{BufferTensorDesc, DataType};

/// The facts of a tensor: packed, broadcast, padded, overlapping, in order, inner-packed.
type Row = [bool; 6];

fn facts(desc: &BufferTensorDesc) -> Row {
    let facts = desc.facts();
    [facts.packed, facts.broadcast, facts.padded, facts.overlapping.unwrap(), facts.in_order, facts.inner_packed]
}

/// The facts that have a function of their own: packed and overlapping.
fn single_facts(desc: &BufferTensorDesc) -> [bool; 2] {
    [desc.is_packed(), matches!(desc.overlap(), Overlap::Yes { .. })]
}

fn those_of(facts: Row) -> [bool; 2] {
    [facts[0], facts[3]]
}

/// The published table (docs/DIRECTML.md). 1 stands for yes.
const TABLE: &[(&[u64], &[u64], &str)] = &[
    (&[2, 3], &[3, 1], "100011"),
    (&[2, 3], &[1, 2], "100000"),
    (&[2, 3], &[5, 1], "001011"),
    (&[2, 3], &[6, 2], "001010"),
    (&[2, 3], &[0, 1], "010101"),
    (&[2, 3], &[1, 0], "010110"),
    (&[2, 3], &[0, 0], "010110"),
    (&[2, 2], &[0, 3], "011100"),
    (&[2, 2], &[1, 1], "000111"),
    (&[2, 2], &[3, 3], "001110"),
    (&[4, 4], &[3, 4], "001000"),
    (&[1, 3], &[99, 1], "100011"),
    (&[1, 3], &[0, 1], "100011"),
    (&[3, 1], &[1, 99], "100011"),
    (&[1, 1], &[7, 7], "100011"),
    (&[1], &[0], "100011"),
    (&[], &[], "100011"),
    (&[0, 3], &[7, 7], "100011"),
    (&[3, 0], &[0, 0], "100011"),
];

#[test]
fn the_published_truth_table() {
    for &(sizes, strides, expected) in TABLE {
        let desc = BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap();
        let found: String = facts(&desc).iter().map(|&fact| if fact { '1' } else { '0' }).collect();
        assert_eq!(found, expected, "{desc}");
        // A function for a single fact gives the fact of the table.
        assert_eq!(single_facts(&desc), those_of(facts(&desc)), "{desc}");
        // A base and a total set by hand change nothing.
        let moved = desc.clone().with_base_offset(8).unwrap();
        let total = moved.min_size_in_bytes() + 64;
        assert_eq!(facts(&moved.clone().with_total_size_in_bytes(total).unwrap()), facts(&desc), "{desc}");
    }
}

#[test]
fn the_published_table_is_this_one() {
    let page = include_str!("../../../docs/DIRECTML.md");
    for &(sizes, strides, expected) in TABLE {
        let layout = format!("`{sizes:?}:{strides:?}`").replace(' ', "");
        let line =
            page.lines().find(|line| line.starts_with(&format!("| {layout} "))).unwrap_or_else(|| panic!("{layout}"));
        let cells: String =
            line.split('|').skip(2).take(6).map(|cell| if cell.trim() == "yes" { '1' } else { '0' }).collect();
        assert_eq!(cells, expected, "{layout}");
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn every_fact_is_its_definition(axes in proptest::collection::vec((0..5_u64, 0..12_u64), 0..4), base in 0..9_u64) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap();
        let offsets: Vec<u64> = desc.offsets().collect();
        let mut uses: HashMap<u64, u32> = HashMap::new();
        offsets.iter().for_each(|&offset| *uses.entry(offset).or_default() += 1);
        let overlapping = uses.values().any(|&n| n > 1);
        let padded = match (offsets.iter().min(), offsets.iter().max()) {
            (Some(first), Some(last)) => (*first..=*last).any(|offset| !uses.contains_key(&offset)),
            _ => false,
        };
        let used = |axis: &usize| sizes[*axis] > 1 && !offsets.is_empty();
        let live: Vec<usize> = (0..sizes.len()).filter(used).collect();
        let expected = [
            !padded && !overlapping,
            live.iter().any(|&axis| strides[axis] == 0),
            padded,
            overlapping,
            offsets.is_sorted(),
            live.last().is_none_or(|&axis| strides[axis] == 1),
        ];
        prop_assert_eq!(facts(&desc), expected, "{}", desc);
        prop_assert_eq!(single_facts(&desc), those_of(expected), "{}", desc);
    }
}

/// All matrices are tried with strides that equal the largest offset further in, with sizes of 1 and any
/// stride, and with sizes of 0.
#[test]
fn facts_of_all_small_matrices() {
    for number in 0..4_u64.pow(2) * 7_u64.pow(2) {
        let (sizes, strides) = ([number % 4, number / 4 % 4], [number / 16 % 7, number / 112]);
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides)).unwrap();
        let offsets: Vec<u64> = desc.offsets().collect();
        let live: Vec<u64> =
            (0..2).filter(|&axis| sizes[axis] > 1 && !offsets.is_empty()).map(|axis| strides[axis]).collect();
        assert_eq!(facts(&desc)[4], offsets.is_sorted(), "{desc}");
        assert_eq!(facts(&desc)[5], live.last().is_none_or(|&stride| stride == 1), "{desc}");
        assert_eq!(single_facts(&desc), those_of(facts(&desc)), "{desc}");
    }
}

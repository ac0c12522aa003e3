//! The overlap of one tensor and of two tensors, against brute force, and the limit of the search.

use crate::literal::cases;
use crate::read::strided;
use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use tensor_layout::strided::Overlap;
use tensor_layout::{BufferTensorDesc, DataType};

fn desc(data_type: DataType) -> impl Strategy<Value = BufferTensorDesc> {
    let axes = proptest::collection::vec((0..6_u64, 0..25_u64), 0..4);
    (axes, 0..60_u64).prop_map(move |(axes, base)| {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap()
    })
}

fn bits(desc: &BufferTensorDesc) -> HashSet<u64> {
    let width = u64::from(desc.data_type().bits());
    desc.offsets().flat_map(|offset| (0..width).map(move |bit| offset * width + bit)).collect()
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn of_one_tensor_equals_brute_force(desc in desc(DataType::F32)) {
        let mut seen = HashMap::new();
        let repeated = desc.offsets().any(|offset| seen.insert(offset, ()).is_some());
        match desc.overlap() {
            Overlap::No => prop_assert!(!repeated),
            Overlap::Yes { first, second, offset } => {
                prop_assert_ne!(&first, &second);
                prop_assert_eq!(desc.offset(&first), Ok(offset));
                prop_assert_eq!(desc.offset(&second), Ok(offset));
            }
            Overlap::Undecided => prop_assert!(false, "{desc} is not too hard"),
        }
    }

    #[test]
    fn of_two_tensors_equals_brute_force(
        a in prop_oneof![desc(DataType::F16), desc(DataType::U4), desc(DataType::U8)],
        b in prop_oneof![desc(DataType::F16), desc(DataType::F32), desc(DataType::U4)],
    ) {
        let shared: HashSet<u64> = bits(&a).intersection(&bits(&b)).copied().collect();
        match a.overlap_with(&b) {
            Overlap::No => prop_assert!(shared.is_empty()),
            Overlap::Yes { first, second, offset } => {
                prop_assert_eq!(a.offset(&first), Ok(offset));
                let (x, y) = (u64::from(a.data_type().bits()), u64::from(b.data_type().bits()));
                let (start, other) = (offset * x, b.offset(&second).unwrap() * y);
                prop_assert!(start < other + y && other < start + x);
            }
            Overlap::Undecided => prop_assert!(false, "not too hard"),
        }
    }
}

// rten's documentation names this tensor as an error of its quick test.
#[test]
fn quick_tests_call_4_4_by_3_4_overlapping_and_it_is_not() {
    assert_eq!(strided(&[4, 4], &[3, 4]).overlap(), Overlap::No);
}

#[test]
fn interleaved_columns_of_a_large_matrix_do_not_overlap() {
    let whole = BufferTensorDesc::packed(DataType::F16, &[1 << 20, 1 << 10]).unwrap();
    let (left, right) = (whole.slice_axis(1, ..512).unwrap(), whole.slice_axis(1, 512..).unwrap());
    assert_eq!(left.overlap_with(&right), Overlap::No);
    let both = whole.slice_axis(1, 511..600).unwrap();
    assert!(matches!(left.overlap_with(&both), Overlap::Yes { .. }));
    // The even elements are compared with the odd elements.
    let even = whole.slice_axis(1, tensor_layout::strided::Slice::ALL.step_by(2)).unwrap();
    let odd = whole.slice_axis(1, tensor_layout::strided::Slice::from(1..).step_by(2)).unwrap();
    assert_eq!(even.overlap_with(&odd), Overlap::No);
    assert!(matches!(even.overlap_with(&even), Overlap::Yes { .. }));
}

#[test]
fn a_search_past_its_limit_says_so() {
    // Coprime strides and sizes that leave millions of candidates.
    let hard = strided(
        &[4_003, 4_019, 4_043, 4_049, 4_057],
        &[1_000_000_007, 1_000_000_009, 1_000_000_021, 1_000_000_033, 1_000_000_087],
    );
    let start = std::time::Instant::now();
    assert_eq!(hard.overlap(), Overlap::Undecided);
    let other = hard.clone().with_base_offset(1).unwrap();
    assert_eq!(hard.overlap_with(&other), Overlap::Undecided);
    assert!(start.elapsed().as_secs() < 5, "the work limit does not hold");
}

#[test]
fn empty_tensors_overlap_nothing() {
    let empty = strided(&[0, 3], &[0, 0]);
    assert_eq!(empty.overlap(), Overlap::No);
    assert_eq!(empty.overlap_with(&strided(&[3], &[1])), Overlap::No);
}

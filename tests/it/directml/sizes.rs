//! `calc_buffer_tensor_size` against recorded runs of every published generation of DirectML's helper
//! (tests/data/dml_sizes.txt), and against the formula in wide arithmetic.

use crate::literal::cases;
use proptest::prelude::*;
use tensor_layout::element::Naming;
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType, calc_buffer_tensor_size};

fn list(text: &str) -> Vec<u64> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
}

/// The type of a short name of the file.
fn data_type(name: &str) -> DataType {
    let name = match name.split_at(1) {
        ("F", bits) => format!("FLOAT{bits}"),
        ("I", bits) => format!("INT{bits}"),
        ("U", bits) => format!("UINT{bits}"),
        _ => panic!("{name}"),
    };
    DataType::from_name_in(Naming::Directml, &name).unwrap()
}

#[test]
fn every_recorded_size() {
    let mut checked = 0;
    for line in include_str!("../../data/dml_sizes.txt").lines().filter(|line| line.contains(" exact=")) {
        let mut words = line.split_whitespace();
        let data_type = data_type(words.next().unwrap());
        let sizes = list(words.next().unwrap());
        let strides = Some(words.next().unwrap()).filter(|&text| text != "-").map(list);
        let field = |key: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned)
        };
        let found = calc_buffer_tensor_size(data_type, &sizes, strides.as_deref());
        match field("exact").unwrap().parse::<u128>().ok().and_then(|exact| u64::try_from(exact).ok()) {
            Some(exact) if !sizes.contains(&0) => assert_eq!(found, Ok(exact), "{line}"),
            _ => assert!(matches!(found.unwrap_err().code(), "overflow" | "zero_size"), "{line}"),
        }
        // If the newest helper is right, all numbers of this crate with its names are right.
        if line.ends_with("[ok]") {
            let desc = BufferTensorDesc::new(data_type, &sizes, strides.as_deref()).unwrap();
            assert_eq!(desc.min_size_in_bytes().to_string(), field("head").unwrap(), "{line}");
            assert_eq!(desc.element_count().to_string(), field("logical").unwrap(), "{line}");
            assert_eq!((desc.span_elements() - 1).to_string(), field("last_index").unwrap(), "{line}");
        }
        checked += 1;
    }
    assert_eq!(checked, 49);
}

#[test]
fn every_recorded_tensor_policy() {
    let mut checked = 0;
    for line in include_str!("../../data/dml_sizes.txt").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["policy", policy, kind, sizes, strides, total] = words[..] else {
            continue;
        };
        let desc = match policy {
            "interleaved" => {
                let sizes = list(sizes);
                let order = ["a", "ab", "acb", "acdb", "acdeb"][sizes.len() - 1].parse().unwrap();
                BufferTensorDesc::with_order(data_type(kind), &sizes, order)
            }
            _ => BufferTensorDesc::packed(data_type(kind), &list(sizes)),
        };
        let desc = desc.unwrap();
        let strides = Some(strides.strip_prefix("strides=").unwrap()).filter(|&text| text != "-").map(list);
        match strides {
            Some(strides) => assert_eq!(desc.strides(), strides, "{line}"),
            None => assert_eq!(desc.explicit_strides(), None, "{line}"),
        }
        assert_eq!(format!("total={}", desc.total_tensor_size_in_bytes()), total, "{line}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}

#[test]
fn every_recorded_calculate_strides() {
    let mut checked = 0;
    for line in include_str!("../../data/dml_sizes.txt").lines().filter_map(|line| line.strip_prefix("strides ")) {
        let (given, strides) = line.split_once('=').unwrap();
        let words: Vec<&str> = given.split_whitespace().collect();
        let order: AxisOrder = words[0].parse().unwrap();
        let broadcast: Vec<bool> =
            words.get(2).map_or(vec![], |marks| list(marks)).iter().map(|&mark| mark == 1).collect();
        let sizes = list(words[1]);
        let once: Vec<u64> = sizes
            .iter()
            .enumerate()
            .map(|(axis, &size)| if broadcast.get(axis) == Some(&true) { 1 } else { size })
            .collect();
        let found = BufferTensorDesc::with_order(DataType::F32, &once, order).unwrap().broadcast_to(&sizes).unwrap();
        // The recorded stride of an axis of size 1 is 0, and is never used.
        for (axis, stride) in list(strides.trim()).into_iter().enumerate().filter(|&(axis, _)| sizes[axis] > 1) {
            assert_eq!(found.strides()[axis], stride, "{line}");
        }
        checked += 1;
    }
    assert_eq!(checked, 6);
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn the_formula_in_wide_arithmetic(
        axes in proptest::collection::vec((1..70_000_u64, prop_oneof![0..9_u64, 0..5_000_000_000_u64]), 0..5),
        kind in 0..DataType::ALL.len(),
    ) {
        let data_type = DataType::ALL[kind];
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let last: u128 = sizes.iter().zip(&strides).map(|(&n, &s)| u128::from(n - 1) * u128::from(s)).sum();
        let exact = ((last + 1) * u128::from(data_type.bits())).div_ceil(8).next_multiple_of(4);
        let countable = sizes.iter().try_fold(1_u64, |n, &size| n.checked_mul(size)).is_some();
        match calc_buffer_tensor_size(data_type, &sizes, Some(&strides)) {
            Ok(size) => prop_assert_eq!(u128::from(size), exact),
            Err(_) => prop_assert!(exact > u128::from(u64::MAX) || last >= u128::from(u64::MAX) || !countable),
        }
        let product: u128 = sizes.iter().map(|&n| u128::from(n)).fold(1, u128::saturating_mul);
        let exact = product.saturating_mul(data_type.bits().into()).div_ceil(8).checked_next_multiple_of(4);
        match calc_buffer_tensor_size(data_type, &sizes, None) {
            Ok(size) => prop_assert_eq!(Some(u128::from(size)), exact),
            // Elements must be countable. More than 2^64 bits are refused, even if their bytes would fit.
            Err(_) => prop_assert!(exact.is_none_or(|exact| exact > u128::from(u64::MAX)) || !countable),
        }
    }
}

// These wrong answers of the helper were measured.
#[test]
fn sizes_where_the_original_wraps() {
    let exact = |t, sizes: &[u64], strides: &[u64]| calc_buffer_tensor_size(t, sizes, Some(strides)).unwrap();
    assert_eq!(exact(DataType::F32, &[2, 2], &[4_294_967_295, 1]), 17_179_869_188);
    assert_eq!(exact(DataType::U8, &[65537, 1], &[65536, 1]), 4_294_967_300);
    assert_eq!(exact(DataType::F32, &[65537, 65537], &[65536, 1]), 17_180_131_332);
    assert_eq!(calc_buffer_tensor_size(DataType::U8, &[1_u64 << 31, 1 << 31, 4], None).unwrap_err().code(), "overflow");
    assert_eq!(exact(DataType::F32, &[1 << 30], &[1]), 1 << 32);
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[0, 3], Some(&[3, 1])).unwrap_err().code(), "zero_size");
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[0, 3], None).unwrap_err().code(), "zero_size");
}

#[test]
fn rank_0_is_one_element() {
    assert_eq!(calc_buffer_tensor_size(DataType::F64, &[0_u64; 0], Some(&[])), Ok(8));
    assert_eq!(calc_buffer_tensor_size(DataType::U8, &[0_usize; 0], None), Ok(4));
    // Integers may have any type, as engines have them.
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2_u8, 3], Some(&[5, 1])), Ok(32));
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2_u32, 3], Some(&[5, 1])), Ok(32));
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2_usize, 3], Some(&[5, 1])), Ok(32));
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2_u128, 3], Some(&[5, 1])), Ok(32));
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[u128::MAX], None).unwrap_err().code(), "overflow");
    assert_eq!(calc_buffer_tensor_size(DataType::F32, &[2_i64, -3], None).unwrap_err().code(), "negative");
}

#[test]
fn sizes_of_2_to_the_40_squared_are_an_error_with_any_strides() {
    for strides in [None, Some(&[0, 0][..]), Some(&[1, 1][..]), Some(&[1 << 40, 1][..])] {
        for t in [DataType::U1, DataType::F32] {
            assert_eq!(calc_buffer_tensor_size(t, &[1_u64 << 40, 1 << 40], strides).unwrap_err().code(), "overflow");
            assert_eq!(BufferTensorDesc::new(t, &[1_u64 << 40, 1 << 40], strides).unwrap_err().code(), "overflow");
        }
    }
}

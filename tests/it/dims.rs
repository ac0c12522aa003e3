//! `Dims` is a list of numbers: it compares, converts and iterates like a list.

use tensor_layout::Dims;

#[test]
fn dims_compare_with_every_list_of_numbers() {
    let dims = Dims::from(vec![2, 3]);
    let (same, other, shorter): (&[u64], &[u64], &[u64]) = (&[2, 3], &[3, 2], &[2]);
    assert!(dims == same && dims == *same && dims == [2, 3] && dims == vec![2, 3]);
    assert!(dims != other && dims != *shorter && dims != [2, 3, 1] && dims != vec![3, 2]);
}

/// Nine numbers are more than a `Dims` holds without an allocation.
#[test]
fn dims_are_walked_from_either_end_and_changed_in_place() {
    for count in [3, 9_u64] {
        let mut dims: Dims = (1..=count).collect();
        for number in &mut dims {
            *number *= 10;
        }
        let slice: &[u64] = dims.as_ref();
        assert_eq!(slice, (1..=count).map(|i| 10 * i).collect::<Vec<_>>());
        let mut ends = dims.clone().into_iter();
        assert_eq!((ends.next(), ends.next_back(), ends.len()), (Some(10), Some(10 * count), slice.len() - 2));
        assert_eq!(Vec::from(dims.clone()), slice);
    }
}

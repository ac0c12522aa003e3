//! Offsets far into a tensor, and in memory order.

use tensor_layout::{BufferTensorDesc, DataType};

fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap()
}

// A place is a `usize`, and these are beyond 32 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_nth_offset_is_not_walked_to() {
    let desc = BufferTensorDesc::packed(DataType::U8, &[1 << 20, 1 << 20, 3]).unwrap();
    assert_eq!(desc.offsets().nth(1_000_000_000_000), Some(1_000_000_000_000));
    assert_eq!(desc.offsets().last(), Some(3 * (1 << 40) - 1));
    assert_eq!(desc.offsets().nth(3 << 40), None);
    for (sizes, strides) in
        [(vec![3, 4, 5], vec![1, 3, 12]), (vec![2, 1, 3], vec![5, 9, 0]), (vec![], vec![]), (vec![0, 3], vec![3, 1])]
    {
        let desc = strided(&sizes, &strides);
        let all: Vec<u64> = desc.offsets().collect();
        for first in 0..all.len() + 1 {
            for second in 0..all.len() + 1 {
                let mut offsets = desc.offsets();
                assert_eq!(offsets.nth(first), all.get(first).copied());
                assert_eq!(offsets.nth(second), all.get(first + 1 + second).copied());
                assert_eq!(offsets.count(), all.len().saturating_sub(first + second + 2));
            }
        }
        assert_eq!(desc.offsets().last(), all.last().copied());
    }
}

#[test]
fn offsets_in_memory_order_do_not_take_a_step_for_each_way_to_reach_one() {
    // 36 axes of size 2 and stride 1: offset k is reached in 36 over k ways.
    let desc = strided(&[2; 36], &[1; 36]);
    let mut offsets = desc.offsets_in_memory_order();
    let mut ways = 1_u64;
    for offset in 0..6_u64 {
        assert!(offsets.by_ref().take(usize::try_from(ways).unwrap()).all(|found| found == offset));
        ways = ways * (36 - offset) / (offset + 1);
    }
    assert_eq!(offsets.next(), Some(6));
    // A broadcast axis inside, and runs that begin together.
    for (sizes, strides) in
        [(vec![4, 3, 5], vec![3, 2, 0]), (vec![3, 3, 3], vec![2, 2, 3]), (vec![2, 2, 2, 2], vec![1, 1, 1, 5])]
    {
        let desc = strided(&sizes, &strides);
        let mut sorted: Vec<u64> = desc.offsets().collect();
        sorted.sort_unstable();
        assert_eq!(desc.offsets_in_memory_order().collect::<Vec<_>>(), sorted);
    }
}

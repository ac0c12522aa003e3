//! Offsets far into a tensor. An offset is taken by its position, a `usize`, and these are beyond 32 bits.
#![cfg(target_pointer_width = "64")]

use crate::read::strided;
use tensor_layout::{BufferTensorDesc, DataType};

#[test]
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

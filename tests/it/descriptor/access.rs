//! Access to a tensor: runs and operands of matrix products, against brute force, and the recorded mistakes
//! of engines.

use crate::literal::cases;
use proptest::prelude::*;
use tensor_layout::strided::{Blocks, UniformBlocks};
use tensor_layout::strided::{GemmOperand, IndexWidth};
use tensor_layout::{BufferTensorDesc, DataType};

fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap()
}

fn desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axes = proptest::collection::vec((0..5_u64, prop_oneof![0..12_u64, Just(1)]), 0..4);
    (axes, 0..9_u64, any::<bool>()).prop_map(|(axes, base, packed)| {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, (!packed).then_some(&strides)).unwrap();
        desc.with_base_offset(base).unwrap()
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn offsets_are_those_of_every_index_in_order(desc in desc()) {
        let mut expected = Vec::new();
        for number in 0..desc.element_count() {
            let mut rest = number;
            let mut index = vec![0; desc.rank()];
            for axis in (0..desc.rank()).rev() {
                index[axis] = rest % desc.sizes()[axis];
                rest /= desc.sizes()[axis];
            }
            expected.push(desc.offset(&index).unwrap());
        }
        prop_assert_eq!(desc.offsets().size_hint(), (expected.len(), Some(expected.len())));
        prop_assert_eq!(desc.offsets().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn blocks_are_the_offsets_in_stretches(desc in desc()) {
        let blocks = desc.blocks();
        let stretches: Vec<_> = blocks.clone().into_iter().collect();
        let run = stretches.first().map_or(0, |block| block.end - block.start);
        let flat: Vec<u64> = stretches.iter().cloned().flatten().collect();
        prop_assert_eq!(flat, desc.offsets().collect::<Vec<_>>());
        prop_assert!(stretches.iter().all(|s| s.end - s.start == run));
        match blocks {
            Blocks::Empty => prop_assert!(stretches.is_empty()),
            Blocks::Single(_) => prop_assert_eq!(stretches.len(), 1),
            Blocks::Uniform(UniformBlocks { count, .. }) => prop_assert!(count > 1),
            Blocks::Many(_) => prop_assert!(stretches.len() > 2),
        }
    }

    #[test]
    fn every_vector_load_is_aligned_and_inside_a_run(desc in desc(), widest in 0..70_u64) {
        let bytes = desc.vector_bytes(widest).unwrap();
        prop_assert!(bytes <= widest);
        for block in desc.blocks() {
            if bytes > 0 {
                prop_assert_eq!(4 * block.start % bytes, 0);
                prop_assert_eq!(4 * (block.end - block.start) % bytes, 0);
            }
        }
    }

    #[test]
    fn a_gemm_operand_reads_every_element_where_it_is_stored(desc in desc()) {
        let Ok(operand) = desc.gemm_operand() else {
            return Ok(());
        };
        let mut expected = desc.offsets();
        let batch: Vec<u64> = {
            let (sizes, strides) = (operand.batch_sizes.to_vec(), operand.batch_strides.to_vec());
            strided(&sizes, &strides).offsets().collect()
        };
        let along = if operand.transposed { operand.rows } else { operand.columns };
        prop_assert!(operand.leading_dimension >= along.max(1));
        for matrix in batch {
            for row in 0..operand.rows {
                for column in 0..operand.columns {
                    let (major, minor) = if operand.transposed { (column, row) } else { (row, column) };
                    let offset = operand.offset + matrix + major * operand.leading_dimension + minor;
                    prop_assert_eq!(Some(offset), expected.next());
                }
            }
        }
    }

}

#[test]
fn a_gemm_operand_is_refused_with_its_reason() {
    let reason = strided(&[4, 4], &[8, 2]).gemm_operand().unwrap_err();
    assert_eq!(reason.code(), "not_expressible");
    assert_eq!(
        reason.to_string(),
        "no matrix operand describes this layout: rows are 4:8 and columns 4:2, but one of the two needs stride 1 \
         and the other a stride of at least that one's size"
    );
    assert_eq!(strided(&[4], &[1]).gemm_operand().unwrap_err().code(), "axis_out_of_range");
}

/// Sizes and strides of a batch.
fn batch_of(operand: &GemmOperand) -> Vec<(u64, u64)> {
    operand.batch_sizes.iter().copied().zip(operand.batch_strides.iter().copied()).collect()
}

// candle 3744 and 3960: a batch of stride 0 was multiplied as if it were packed.
#[test]
fn a_broadcast_batch_is_distinguished() {
    let weights = strided(&[8, 4], &[4, 1]).broadcast_to(&[3, 8, 4]).unwrap().gemm_operand().unwrap();
    assert_eq!(batch_of(&weights), [(3, 0)]);
}

/// A strided batched call takes one stride. Axes of a batch that follow each other are joined, and other axes
/// are not.
#[test]
fn a_batch_is_joined_where_one_stride_walks_it() {
    let batch = |sizes: &[u64], strides: &[u64]| batch_of(&strided(sizes, strides).gemm_operand().unwrap());
    assert!(batch(&[8, 4], &[4, 1]).is_empty(), "a single matrix");
    assert_eq!(batch(&[2, 3, 8, 4], &[96, 32, 4, 1]), vec![(6, 32)]);
    assert_eq!(batch(&[2, 3, 8, 4], &[100, 32, 4, 1]), vec![(2, 100), (3, 32)]);
    assert_eq!(batch(&[2, 3, 8, 4], &[0, 32, 4, 1]), vec![(2, 0), (3, 32)]);
    // The matrix is not in the last two axes.
    let turned = strided(&[8, 3, 4], &[4, 32, 1]).transpose(0, 1).unwrap().gemm_operand().unwrap();
    assert_eq!((turned.rows, turned.columns, batch_of(&turned)), (8, 4, vec![(3, 32)]));
}

#[test]
fn iterators_know_how_many_are_left() {
    for desc in [strided(&[3, 4], &[5, 1]), strided(&[3, 2, 2], &[40, 9, 3]), strided(&[12], &[1]), strided(&[0], &[1])]
    {
        let (all, blocks): (Vec<u64>, _) = (desc.offsets().collect(), desc.blocks());
        let stretches: Vec<_> = blocks.clone().into_iter().collect();
        let mut iterator = blocks.into_iter();
        for taken in 0..=stretches.len() {
            assert_eq!(iterator.size_hint(), (stretches.len() - taken, Some(stretches.len() - taken)), "{desc}");
            iterator.next();
        }
        for skipped in 0..=all.len() {
            let mut offsets = desc.offsets();
            assert_eq!(offsets.nth(skipped), all.get(skipped).copied(), "{desc}");
            assert_eq!(offsets.collect::<Vec<u64>>(), all.get(skipped + 1..).unwrap_or(&[]), "{desc}");
        }
    }
}

// cubek 209: a matrix was multiplied by a vector, and the code was chosen by strides without a meaning.
#[test]
fn strides_of_size_1_axes_do_not_decide() {
    let desc = strided(&[2, 2, 1, 32], &[64, 32, 1, 1]);
    let operand = desc.gemm_operand().unwrap();
    assert_eq!((operand.transposed, operand.leading_dimension, batch_of(&operand)), (false, 32, vec![(4, 32)]));
    let column = strided(&[32, 1], &[1, 32]).gemm_operand().unwrap();
    assert_eq!((column.transposed, column.leading_dimension), (false, 1));
    let spread = strided(&[1, 32], &[1, 7]).gemm_operand().unwrap();
    assert_eq!((spread.transposed, spread.leading_dimension), (true, 7));
}

#[test]
fn index_widths_at_their_edges() {
    let width = |last: u64| strided(&[2], &[last]).index_width();
    assert_eq!(width(i32::MAX as u64), IndexWidth::I32);
    assert_eq!(width(i32::MAX as u64 + 1), IndexWidth::U32);
    assert_eq!(width(u64::from(u32::MAX)), IndexWidth::U32);
    assert_eq!(width(u64::from(u32::MAX) + 1), IndexWidth::U64);
    assert_eq!(strided(&[0], &[0]).index_width(), IndexWidth::I32);
}

#[test]
fn loads_of_small_elements() {
    let nibbles = BufferTensorDesc::packed(DataType::U4, &[3, 8]).unwrap();
    assert_eq!(nibbles.vector_bytes(16).unwrap(), 4);
    assert_eq!(BufferTensorDesc::packed(DataType::U4, &[3, 7]).unwrap().vector_bytes(16).unwrap(), 0);
    assert_eq!(nibbles.with_base_offset(1).unwrap().vector_bytes(16).unwrap(), 0);
    assert_eq!(BufferTensorDesc::packed(DataType::C128, &[4]).unwrap().vector_bytes(64).unwrap(), 64);
}

#[test]
fn rows_padded_to_an_alignment() {
    let rows = |t, size, alignment| BufferTensorDesc::padded_rows(t, &[4, size], alignment);
    assert_eq!(rows(DataType::U8, 256, 256).unwrap().strides(), [256, 1]);
    assert_eq!(rows(DataType::U8, 257, 256).unwrap().strides(), [512, 1]);
    assert_eq!(rows(DataType::U4, 3, 4).unwrap().strides(), [8, 1]);
    assert_eq!(rows(DataType::F32, 5, 24).unwrap().strides(), [6, 1]);
    for (t, alignment) in [(DataType::F32, 0), (DataType::F32, 2), (DataType::F32, 6), (DataType::C128, 8)] {
        assert_eq!(rows(t, 5, alignment).unwrap_err().code(), "not_expressible");
    }
    assert_eq!(BufferTensorDesc::padded_rows(DataType::F32, &[0_u64; 0], 256).unwrap().min_size_in_bytes(), 4);
    assert_eq!(rows(DataType::U8, u64::MAX, 256).unwrap_err().code(), "overflow");
}

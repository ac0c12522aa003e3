//! The literal meaning of oneDNN's blocked formats.

use super::indices;

/// oneDNN's rule, literally: the blocks are peeled from the innermost block on, and then come the dense outer
/// strides. Returns the offsets of all indices in row-major order, and the number of elements.
pub fn onednn_offsets(sizes: &[u64], outer: &[usize], blocks: &[(u64, usize)]) -> (Vec<u64>, u64) {
    let mut total = vec![1; sizes.len()];
    for &(block, dim) in blocks {
        total[dim] *= block;
    }
    let mut strides = vec![0; sizes.len()];
    let mut next: u64 = blocks.iter().map(|&(block, _)| block).product();
    for &dim in outer.iter().rev() {
        strides[dim] = next;
        next *= sizes[dim].div_ceil(total[dim]);
    }
    let offset = |mut index: Vec<u64>| {
        let (mut offset, mut size) = (0, 1);
        for &(block, dim) in blocks.iter().rev() {
            offset += index[dim] % block * size;
            index[dim] /= block;
            size *= block;
        }
        offset + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<u64>()
    };
    (indices(sizes).map(offset).collect(), next)
}

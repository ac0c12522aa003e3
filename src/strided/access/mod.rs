//! Information for code that reads a tensor: contiguous blocks, the width of aligned loads, the order of
//! offsets, and operands of matrix multiplications.

mod blocks;
mod offsets;
mod runs;

pub use blocks::{BlockIter, Blocks, ManyBlocks, UniformBlocks};
pub use offsets::Offsets;

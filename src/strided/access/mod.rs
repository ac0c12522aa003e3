//! How a tensor is read: how long its contiguous runs are, how wide a load may be, in which order its offsets
//! come, and whether a matrix multiplication can take it as it is.

mod blocks;
mod gemm;
mod offsets;
mod runs;

pub use blocks::{BlockIter, Blocks, ManyBlocks, UniformBlocks};
pub use gemm::GemmOperand;
pub use offsets::Offsets;

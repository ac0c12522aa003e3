//! What a kernel asks before it runs: can a matrix multiplication take this, how long are the runs,
//! how wide may a load be, in which order do the offsets come.

mod access;
mod blocks;
mod gemm;
mod memory_order;
mod offsets;

pub use blocks::{Blocks, UniformBlocks};
pub use gemm::GemmOperand;
pub use memory_order::MemoryOrder;
pub use offsets::Offsets;

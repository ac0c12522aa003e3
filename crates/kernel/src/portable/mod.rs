//! Kernels in safe Rust. They are correct on any CPU, and the kernels over vectors are tested against them.
//!
//! The kernels write through [`Destination::write`](crate::Destination::write), which also works for memory
//! that must not be read. Only [`bit_rows`] and the kernels of packed elements read the destination, because
//! their elements share bytes with neighbours.

pub mod bit_rows;
mod block_permutation;
mod interleave_bits;
mod run;
pub mod width;

pub(super) use run::run;

/// Where an iteration begins.
struct Iteration<'a> {
    /// The source, from the start of the iteration on.
    source: &'a [u8],
    /// The destination offset of the start of the iteration, in bytes.
    to: usize,
}

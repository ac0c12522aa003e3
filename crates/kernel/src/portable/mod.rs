//! Kernels in safe Rust: right on any CPU, and what the kernels over vectors are tested against.
//!
//! They write through [`Destination::write`](crate::Destination::write), which memory that is never read has
//! too. Only [`bit_rows`] and packed elements, which share bytes with their neighbours, change bytes that can
//! be read.

pub mod bit_rows;
mod block_permutation;
mod interleave_bits;
mod run;
pub mod width;

pub(super) use run::run;

/// Where an iteration begins.
struct Places<'a> {
    /// The source from the beginning of the iteration on.
    source: &'a [u8],
    /// The byte of the destination at which the iteration begins.
    to: usize,
}

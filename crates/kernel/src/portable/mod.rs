//! Safe Rust kernels: right on any CPU, and the twins that the vectors are tested against.
//!
//! Their destination is of `MaybeUninit` bytes, which safe Rust can write and cannot read. Only [`bit_rows`],
//! for rows that share bytes with their neighbours, takes bytes that can be read.

pub mod bit_rows;
mod interleave_bits;
mod run;
pub mod width;

pub(super) use run::run;

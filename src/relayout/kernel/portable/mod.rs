//! Safe Rust kernels: right on any CPU, and the twins that the vectors are tested against.

pub(in super::super) mod bit_rows;
mod interleave_bits;
mod run;
pub(in super::super) mod width;

pub(super) use run::run;

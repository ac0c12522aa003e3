//! Vectors of x86-64 CPUs: instructions only. What is done with them stands in [`simd`](super::simd).

pub(super) mod avx2;
pub(super) mod avx512;

//! Vectors of x86-64 CPUs: instructions only. What is done with them stands in [`simd`](super::simd).
//!
//! `avx2` and `avx512` have one shape, because both implement [`Vector`](super::simd::Vector): under each name stands the instruction of
//! that width. A macro over both would hide which instruction that is.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod cpuid;

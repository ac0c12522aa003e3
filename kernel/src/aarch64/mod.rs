//! Vectors of 64-bit ARM CPUs: instructions only, as in `x86_64`. What is done with them stands in [`simd`](super::simd).

pub(super) mod neon;

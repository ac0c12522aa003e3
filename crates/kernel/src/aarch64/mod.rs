//! Vectors of 64-bit ARM CPUs: instructions only, as in `x86_64`. What is done with them is in
//! [`simd`](super::simd).

pub(super) mod neon;

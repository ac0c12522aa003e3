//! The vectors of 64-bit ARM CPUs: instructions only, as in `x86_64`. The kernels that use these vectors are
//! in [`simd`](super::simd).

pub(super) mod neon;

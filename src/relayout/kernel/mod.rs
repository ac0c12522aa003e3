//! The innermost loops. Of the library, only this folder and [`interop`](crate::interop), which reads the structures of C interfaces,
//! hold `unsafe`.
//!
//! The folder is the dispatch tree: [`call`] checks that a nest stays inside its buffers and picks a level; [`portable`] is safe
//! Rust and runs anywhere; `simd` is written once over a vector of 32 or 64 bytes, which `x86_64` and `aarch64` supply.
#![allow(unsafe_code, reason = "the SIMD kernels; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Call::run` compares the span of a nest, computed with saturation, with its buffers; all offsets lie inside"
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod bit_order;
mod call;
mod destination;
mod iterations;
mod level;
mod machine;
mod plain;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), feature = "rayon"))]
pub(super) mod threads;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(super) use call::{Call, StreamFence};
pub use destination::WriteOnly;
pub(super) use destination::{Destination, all_written};
pub(super) use level::Available;
pub use level::KernelLevel;
pub(super) use machine::Machine;
pub(super) use plain::{MOST_PLAIN_LOOPS, PlainLoop, PlainNest};
pub(super) use portable::{bit_rows, width};

//! Copies of strided loop nests over bytes, at memory speed.
//!
//! [`call`] checks that a nest stays inside its buffers and picks a level; `portable` is safe Rust and runs anywhere; `simd` is
//! written once over a vector of 32 or 64 bytes, which `x86_64` and `aarch64` supply.
#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(unsafe_code, reason = "the kernels over vectors; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Call::run` compares the span of a nest, computed with saturation, with its buffers; all offsets lie inside"
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod bit_order;
pub mod call;
pub mod cost;
mod destination;
mod iterations;
mod level;
mod machine;
pub mod nest;
mod plain;
mod portable;
mod schedule;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
pub mod threads;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use call::{Call, StreamFence};
pub use destination::{Destination, WriteOnly, all_written};
pub use level::{Available, Level};
pub use machine::{TraitSource, Traits};
pub use plain::{MOST_PLAIN_LOOPS, PlainLoop, PlainNest};
pub use portable::{bit_rows, width};
pub use schedule::{Panels, RUN_COLUMNS, Schedule, Stage};
#[cfg(feature = "software")]
pub use simd::software::take_streamed;

//! Copies of strided loop nests over bytes, at memory speed.
//!
//! [`Call`] checks that a nest is inside its buffers and that there are kernels for its [`Schedule`], and
//! picks a level; `portable` is safe Rust and runs anywhere; `simd` is written once over a vector of 32 or 64
//! bytes, which `x86_64` and `aarch64` supply.
//!
//! ```
//! use strided_copy::nest::{Axis, MicroKernel, Nest, Plane};
//! use strided_copy::{Available, Call, Destination, Level, Schedule};
//!
//! // 100 rows of 60 numbers of 4 bytes become 60 rows of 100.
//! let (columns, rows) = (Axis::new(60, 100 * 4), Axis::new(100, 60 * 4));
//! let plane = Plane { unit: 4, columns, rows, micro_tile: None };
//! let nest = Nest::new(MicroKernel::Transpose(plane), Vec::new(), 0, 0);
//! let (source, mut turned) = ((0..24_000).map(|i| i as u8).collect::<Vec<_>>(), vec![0; 24_000]);
//! let destination = Destination::from(&mut turned[..]);
//! let level = Available::up_to(Level::Avx512);
//! Call { source: &source, destination, streaming: None, level }.run(&nest, &Schedule::PLAIN);
//! assert_eq!(turned[400..404], source[4..8]);
//! ```
#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(unsafe_code, reason = "the kernels over vectors; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Call::run` compares the span of a nest, computed with saturation, with its buffers; all offsets are inside"
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
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

pub use call::{Call, StreamFence, run_uninit};
pub use destination::{Destination, WriteOnly, zeroed};
pub use level::{Available, Level};
pub use machine::{Model, Traits, Vendor};
pub use plain::{MOST_PLAIN_LOOPS, PlainLoop, PlainNest};
pub use portable::{bit_rows, width};
pub use schedule::{Panels, RUN_COLUMNS, Schedule, Stage};
#[cfg(feature = "software")]
pub use simd::software::take_streamed;

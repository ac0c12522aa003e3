//! Copies of strided loop nests over bytes, at memory speed.
//!
//! A [`Copy`](struct@Copy) is a kernel inside a nest of loops. [`Copy::new`] checks once that there is code
//! for the kernel, and computes how many bytes the copy needs of each buffer. [`Copy::run`] compares these
//! numbers with the lengths of its buffers, and runs the copy in them. The module `portable` has every kernel
//! in safe Rust, for any CPU. The module `simd` has every kernel over a vector of 32 or 64 bytes; `x86_64`
//! and `aarch64` supply the vectors.
//!
//! This crate chooses no code by itself. The fields of a [`Kernel`](kernel::Kernel) say which code runs, how
//! a plane is cut into panels, and which stores are used. The caller that makes a kernel chooses, as
//! `tensor-layout` does for pairs of layouts.
//!
//! ```
//! use strided_copy::kernel::{Axis, Kernel, Plane, Transpose};
//! use strided_copy::{Access, Available, Copy, Destination, Level};
//!
//! // 100 rows of 60 numbers of 4 bytes become 60 rows of 100.
//! let (columns, rows) = (Axis::new(60, 100 * 4), Axis::new(100, 60 * 4));
//! let plane = Plane { unit: 4, columns, rows, micro_tile: None };
//! let kernel = Kernel::Transpose { plane, by: Transpose::Panel { scattered: false } };
//! let copy = Copy::new(kernel, Vec::new(), (0, 0), Access::PLAIN, Available::up_to(Level::Avx512))?;
//! let (source, mut turned) = ((0..24_000).map(|i| i as u8).collect::<Vec<_>>(), vec![0; 24_000]);
//! copy.run(&source, Destination::from(&mut turned[..]));
//! assert_eq!(turned[400..404], source[4..8]);
//! # Ok::<(), strided_copy::Misfit>(())
//! ```
#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(unsafe_code, reason = "the kernels over vectors; every block says why it is sound")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`Copy::new` computes how far a copy reaches in checked arithmetic, and `run` compares that with its \
              buffers: all offsets are inside"
)]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, unused_imports, reason = "what only kernels over vectors use, where there are none")
)]

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    //! The vectors of 64-bit ARM CPUs. There are only instructions here, as in `x86_64`. The kernels that use
    //! these vectors are in [`simd`](super::simd).
    pub(super) mod neon;
}
mod block_permutation;
mod channels;
mod copy;
mod destination;
#[cfg(target_arch = "x86_64")]
mod features;
pub mod kernel;
mod level;
mod loops;
mod machine;
mod odometer;
mod plain;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
mod simd;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use block_permutation::{Atom, BlockLoops, BlockPermutation, PermutedBlocks};
pub use channels::{Channels, MOST_CHANNELS};
pub use copy::{Copies, Copy};
pub use destination::Destination;
pub use kernel::{Access, Misfit, Prefetch};
pub use level::{Available, Level, SMALL_PROGRAM, UnknownLevel};
pub use machine::{Caches, LINE, PAGE};
pub use plain::{MOST_PLAIN_LOOPS, PlainNest};
pub use portable::{bit_rows, width};
#[cfg(feature = "software")]
pub use simd::software::{fences, take_streamed};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

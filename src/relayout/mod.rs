//! Copies of elements from one layout to any other layout.
//!
//! The module needs the feature `relayout`, which is on by default.
//!
//! [`Relayout::new`] plans a copy: indices are cut into digits, the same ones for both layouts. The digits
//! give a short list of boxes, each a loop nest with the same extents on both sides. [`Relayout::run`] runs
//! the nests, without a division for each element.
//!
//! ```
//! use tensor_layout::{relayout::Relayout, ArrayShape};
//!
//! let row_major: ArrayShape = "u8[2,3]{1,0}".parse()?;
//! let column_major: ArrayShape = "u8[2,3]{0,1}".parse()?;
//! let mut turned = [0; 6];
//! Relayout::new(&row_major, &column_major)?.run(b"abcdef", &mut turned)?;
//! assert_eq!(&turned, b"adbecf");
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "what only kernels over vectors use, where there are none")
)]
#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

// The files of this folder have the features of a copy. `plan/` chooses how a copy runs, `exec.rs` runs a
// plan, and `crates/kernel/` has the innermost loops: see docs/DESIGN.md.

// This module comes first, so that rustdoc has the constructors first on the page of `Relayout`.
#[allow(clippy::module_inception, reason = "the file of `Relayout`")]
mod relayout;
mod settings;

mod choice;
mod copy;
mod exec;
mod explain;
mod level;
mod measure;
#[cfg(feature = "plan")]
pub(crate) mod passes;
mod piece;
mod plan;
mod plans;

pub use choice::Effort;
pub use copy::{Strided, copy, copy_strided};
pub use level::{level_in_use, requested_level};
pub use piece::Piece;
pub use plans::Plans;
pub use relayout::Relayout;
pub use settings::{DestinationMemory, Padding, Settings, Stores};
#[doc(inline)]
pub use strided_copy::{Caches, Destination, Level, UnknownLevel};

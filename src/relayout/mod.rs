//! Moving elements from one layout to any other.
//!
//! [`Relayout::new`] plans: both layouts are refined to common digits, which gives a short list of boxes, each a
//! loop nest with the same extents on both sides. A box in bytes becomes a nest (schedule.rs says which loops the inner
//! kernel takes, and why), and [`Relayout::run`] walks the nests. Nothing divides per element.
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
#![warn(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod calls;
mod cut;
mod execute;
mod explain;
mod in_place;
mod kernel;
mod padding;
#[cfg(feature = "rayon")]
mod parallel;
mod partition;
mod place_padding;
mod plan;
mod route;
mod schedule;
mod small;

pub use kernel::KernelLevel;
pub use padding::Padding;
pub use partition::Piece;
pub use plan::Relayout;

//! What joins the two models: a layout of either kind, and conversions to strides and to the index map.
//!
//! ```
//! use tensor_layout::bridge::{lower, Lowering, Split};
//! use tensor_layout::ArrayShape;
//!
//! // Two columns of tiles: one more axis for the tiles, one for the places in them.
//! let shape: ArrayShape = "f32[8,256]{1,0:T(8,128)}".parse()?;
//! let lowering: Lowering = lower(&shape)?;
//! assert_eq!(lowering.name(), "split");
//! let Lowering::Split(Split { desc, dims, logical_sizes }) = lowering else { panic!("no strides") };
//! assert_eq!((desc.sizes(), desc.strides()), (&[8, 2, 128][..], &[128, 1024, 1][..]));
//! assert_eq!((dims, logical_sizes), (vec![0, 1, 1], vec![8, 256]));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod any_layout;
mod index_map;
mod lower;

pub use any_layout::AnyLayout;
pub use lower::{Lowering, Split, lower};

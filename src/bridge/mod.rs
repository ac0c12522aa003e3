//! Conversions between the two models: strides to tiles and back.
//!
//! ```
//! use tensor_layout::bridge::{lower, raise, Lowering, Raised, Split};
//! use tensor_layout::ArrayShape;
//!
//! // Two columns of tiles: one more axis for the tiles, one for the places in them.
//! let shape: ArrayShape = "f32[8,256]{1,0:T(8,128)}".parse()?;
//! let lowering: Lowering = lower(&shape)?;
//! assert_eq!(lowering.name(), "split");
//! let Lowering::Split(Split { desc, dims, logical_sizes }) = lowering else { panic!("no strides") };
//! assert_eq!((desc.sizes(), desc.strides()), (&[8, 2, 128][..], &[128, 1024, 1][..]));
//! assert_eq!((dims, logical_sizes), (vec![0, 1, 1], vec![8, 256]));
//!
//! // And back, for strides that some tiles spell.
//! let Raised { shape, bytes_past_minimum } = raise(&"f32[3,100]:[128,1]".parse()?)?;
//! assert_eq!((shape.to_string().as_str(), bytes_past_minimum), ("f32[3,100]{1,0:T(128)}", 112));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod index_map;
mod lower;
#[cfg(feature = "notation")]
mod raise;
#[cfg(feature = "notation")]
mod spell;

pub use lower::{Lowering, Split, lower};
#[cfg(feature = "notation")]
pub use raise::{Raised, raise};
#[cfg(feature = "notation")]
pub use spell::{spell, spell_view};

/// The items of this folder that [`crate::plan`] re-exports.
#[cfg(all(feature = "notation", feature = "plan"))]
pub(crate) mod plan {
    pub use super::spell::SPELLING_SEARCH_LIMIT;
}

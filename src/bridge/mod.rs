//! Strides <-> tiles: conversions between the two models.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod index_map;
mod lower;
mod raise;
mod spell;

pub use lower::{Lowering, Split, lower, lower_map};
pub use raise::{Raised, raise};
pub use spell::{SPELLING_SEARCH_LIMIT, spell, spell_view};

//! The index map: the common form of both models, in which every layout is a sum of digit chains.
//!
//! A layout is a function from a logical index to an element offset. Strides and tiles both reduce to
//!
//! ```text
//! offset(i) = base + sum over components c of chain_c( fuse_c(i) )
//! ```
//!
//! A component is a few dimensions (nearly always one) whose indices form one row-major number. A *chain*
//! cuts this number into digits and gives each digit its own stride. In a strided layout, each component is
//! one dimension with one digit.
//!
//! A layout of shared memory may have one more step, in which higher bits of the offset flip lower bits
//! ([`Swizzle`]).
//!
//! The code cites these invariants of an [`IndexMap`] by number, and debug builds check them for every map
//! (`invariants.rs`):
//!
//! 1. Every offset is below `physical_elements`, which was computed with checked arithmetic and fits 64 bits.
//!    With a swizzle, so is every offset of the aligned blocks that it permutes. No sum or product of a
//!    chain's evaluation can therefore pass 64 bits.
//! 2. The divisors of a chain descend to 1 and are below the component's extent. No boundary of a chain can
//!    be left out. A chain whose extent is at most 1 is empty.
//! 3. Components are disjoint and sorted by their first dimension. Together they hold every dimension whose
//!    size is 2 or more. The extent of a component is the product of the sizes of its dimensions, which
//!    cannot be separated. An empty tensor has no components, and its base is 0.
//!
//! ```
//! use tensor_layout::map::{LayoutClass, ToIndexMap};
//! use tensor_layout::ArrayShape;
//!
//! let map = "bf16[16,256]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?.to_index_map()?;
//! assert_eq!(map.class(), LayoutClass::Split);
//! assert_eq!(map.class().to_string(), "split");
//! // Rows are interleaved in pairs: a row is 2 * 128 elements of each pair.
//! assert_eq!((map.offset(&[0, 1])?, map.offset(&[1, 0])?, map.offset(&[2, 0])?), (2, 1, 256));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![cfg_attr(
    not(feature = "relayout"),
    allow(dead_code, unused_imports, reason = "boxes and common digits, which only copies use")
)]

// This module comes first, so that the constructors come first on the page of `IndexMap`.
mod index_map;

mod boxes;
mod buffer;
mod deviation;
mod digits;
mod equality;
mod fingerprint;
mod from_digits;
mod from_tiles;
mod injective;
mod invariants;
mod inverse;
mod layout_class;
mod levels;
mod mixed_radix;
mod normal_form;
mod offset_box;
mod padding;
#[cfg(feature = "plan")]
mod places;
mod refine;
mod reshape;
mod swizzle;
mod swizzled;
mod swizzled_boxes;
mod view;

pub use equality::same_layout;
pub use fingerprint::Fingerprint;
pub use index_map::{IndexMap, ToIndexMap};
pub use layout_class::LayoutClass;
pub use swizzle::{Flip, Swizzle};

pub(crate) use boxes::{BoxGroups, each_element};
pub(crate) use levels::TileEntries;
pub(crate) use plan::*;
pub(crate) use refine::Loops;

/// The items of this folder that [`crate::plan`] re-exports.
pub(crate) mod plan {

    pub use super::deviation::EQUALITY_WORK_LIMIT;
    pub use super::digits::{Chain, Digit};
    pub use super::index_map::Component;
    pub use super::levels::{TileGroup, TileLevel, TileLevels};
    pub use super::offset_box::{BufferBoxes, OffsetBox};
    pub use super::padding::PADDING_SEARCH_LIMIT;
    #[cfg(feature = "plan")]
    pub use super::places::DigitPlace;
    pub use super::refine::{CopyBox, Loop, Stride};
}

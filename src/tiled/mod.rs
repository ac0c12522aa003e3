//! XLA's model: a dimension order and nested tiles.
//!
//! The text form is the one XLA prints: `f32[3,5]{1,0:T(2,2)}`. Rules are those of the pages
//! *Shapes and layout* and *Tiled layout*, and of XLA's printer.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod layout;
mod parse;
mod print;
mod shape;
mod tpu;

pub use layout::{Layout, Tile, TileSize};
pub use shape::ArrayShape;
pub use tpu::TpuGeneration;

pub(crate) use parse::read_type_and_sizes;

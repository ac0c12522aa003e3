//! XLA's model: a dimension order and nested tiles.
//!
//! The text form is the form that XLA prints: `f32[3,5]{1,0:T(2,2)}`. The rules come from the pages *Shapes
//! and layout* and *Tiled layout*, and from XLA's printer.
//!
//! ```
//! use tensor_layout::tiled::{Layout, Tile};
//! use tensor_layout::{ArrayShape, DataType, Shape};
//!
//! let layout = Layout::row_major(2).with_tiles(&[Tile::new(&[8, 128])?, Tile::new(&[2, 1])?]);
//! let shape = ArrayShape::new(DataType::BF16, &[300, 500], layout)?;
//! assert_eq!(shape.to_string(), "bf16[300,500]{1,0:T(8,128)(2,1)}");
//! assert_eq!(shape.to_string().parse::<Shape>()?, Shape::Array(shape));
//!
//! // A size may be a bound, or open: such an array has no size in bytes. A dimension may be divided among memories.
//! use tensor_layout::tiled::{Extent, SplitConfig, TileSize, UnboundedArray};
//!
//! let Shape::Unbounded(UnboundedArray { extents, .. }) = "f32[?,<=5,3]".parse()? else { panic!("it is bounded") };
//! assert_eq!(extents, [Extent::Unbounded, Extent::Bounded(5), Extent::Static(3)]);
//! let divided: ArrayShape = "f32[200]{0:T(8)SC(0:50,100)}".parse()?;
//! assert_eq!(divided.layout().split_configs, [SplitConfig { dimension: 0, indices: vec![50, 100] }]);
//! assert!(matches!(divided.layout().tiles()[0].entries()[0], TileSize::Size(size) if size.get() == 8));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod array;
mod expand;
mod layout;
pub(crate) mod parse;
mod parse_layout;
mod print;
mod shape;
mod tpu;

pub use array::ArrayShape;
#[cfg(feature = "plan")]
pub use layout::memory_space_name;
pub use layout::{Layout, SplitConfig, Tile, TileSize};
pub use parse::MAX_TUPLE_DEPTH;
pub use parse_layout::MAX_TILE_ENTRIES;
pub use shape::{Extent, Shape, UnboundedArray};
pub use tpu::TpuGeneration;

pub use crate::typed_sizes::MAX_RANK;

#[cfg(feature = "plan")]
pub use tpu::TpuTiles;

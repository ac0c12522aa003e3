//! Pictures of a layout: the tensor with the offset of each element, and the memory with the index of each
//! element.
//!
//! A picture needs only the index map of a layout, so every layout can be drawn. Of a layout that is too
//! large for a picture, a part is drawn.
//!
//! ```
//! use tensor_layout::{ArrayShape, ToIndexMap};
//! use tensor_layout_text::draw::Picture;
//!
//! let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
//! let picture = Picture::new(&shape.to_index_map()?, &shape.to_string())?;
//! assert!(picture.to_string().contains("  0 │ 0,0 0,1 1,0 1,1 │ 0,2 0,3 1,2 1,3 │ 0,4  ··"));
//! assert!(picture.to_svg().starts_with("<svg "));
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::indexing_slicing, clippy::as_conversions)]

mod extents;
mod picture;
mod svg;
mod text;

pub use picture::{MAX_COLUMNS, MAX_ELEMENTS, Picture};

//! Elements: the data type of an element, the bits that it takes, and its position inside a byte; blocks of
//! values.
//!
//! ```
//! use tensor_layout::element::{DataType, ElementKind};
//!
//! let s4 = DataType::S4;
//! assert_eq!((s4.bits(), s4.kind()), (4, ElementKind::Signed));
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

#[cfg(feature = "relayout")]
mod bits;
mod block_type;
mod data_type;

pub use block_type::{BlockField, BlockType, FieldRole};
pub(crate) use data_type::bits_in_words;
pub use data_type::{DataType, ElementKind, Naming};

#[cfg(feature = "relayout")]
pub(crate) use bits::write_bits;

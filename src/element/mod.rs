//! What one element is: its data type, the bits it takes, and how it lies inside a byte.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod bits;
mod data_type;

pub use bits::{read_bits, write_bits};
pub use data_type::{DataType, ElementKind};

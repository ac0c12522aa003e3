//! What one element is: its data type, the bits it takes, and how it is inside a byte.
//!
//! ```
//! use tensor_layout::element::{DataType, ElementKind};
//! use tensor_layout::plan::{read_bits, write_bits};
//!
//! let s4 = DataType::S4;
//! assert_eq!((s4.bits(), s4.kind()), (4, ElementKind::Signed));
//! // Two of them share a byte, the even one in its low half.
//! let mut packed = [0];
//! write_bits(&mut packed, 4, s4.bits(), 0x7).unwrap();
//! assert_eq!((packed, read_bits(&packed, 4, 4)), ([0x70], Some(7)));
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod bits;
mod data_type;

pub use data_type::{DataType, ElementKind, Naming};

#[cfg(feature = "relayout")]
pub(crate) use plan::*;

/// What [`crate::plan`] offers of this folder.
pub(crate) mod plan {
    pub use super::bits::{read_bits, write_bits};
}

//! One reader for every layout notation.
//!
//! | notation | example | sizes are in | an element of a sub-byte type takes |
//! |---|---|---|---|
//! | XLA | `f32[3,5]{1,0:T(2,2)}` | its own order | a whole byte, or what `E(n)` says |
//! | strides | `f32[2,3]:[5,1]`, `f32[2,3]:[5,1]+10` (base offset) | logical order | its own bits |
//! | axis order | `f16[8,64,56,56]:NHWC` | logical order (N, C, H, W) | its own bits |
//! | oneDNN tag | `f32[2,35,9,9]:nChw16c` | the order of the tag's alphabet | its own bits |
//! | CuTe | `f32((8,2),128):((1,1024),8)` | its own order | its own bits |
//!
//! ```
//! use tensor_layout::{notation::{Notated, Notation}, ToIndexMap};
//!
//! let layout: Notated = "f32[2,3]:[5,1]".parse()?;
//! assert_eq!(layout.notation(), Notation::Strides);
//! assert_eq!(layout.to_index_map()?.offset(&[1, 2])?, 7);
//! # Ok::<(), tensor_layout::Error>(())
//! ```

pub mod cute;
pub mod onednn;
mod read;
mod spelling;

pub use spelling::text_of;

use std::fmt;

use crate::element::DataType;
use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::{AxisOrder, BufferTensorDesc};
use crate::tiled::ArrayShape;

/// How a layout was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notation {
    /// `f32[3,5]{1,0:T(2,2)}`.
    Xla,
    /// `f32[2,3]:[5,1]`.
    Strides,
    /// `f16[8,64,56,56]:NHWC`.
    AxisOrder,
    /// `f32[2,35,9,9]:nChw16c`.
    OneDnn,
    /// `f32((8,2),128):((1,1024),8)`.
    CuTe,
}

impl Notation {
    /// `xla`, `strides`, `axis_order`, `onednn` or `cute`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Notation::Xla => "xla",
            Notation::Strides => "strides",
            Notation::AxisOrder => "axis_order",
            Notation::OneDnn => "onednn",
            Notation::CuTe => "cute",
        }
    }
}

/// A layout of either model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnyLayout {
    /// Sizes and strides.
    Strided(BufferTensorDesc),
    /// A dimension order and tiles.
    Tiled(ArrayShape),
    /// Digits of dimensions, as CuTe writes them.
    Mapped(IndexMap),
}

impl ToIndexMap for AnyLayout {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        match self {
            AnyLayout::Strided(desc) => desc.to_index_map(),
            AnyLayout::Tiled(shape) => shape.to_index_map(),
            AnyLayout::Mapped(map) => Ok(map.clone()),
        }
    }
}

/// A layout, and the notation it was read in. `Display` writes it back in the same notation, canonically.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notated {
    layout: AnyLayout,
    spelling: Spelling,
}

/// What the layout alone does not tell about how it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Spelling {
    Xla,
    Strides,
    AxisOrder(AxisOrder),
    OneDnn(String),
    CuTe,
}

impl Notated {
    /// The layout.
    #[must_use]
    pub fn layout(&self) -> &AnyLayout {
        &self.layout
    }

    /// How it was written.
    #[must_use]
    pub fn notation(&self) -> Notation {
        match self.spelling {
            Spelling::Xla => Notation::Xla,
            Spelling::Strides => Notation::Strides,
            Spelling::AxisOrder(_) => Notation::AxisOrder,
            Spelling::OneDnn(_) => Notation::OneDnn,
            Spelling::CuTe => Notation::CuTe,
        }
    }
}

impl ToIndexMap for Notated {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.layout.to_index_map()
    }
}

impl fmt::Display for Notated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.layout, &self.spelling) {
            (AnyLayout::Strided(desc), Spelling::AxisOrder(order)) => {
                write!(f, "{}:{order}", type_and_sizes(desc.data_type(), desc.sizes()))
            }
            (AnyLayout::Tiled(shape), Spelling::OneDnn(tag)) => {
                write!(f, "{}:{tag}", type_and_sizes(shape.data_type(), shape.sizes()))
            }
            (AnyLayout::Strided(desc), _) => desc.fmt(f),
            (AnyLayout::Tiled(shape), _) => shape.fmt(f),
            // What was read as CuTe's can be written as CuTe's.
            (AnyLayout::Mapped(map), _) => write!(f, "{}{}", map.data_type(), cute::text(map).map_err(|_| fmt::Error)?),
        }
    }
}

/// `f32[2,3]`: what every notation begins with.
fn type_and_sizes(data_type: DataType, sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    format!("{data_type}[{}]", sizes.join(","))
}

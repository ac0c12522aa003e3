//! One reader for every layout notation.
//!
//! The module needs the feature `notation`, which is on by default.
//!
//! | notation | example | sizes are in | an element of a sub-byte type takes |
//! |---|---|---|---|
//! | XLA | `f32[3,5]{1,0:T(2,2)}` | its own order | a whole byte, or what `E(n)` says |
//! | strides | `f32[2,3]:[5,1]`, `f32[2,3]:[5,1]+10` (base offset) | logical order | its own bits |
//! | axis order | `f16[8,64,56,56]:NHWC` | logical order (N, C, H, W) | its own bits |
//! | oneDNN tag | `f32[2,35,9,9]:nChw16c` | the order of the tag's alphabet | its own bits |
//! | CuTe | `f32((8,2),128):((1,1024),8)` | its own order | its own bits |
//! | NumPy, PyTorch | `ndarray(shape=(2,3), dtype=float32, strides=(20,4), offset=40)` | logical order | a whole byte |
//! | DirectML | `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1],"TotalTensorSizeInBytes":32}` | logical order | its own bits |
//! | name (feature `named`) | `tensorrt.kCHW32:s8[2,33,3,2]`, `ggml.q8_0x4.qs<8>:s8[8,96]` | the order of the name's axes | its own bits |
//!
//! [`all`] writes one layout in every notation that can express it, and [`text_in`] writes it in one
//! notation.
//!
//! ```
//! use tensor_layout::{notation::{Notated, Notation}, ToIndexMap};
//!
//! let layout: Notated = "f32[2,3]:[5,1]".parse()?;
//! assert_eq!(layout.notation(), Notation::Strides);
//! assert_eq!(layout.to_index_map()?.offset(&[1, 2])?, 7);
//! # Ok::<(), tensor_layout::Error>(())
//! ```

mod convert;
mod cute;
mod directml;
mod lines;
mod list;
mod numpy;
mod onednn;
mod read;
#[cfg(feature = "plan")]
mod steps;
mod strided;
#[cfg(feature = "plan")]
mod view_step;

#[cfg(feature = "named")]
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

pub use lines::{Line, all, text_in};
#[cfg(feature = "plan")]
pub use list::read_list;
use strided::text_of;
#[cfg(feature = "plan")]
pub use view_step::ViewStep;

use core::fmt;
use core::str::FromStr;

use crate::element::DataType;
use crate::error::Error;
#[cfg(feature = "named")]
use crate::map::StorageRule;
use crate::map::{Besides, IndexMap, ToIndexMap};
#[cfg(feature = "named")]
use crate::named::NamedLayout;
use crate::strided::{AxisOrder, BufferTensorDesc};
use crate::tiled::ArrayShape;

/// A notation for layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notation {
    /// XLA's notation: `f32[3,5]{1,0:T(2,2)}`.
    Xla,
    /// Sizes and strides: `f32[2,3]:[5,1]`.
    Strides,
    /// Sizes and an axis order: `f16[8,64,56,56]:NHWC`.
    AxisOrder,
    /// Sizes and a oneDNN tag: `f32[2,35,9,9]:nChw16c`.
    OneDnn,
    /// CuTe's notation: `f32((8,2),128):((1,1024),8)`.
    CuTe,
    /// Byte strides, as in NumPy and PyTorch: `ndarray(shape=(2,3), dtype=float32, strides=(20,4))`.
    Numpy,
    /// `DML_BUFFER_TENSOR_DESC` as DxDispatch's JSON: `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1]}`.
    Directml,
    /// A [named layout](crate::named): `tensorrt.kCHW32:s8[2,33,3,2]`.
    #[cfg(feature = "named")]
    Named,
}

impl Notation {
    /// Every notation.
    pub const ALL: &'static [Notation] = &[
        Notation::Xla,
        Notation::Strides,
        Notation::AxisOrder,
        Notation::OneDnn,
        Notation::CuTe,
        Notation::Numpy,
        Notation::Directml,
        #[cfg(feature = "named")]
        Notation::Named,
    ];

    /// The name for people: `sizes and strides`. `Display` writes the short name, which `FromStr` reads.
    ///
    /// ```
    /// use tensor_layout::notation::Notation;
    ///
    /// assert_eq!((Notation::OneDnn.to_string().as_str(), Notation::OneDnn.title()), ("onednn", "oneDNN tag"));
    /// assert_eq!("onednn".parse::<Notation>()?, Notation::OneDnn);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Notation::Xla => "XLA",
            Notation::Strides => "sizes and strides",
            Notation::AxisOrder => "axis order",
            Notation::OneDnn => "oneDNN tag",
            Notation::CuTe => "CuTe",
            Notation::Numpy => "NumPy",
            Notation::Directml => "DirectML",
            #[cfg(feature = "named")]
            Notation::Named => "named layout",
        }
    }
}

impl fmt::Display for Notation {
    /// Writes `xla`, `strides`, `axis_order`, `onednn`, `cute`, `numpy`, `directml` or `named`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Notation::Xla => "xla",
            Notation::Strides => "strides",
            Notation::AxisOrder => "axis_order",
            Notation::OneDnn => "onednn",
            Notation::CuTe => "cute",
            Notation::Numpy => "numpy",
            Notation::Directml => "directml",
            #[cfg(feature = "named")]
            Notation::Named => "named",
        })
    }
}

impl FromStr for Notation {
    type Err = Error;

    /// Reads the name that `Display` writes, in upper or lower case. `order` also means `axis_order`.
    fn from_str(name: &str) -> Result<Self, Error> {
        let name = name.to_ascii_lowercase();
        let long = if name == "order" { "axis_order" } else { &name };
        Notation::ALL.iter().copied().find(|notation| notation.to_string() == long).ok_or_else(|| {
            Error::parse(
                name.clone(),
                1,
                "a notation: xla, strides, order, onednn, cute, numpy, directml or named",
                format!("`{name}`"),
            )
        })
    }
}

/// A layout of any kind: sizes and strides, tiles, or an index map.
///
/// ```
/// use tensor_layout::{notation::{AnyLayout, Notated}, ArrayShape, ToIndexMap};
///
/// let Notated { .. } = "f32[2,3]:[5,1]".parse()?;
/// let layout = AnyLayout::from("f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?);
/// assert!(matches!(layout, AnyLayout::Tiled(_)));
/// assert_eq!(layout.to_index_map()?.physical_elements(), 24);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnyLayout {
    /// A layout with sizes and strides.
    Strided(BufferTensorDesc),
    /// A layout with a dimension order and tiles.
    Tiled(ArrayShape),
    /// An index map: digits of dimensions, as in CuTe's notation, or strides of elements whose width differs
    /// from the width of their type.
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

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        match self {
            AnyLayout::Strided(desc) => Some(desc),
            AnyLayout::Tiled(_) | AnyLayout::Mapped(_) => None,
        }
    }
}

impl Besides for AnyLayout {
    fn minor_to_major(&self) -> Option<&[usize]> {
        match self {
            AnyLayout::Tiled(shape) => shape.minor_to_major(),
            AnyLayout::Strided(_) | AnyLayout::Mapped(_) => None,
        }
    }
}

/// A layout that was read from a text, and the notation of the text. `Display` writes the layout in this
/// notation, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notated {
    layout: AnyLayout,
    spelling: Spelling,
}

/// The facts about the text of a layout that the layout itself does not have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Spelling {
    Xla,
    Strides,
    AxisOrder(AxisOrder),
    OneDnn(String),
    CuTe,
    Numpy,
    Directml,
    #[cfg(feature = "named")]
    Named(Box<NamedLayout>),
}

impl Notated {
    /// The layout that the text described.
    ///
    /// ```
    /// use tensor_layout::notation::{AnyLayout, Notated, Notation};
    ///
    /// let read: Notated = "f32[2,3]:[5,1]".parse()?;
    /// assert_eq!(read.notation(), Notation::Strides);
    /// assert!(matches!(read.layout(), AnyLayout::Strided(_)));
    /// assert_eq!(read.text_in(Notation::Xla)?, "f32[2,3]{1,0:T(5)}");
    /// for line in read.lines() {
    ///     println!("{line}");
    /// }
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn layout(&self) -> &AnyLayout {
        &self.layout
    }

    /// The start of the layout's buffer must be a multiple of this number, in bytes. The number is 1 except
    /// for some named layouts.
    ///
    /// ```
    /// use tensor_layout::notation::Notated;
    ///
    /// assert_eq!("f32[2,3]:[5,1]".parse::<Notated>()?.alignment(), 1);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.storage_rule().alignment
    }

    /// The notation of the text that was read.
    #[must_use]
    pub fn notation(&self) -> Notation {
        match self.spelling {
            Spelling::Xla => Notation::Xla,
            Spelling::Strides => Notation::Strides,
            Spelling::AxisOrder(_) => Notation::AxisOrder,
            Spelling::OneDnn(_) => Notation::OneDnn,
            Spelling::CuTe => Notation::CuTe,
            Spelling::Numpy => Notation::Numpy,
            Spelling::Directml => Notation::Directml,
            #[cfg(feature = "named")]
            Spelling::Named(_) => Notation::Named,
        }
    }

    /// Returns the layout in one notation, as [`text_in`] does. In its own notation, the result is the text
    /// that was read, in canonical form.
    ///
    /// # Errors
    ///
    /// The errors of [`text_in`].
    pub fn text_in(&self, notation: Notation) -> Result<String, Error> {
        if notation == self.notation() { Ok(self.to_string()) } else { text_in(&self.layout, notation) }
    }
}

impl ToIndexMap for Notated {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.layout.to_index_map()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        self.layout.as_descriptor()
    }
}

impl Besides for Notated {
    fn minor_to_major(&self) -> Option<&[usize]> {
        self.layout.minor_to_major()
    }

    #[cfg(feature = "named")]
    fn storage_rule(&self) -> StorageRule {
        match &self.spelling {
            Spelling::Named(named) => named.storage_rule(),
            _ => StorageRule::NONE,
        }
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
            #[cfg(feature = "named")]
            (_, Spelling::Named(named)) => named.fmt(f),
            // A layout that was read in one of these notations can also be written in it.
            (layout, Spelling::Numpy | Spelling::Directml | Spelling::CuTe) => {
                f.write_str(&text_in(layout, self.notation()).map_err(|_| fmt::Error)?)
            }
            (AnyLayout::Strided(desc), _) => desc.fmt(f),
            (AnyLayout::Tiled(shape), _) => shape.fmt(f),
            (AnyLayout::Mapped(map), _) => f.write_str(&text_of(map).map_err(|_| fmt::Error)?),
        }
    }
}

/// The type and the sizes, with which most notations begin: `f32[2,3]`.
fn type_and_sizes(data_type: DataType, sizes: &[u64]) -> String {
    format!("{data_type}{}", strided::list(sizes))
}

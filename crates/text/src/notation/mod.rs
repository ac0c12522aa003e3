//! One reader and one writer for every notation of a layout.

mod axis_orders;
mod convert;
mod cute;
mod directml;
mod lines;
mod list;
mod numpy;
mod onednn;
mod read;
mod steps;
mod strided;
mod view_step;

pub use axis_orders::axis_orders;
pub use lines::{Line, lines, text, text_in};
pub use list::read_list;
pub use onednn::onednn_size_in_bytes;
pub use steps::offset_steps;
use strided::text_of;
pub use view_step::ViewStep;

use core::fmt;
use core::str::FromStr;

use tensor_layout::Error;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::plan::{Besides, StorageRule};
use tensor_layout::strided::{AxisOrder, BufferTensorDesc};
use tensor_layout::{AnyLayout, IndexMap, LayoutClass, ToIndexMap};

use crate::named::NamedLayout;

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
        Notation::Named,
    ];

    /// The name for people: `sizes and strides`. `Display` writes the short name, which `FromStr` reads.
    ///
    /// ```
    /// use tensor_layout_text::Notation;
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
    Named(Box<NamedLayout>),
}

impl Notated {
    /// The layout that the text described.
    ///
    /// ```
    /// use tensor_layout::AnyLayout;
    /// use tensor_layout_text::{Notated, Notation};
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
    /// use tensor_layout_text::Notated;
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

/// Returns a number of bits in words: `4 bits`, `1 bit`.
fn bits_in_words(bits: u32) -> String {
    format!("{bits} {}", if bits == 1 { "bit" } else { "bits" })
}

fn unsupported(data_type: DataType, by: &'static str) -> Error {
    Error::unsupported_data_type(data_type.name_in(Naming::Xla).unwrap_or_default(), by)
}

/// Returns the digits of every dimension, the major digit first, each with its number of values and its
/// stride. The top digit has as many values as the size needs. A dimension of size 1 has no digits. Returns
/// `None` unless the class is Affine or Split.
pub(crate) fn digits_by_dimension(map: &IndexMap) -> Option<Vec<Vec<(u64, u64)>>> {
    if !matches!(map.class(), LayoutClass::Affine | LayoutClass::Split) {
        return None;
    }
    let mut dimensions = vec![Vec::new(); map.sizes().len()];
    for component in map.components() {
        let mut above = component.extent;
        let digits = component.chain.digits().iter().map(|digit| {
            let count = above.div_ceil(digit.divisor.get());
            above = digit.divisor.get();
            (count, digit.stride)
        });
        *dimensions.get_mut(*component.dims().first()?)? = digits.collect();
    }
    Some(dimensions)
}

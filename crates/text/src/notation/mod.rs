//! One reader and one writer for every notation of a layout.

mod axis_orders;
mod cute;
mod directml;
mod lines;
mod numpy;
mod onednn;
mod printed;
mod read;
mod steps;
mod strided;
mod view_step;

pub use axis_orders::axis_orders;
pub use lines::{Line, lines, text, text_in};
pub use onednn::{onednn_size_in_bytes, with_tag};
pub use printed::lacks_type;
pub use read::read_signed;
pub use steps::offset_steps;
pub use view_step::{ViewStep, read_list};

use core::fmt;
use core::str::FromStr;

use tensor_layout::Error;
use tensor_layout::element::{BlockType, DataType, Naming};
use tensor_layout::plan::{Besides, StorageRule};
use tensor_layout::strided::{BlockTensorDesc, BufferTensorDesc};
use tensor_layout::{AnyLayout, ArrayShape, IndexMap, ToIndexMap};

use crate::kv::KvCache;
use crate::named::NamedLayout;

macro_rules! notations {
    ($($(#[$about:meta])* $variant:ident $name:literal $title:literal;)*) => {
        /// A notation for layouts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Notation {$(
            $(#[$about])*
            $variant,
        )*}

        impl Notation {
            /// Every notation.
            pub const ALL: &'static [Notation] = &[$(Notation::$variant),*];

            /// The short name, and the name for people.
            fn names(self) -> (&'static str, &'static str) {
                match self {
                    $(Notation::$variant => ($name, $title),)*
                }
            }
        }
    };
}

notations! {
    /// XLA's notation: `f32[3,5]{1,0:T(2,2)}`.
    Xla "xla" "XLA";
    /// Sizes and strides: `f32[2,3]:[5,1]`.
    Strides "strides" "sizes and strides";
    /// Sizes and an axis order: `f16[8,64,56,56]:NHWC`.
    AxisOrder "axis_order" "axis order";
    /// Sizes and a oneDNN tag: `f32[2,35,9,9]:nChw16c`.
    OneDnn "onednn" "oneDNN tag";
    /// CuTe's notation: `f32((8,2),128):((1,1024),8)`.
    CuTe "cute" "CuTe";
    /// Byte strides, as in NumPy and PyTorch: `ndarray(shape=(2,3), dtype=float32, strides=(20,4))`.
    Numpy "numpy" "NumPy";
    /// `DML_BUFFER_TENSOR_DESC` as DxDispatch's JSON: `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1]}`.
    Directml "directml" "DirectML";
    /// A [named layout](crate::named), `tensorrt.kCHW32:s8[2,33,3,2]`, or a [KV cache](crate::kv).
    Named "named" "named layout";
    /// PyTorch: `torch.empty_strided((2,3), (5,1), dtype=torch.float32)`. `f32[2, 3][5, 1]cuda:0`, as graphs
    /// print it, is read as well, and `torch.Size([2, 3]) stride=(5, 1)` with the type in front.
    Torch "torch" "PyTorch";
    /// JAX, with the type and the sizes in front:
    /// `f32[2,3] Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)`.
    Jax "jax" "JAX layout";
    /// MLIR: `memref<2x3xf32, strided<[5, 1], offset: 3>>`.
    Mlir "mlir" "MLIR memref";
    /// The array crate ndarray, with the type in front: `f32 shape=[2, 3], strides=[5, 1]`.
    Ndarray "ndarray" "ndarray";
    /// candle, with the type in front: `f32 Layout { shape: [2, 3], stride: [5, 1], start_offset: 0 }`.
    Candle "candle" "candle layout";
    /// ggml, with the type in front: sizes, and strides in bytes, the innermost axis first: `f32 ne=[3, 2]
    /// nb=[4, 20]`.
    Ggml "ggml" "ggml tensor";
    /// TVM, whose axes are capital letters: `f32[1,32,4,4]:NCHW4c`.
    Tvm "tvm" "TVM layout";
}

impl Notation {
    /// The notations that [`lines`] writes: all but the prints of other libraries, which say the same.
    pub const LISTED: &'static [Notation] = &[
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
    /// assert_eq!(Notation::OneDnn.to_string(), "onednn");
    /// assert_eq!(Notation::OneDnn.title(), "oneDNN tag");
    /// assert_eq!("onednn".parse::<Notation>()?, Notation::OneDnn);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn title(self) -> &'static str {
        self.names().1
    }
}

impl fmt::Display for Notation {
    /// Writes `xla`, `strides`, `axis_order`, `onednn` and so on: the variants in lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names().0)
    }
}

impl FromStr for Notation {
    type Err = Error;

    /// Reads the name that `Display` writes, in upper or lower case. `order` also means `axis_order`.
    fn from_str(name: &str) -> Result<Self, Error> {
        let name = name.to_ascii_lowercase();
        let long = if name == "order" { "axis_order" } else { &name };
        Notation::ALL.iter().copied().find(|notation| notation.names().0 == long).ok_or_else(|| {
            let expected = "a notation: xla, strides, order, onednn, cute, numpy, directml, named, torch, jax, mlir, ndarray, candle, ggml or tvm";
            let found = format!("`{name}`");
            Error::parse(name, 1, expected, found)
        })
    }
}

/// A layout that was read from a text, and the notation of the text. `Display` writes the layout in this
/// notation, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notated {
    layout: AnyLayout,
    notation: Notation,
    /// The text in canonical form.
    text: String,
    rule: StorageRule,
    /// The tensor of blocks whose bytes the layout has.
    blocks: Option<BlockTensorDesc>,
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
        self.rule.alignment
    }

    /// The tensor of blocks, if the text has a block type. The [layout](Self::layout) is that of its bytes.
    ///
    /// ```
    /// use tensor_layout::ToIndexMap;
    /// use tensor_layout_text::Notated;
    ///
    /// let read: Notated = "q4_0[3,64]".parse()?;
    /// assert_eq!(read.blocks().unwrap().sizes(), [3, 64]);
    /// assert_eq!(read.layout().as_descriptor().unwrap().sizes(), [3, 2, 18]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks.as_ref()
    }

    /// The notation of the text that was read.
    #[must_use]
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// Returns the layout in one notation, as [`text_in`] does. In its own notation, the result is the text
    /// that was read, in canonical form.
    ///
    /// # Errors
    ///
    /// The errors of [`text_in`].
    pub fn text_in(&self, notation: Notation) -> Result<String, Error> {
        if notation == self.notation { Ok(self.text.clone()) } else { text_in(&self.layout, notation) }
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
        self.rule
    }

    fn block_type(&self) -> Option<BlockType> {
        self.blocks.as_ref().map(BlockTensorDesc::block_type)
    }
}

impl fmt::Display for Notated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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

impl From<Notated> for AnyLayout {
    fn from(notated: Notated) -> AnyLayout {
        notated.layout
    }
}

impl From<&Notated> for AnyLayout {
    fn from(notated: &Notated) -> AnyLayout {
        notated.layout.clone()
    }
}

/// Converts the layout as if its text had been read.
impl From<ArrayShape> for Notated {
    fn from(shape: ArrayShape) -> Notated {
        let (text, notation) = (shape.to_string(), Notation::Xla);
        Notated { text, layout: shape.into(), notation, rule: StorageRule::NONE, blocks: None }
    }
}

/// Converts the layout as if its text had been read.
impl From<BufferTensorDesc> for Notated {
    fn from(desc: BufferTensorDesc) -> Notated {
        let (text, notation) = (desc.to_string(), Notation::Strides);
        Notated { text, layout: desc.into(), notation, rule: StorageRule::NONE, blocks: None }
    }
}

/// Converts the layout as if its text had been read.
impl From<BlockTensorDesc> for Notated {
    fn from(desc: BlockTensorDesc) -> Notated {
        let (text, bytes) = (desc.to_string(), desc.bytes().clone());
        Notated { text, blocks: Some(desc), ..bytes.into() }
    }
}

/// Converts the layout as if its text had been read. A layout that no single index map can express is
/// refused.
impl TryFrom<NamedLayout> for Notated {
    type Error = Error;

    fn try_from(named: NamedLayout) -> Result<Notated, Error> {
        let layout = match named.as_descriptor() {
            Some(desc) => desc.into(),
            None => named.to_index_map()?.into(),
        };
        let (text, rule) = (named.to_string(), named.storage_rule());
        Ok(Notated { layout, notation: Notation::Named, text, rule, blocks: None })
    }
}

/// Converts the cache as if its text had been read. A cache whose blocks lie in several places is refused.
impl TryFrom<KvCache> for Notated {
    type Error = Error;

    fn try_from(cache: KvCache) -> Result<Notated, Error> {
        let layout = cache.to_index_map()?.into();
        let (text, rule) = (cache.to_string(), StorageRule::NONE);
        Ok(Notated { layout, notation: Notation::Named, text, rule, blocks: None })
    }
}

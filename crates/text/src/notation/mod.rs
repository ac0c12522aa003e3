//! One reader and one writer for every notation of a layout.

mod composed;
mod cute;
mod directml;
mod forms;
mod jax;
mod lines;
mod memref;
mod no_layout;
mod numpy;
mod onednn;
mod read;
mod signs;
mod steps;
mod strided;
mod swizzle;
mod triton;
mod types;
mod views;

pub(crate) use forms::ggml_text_of_blocks;
pub(crate) use lines::lines_of;
pub use lines::{Line, lines, text, text_in};
pub use numpy::numpy_dtype;
pub use onednn::{onednn_size_in_bytes, with_tag};
pub(crate) use read::{Read, read_whole};
pub use read::{lacks_type, read_signed};
pub(crate) use signs::signed_numpy;
pub use steps::offset_steps;
pub use strided::axis_orders;
pub use views::ViewStep;

use core::fmt;
use core::str::FromStr;

use tensor_layout::Error;
use tensor_layout::cursor::one_of;
use tensor_layout::element::DataType;
use tensor_layout::plan::counted;
use tensor_layout::strided::{BlockTensorDesc, BufferTensorDesc};
use tensor_layout::{AnyLayout, ArrayShape, IndexMap, ToIndexMap};

use crate::kv::KvCache;
use crate::named::NamedLayout;

macro_rules! notations {
    ($($(#[$about:meta])* $variant:ident $name:literal $title:literal $noun:literal;)*) => {
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

            /// The short name, the name for people, and what a text of the notation is.
            fn names(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Notation::$variant => ($name, $title, $noun),)*
                }
            }
        }
    };
}

notations! {
    /// XLA's notation: `f32[3,5]{1,0:T(2,2)}`.
    Xla "xla" "XLA" "tiled layout";
    /// Sizes and strides: `f32[2,3]:[5,1]`.
    Strides "strides" "sizes and strides" "list of strides";
    /// Sizes and an axis order: `f16[8,64,56,56]:NHWC`.
    AxisOrder "axis_order" "axis order" "axis order";
    /// Sizes and a oneDNN tag: `f32[2,35,9,9]:nChw16c`.
    OneDnn "onednn" "oneDNN tag" "oneDNN tag";
    /// CuTe's notation: `f32((8,2),128):((1,1024),8)`.
    CuTe "cute" "CuTe" "CuTe layout";
    /// Byte strides, as in NumPy and PyTorch: `ndarray(shape=(2,3), dtype=float32, strides=(20,4))`.
    Numpy "numpy" "NumPy" "NumPy array";
    /// `DML_BUFFER_TENSOR_DESC` as DxDispatch's JSON: `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1]}`.
    Directml "directml" "DirectML" "DirectML tensor";
    /// A [named layout](crate::named), `tensorrt.kCHW32:s8[2,33,3,2]`, or a [KV cache](crate::kv).
    Named "named" "named layout" "named layout";
    /// PyTorch: `torch.empty_strided((2,3), (5,1), dtype=torch.float32)`. `f32[2, 3][5, 1]cuda:0`, as graphs
    /// print it, is read as well, and `torch.Size([2, 3]) stride=(5, 1)` with the type in front.
    Torch "torch" "PyTorch" "PyTorch tensor";
    /// JAX, with the type and the sizes in front:
    /// `f32[2,3] Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)`.
    Jax "jax" "JAX layout" "JAX layout";
    /// MLIR: `memref<2x3xf32, strided<[5, 1], offset: 3>>`.
    Mlir "mlir" "MLIR memref" "MLIR memref";
    /// The array crate ndarray, with the type in front: `f32 shape=[2, 3], strides=[5, 1]`.
    Ndarray "ndarray" "ndarray" "ndarray";
    /// candle, with the type in front: `f32 Layout { shape: [2, 3], stride: [5, 1], start_offset: 0 }`.
    Candle "candle" "candle layout" "candle layout";
    /// ggml, with the type in front: sizes, and strides in bytes, the innermost axis first: `f32 ne=[3, 2]
    /// nb=[4, 20]`.
    Ggml "ggml" "ggml tensor" "ggml tensor";
    /// TVM, whose axes are capital letters: `f32[1,32,4,4]:NCHW4c`.
    Tvm "tvm" "TVM layout" "TVM layout";
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
    #[must_use]
    pub fn title(self) -> &'static str {
        self.names().1
    }

    /// What a text of the notation is, for sentences that say why there is none.
    #[must_use]
    pub fn noun(self) -> &'static str {
        self.names().2
    }

    /// Refuses a layout that this notation cannot say whatever its strides or tiles are, with the reason.
    fn check(self, map: &IndexMap) -> Result<(), String> {
        let (data_type, bits, own) = (map.data_type(), map.element_bits(), map.data_type().bits());
        let own = match self {
            Notation::Xla | Notation::Jax | Notation::Named => bits,
            // Each element of a type below a byte takes a byte in NumPy.
            Notation::Numpy => own.next_multiple_of(8),
            _ => own,
        };
        if bits != own {
            let bits = counted(bits, "bit");
            let whose = match self {
                Notation::Numpy | Notation::Directml => self.title(),
                _ => "this notation",
            };
            return Err(format!("an element of {data_type} takes {bits} here, and {own} in {whose}"));
        }
        match self {
            Notation::AxisOrder | Notation::CuTe | Notation::Directml | Notation::Ndarray | Notation::Ggml
                if map.base() != 0 =>
            {
                let base = counted(map.base(), "element");
                Err(format!("it begins {base} into its buffer, and this notation has no offset"))
            }
            _ => Ok(()),
        }
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
        one_of(long, "a notation", Notation::ALL, |notation| notation.names().0)
    }
}

/// A layout that was read from a text, and the notation of the text. `Display` writes the layout in this
/// notation, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notated {
    layout: AnyLayout,
    notation: Notation,
    /// The text in canonical form, where the layout has several in its notation.
    text: Option<String>,
    /// The tensor of blocks whose bytes the layout has.
    blocks: Option<BlockTensorDesc>,
}

impl Notated {
    fn new(notation: Notation, text: Option<String>, layout: AnyLayout) -> Notated {
        Notated { layout, notation, text, blocks: None }
    }

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
    #[must_use]
    pub fn alignment(&self) -> u64 {
        match &self.layout {
            AnyLayout::Strided(desc) => u64::from(desc.base_offset_alignment()).max(1),
            AnyLayout::Mapped(map) => map.alignment(),
            AnyLayout::Tiled(_) => 1,
        }
    }

    /// The tensor of blocks, if the text has a block type. The [layout](Self::layout) is that of its bytes.
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
        if notation == self.notation { Ok(self.to_string()) } else { text_in(&self.layout, notation) }
    }
}

impl ToIndexMap for Notated {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.layout.to_index_map()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        self.layout.as_descriptor()
    }

    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks.as_ref()
    }
}

impl fmt::Display for Notated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.text, &self.layout) {
            (Some(text), _) => f.write_str(text),
            (None, AnyLayout::Tiled(shape)) if self.notation == Notation::Xla => shape.fmt(f),
            (None, AnyLayout::Strided(desc)) if self.notation == Notation::Strides => desc.fmt(f),
            (None, layout) => {
                // A type that the notation has no name for is written in the notation of the layout's kind.
                let written = text_in(layout, self.notation).or_else(|_| text(layout));
                f.write_str(&written.map_err(|_| fmt::Error)?)
            }
        }
    }
}

/// The type and the sizes, with which most notations begin: `f32[2,3]`.
fn type_and_sizes(data_type: DataType, sizes: &[u64]) -> String {
    format!("{data_type}{}", crate::numbers::list(sizes))
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
        Notated::new(Notation::Xla, None, shape.into())
    }
}

impl From<BufferTensorDesc> for Notated {
    fn from(desc: BufferTensorDesc) -> Notated {
        Notated::new(Notation::Strides, None, desc.into())
    }
}

impl From<BlockTensorDesc> for Notated {
    fn from(desc: BlockTensorDesc) -> Notated {
        let (text, bytes) = (Some(desc.to_string()), desc.bytes().clone());
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
        Ok(Notated::new(Notation::Named, Some(named.to_string()), layout))
    }
}

/// Converts the cache as if its text had been read. A cache whose blocks lie in several places is refused.
impl TryFrom<KvCache> for Notated {
    type Error = Error;

    fn try_from(cache: KvCache) -> Result<Notated, Error> {
        Ok(Notated::new(Notation::Named, Some(cache.to_string()), cache.to_index_map()?.into()))
    }
}

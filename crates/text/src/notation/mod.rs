//! One reader and one writer for every notation of a layout.

mod composed;
mod cute;
mod directml;
mod form_rows;
mod forms;
mod jax;
mod lines;
mod memref;
mod no_layout;
mod onednn;
mod read;
mod steps;
mod strided;
mod triton;
mod types;
mod views;

pub(crate) use forms::ggml_text_of_blocks;
pub(crate) use lines::lines_of;
pub use lines::{Line, all_notations, to_notation, to_text};
pub use onednn::{array_of_onednn_tag, onednn_size_in_bytes};
pub use read::lacks_type;
pub(crate) use read::{Read, read_array, read_whole};
pub use steps::offset_steps;
pub use strided::axis_orders;
pub use types::numpy_dtype;
pub use views::ViewStep;

use core::fmt;
use core::str::FromStr;

use tensor_layout::Error;
use tensor_layout::IndexMap;
use tensor_layout::cursor::one_of;
use tensor_layout::element::DataType;
use tensor_layout::plan::counted;

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
    /// TVM: `T.Buffer((2,3), "float32", strides=(5,1))`, and blocks with a capital letter for each axis:
    /// `f32[1,32,4,4]:NCHW4c`.
    Tvm "tvm" "TVM layout" "TVM layout";
}

impl Notation {
    /// The notations of [`all_notations`]: all but the prints of other libraries, which say the same.
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

/// The type and the sizes, with which most notations begin: `f32[2,3]`.
fn type_and_sizes(data_type: DataType, sizes: &[u64]) -> String {
    format!("{data_type}{}", crate::numbers::list(sizes))
}

//! `DataType`: every array element type of DirectML and of XLA, with its name in five vocabularies.
//!
//! The types come from `DML_TENSOR_DATA_TYPE` (in DirectML.h) and from `PrimitiveType` (in XLA's
//! xla_data.proto).

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::error::{Error, counted};

/// The meaning of the bits of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// True or false, stored in a byte.
    Bool,
    /// A two's complement integer.
    Signed,
    /// A natural number.
    Unsigned,
    /// A floating point number of any format.
    Float,
    /// A pair of floating point numbers, real part first.
    Complex,
}

/// A vocabulary of data type names.
///
/// ```
/// use tensor_layout::{element::Naming, DataType};
///
/// let data_type = DataType::BF16;
/// assert_eq!(data_type.name_in(Naming::Numpy), Some("bfloat16"));
/// assert_eq!(data_type.name_in(Naming::Safetensors), Some("BF16"));
/// // DirectML has no such type, and .npy files have no word of their own for it.
/// assert_eq!((data_type.name_in(Naming::Directml), data_type.name_in(Naming::Npy)), (None, None));
/// assert_eq!(DataType::from_name_in(Naming::Npy, "<f2"), Some(DataType::F16));
/// assert_eq!(DataType::from_name_in(Naming::Npy, ">f2"), None, "the bytes in the other order");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Naming {
    /// XLA's text form, in lower case: `f32`, `pred`, `f8e4m3fn`. Every type has such a name.
    Xla,
    /// The text after `DML_TENSOR_DATA_TYPE_`, for the thirteen types that DirectML has: `FLOAT32`. A name is
    /// read with and without that prefix.
    Directml,
    /// NumPy's dtypes: `float32`. The names of the small floats, of `bfloat16` and of the sub-byte integers
    /// are the names that the `ml_dtypes` package registers.
    Numpy,
    /// The type string of the .npy format and of `__array_interface__`, little endian: `<f4`.
    Npy,
    /// The dtype in a safetensors header: `F32`, `BOOL`, `F8_E4M3`.
    Safetensors,
}

macro_rules! data_types {
    ($($(#[$doc:meta])* $variant:ident, $kind:ident, $bits:literal, $xla:literal,
        $directml:expr, $numpy:expr, $descr:expr, $safetensors:expr;)*) => {
        /// The type of one tensor element.
        ///
        /// The variants carry XLA's names; [`DataType::name_in`] translates them. A type knows how many bits
        /// its value takes. How many bits an element takes in memory is a property of the *layout*: XLA
        /// stores an `s4` in a whole byte unless `E(4)` says otherwise.
        ///
        /// ```
        /// use tensor_layout::{element::Naming, DataType};
        ///
        /// assert_eq!("bf16".parse::<DataType>()?, DataType::BF16);
        /// assert_eq!(DataType::S4.bits(), 4);
        /// assert_eq!(DataType::S4.name_in(Naming::Directml), Some("INT4"));
        /// assert_eq!(DataType::F32.name_in(Naming::Numpy), Some("float32"));
        /// # Ok::<(), tensor_layout::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DataType { $($(#[$doc])* $variant,)* }

        impl DataType {
            /// Every data type.
            pub const ALL: &'static [DataType] = &[$(DataType::$variant),*];

            #[inline]
            const fn row(self) -> Row {
                match self {
                    $(DataType::$variant => Row {
                        kind: ElementKind::$kind, bits: $bits, xla: $xla, directml: $directml,
                        numpy: $numpy, descr: $descr, safetensors: $safetensors,
                    },)*
                }
            }
        }
    };
}

#[derive(Clone, Copy)]
struct Row {
    kind: ElementKind,
    bits: u32,
    xla: &'static str,
    directml: Option<(&'static str, u32)>,
    numpy: Option<&'static str>,
    descr: Option<&'static str>,
    safetensors: Option<&'static str>,
}

data_types! {
    /// A truth value, stored in one byte.
    Pred, Bool, 8, "pred", None, Some("bool"), Some("|b1"), Some("BOOL");
    /// A signed integer of 1 bit.
    S1, Signed, 1, "s1", None, Some("int1"), None, None;
    /// A signed integer of 2 bits.
    S2, Signed, 2, "s2", None, Some("int2"), None, None;
    /// A signed integer of 4 bits.
    S4, Signed, 4, "s4", Some(("INT4", 13)), Some("int4"), None, None;
    /// A signed integer of 8 bits.
    S8, Signed, 8, "s8", Some(("INT8", 8)), Some("int8"), Some("|i1"), Some("I8");
    /// A signed integer of 16 bits.
    S16, Signed, 16, "s16", Some(("INT16", 7)), Some("int16"), Some("<i2"), Some("I16");
    /// A signed integer of 32 bits.
    S32, Signed, 32, "s32", Some(("INT32", 6)), Some("int32"), Some("<i4"), Some("I32");
    /// A signed integer of 64 bits.
    S64, Signed, 64, "s64", Some(("INT64", 11)), Some("int64"), Some("<i8"), Some("I64");
    /// An unsigned integer of 1 bit.
    U1, Unsigned, 1, "u1", None, Some("uint1"), None, None;
    /// An unsigned integer of 2 bits.
    U2, Unsigned, 2, "u2", None, Some("uint2"), None, None;
    /// An unsigned integer of 3 bits. Elements are one stream of bits, the lowest first.
    U3, Unsigned, 3, "u3", None, None, None, None;
    /// An unsigned integer of 4 bits.
    U4, Unsigned, 4, "u4", Some(("UINT4", 12)), Some("uint4"), None, None;
    /// An unsigned integer of 5 bits. Elements are one stream of bits, the lowest first.
    U5, Unsigned, 5, "u5", None, None, None, None;
    /// An unsigned integer of 6 bits. Elements are one stream of bits, the lowest first.
    U6, Unsigned, 6, "u6", None, None, None, None;
    /// An unsigned integer of 7 bits. Elements are one stream of bits, the lowest first.
    U7, Unsigned, 7, "u7", None, None, None, None;
    /// An unsigned integer of 8 bits.
    U8, Unsigned, 8, "u8", Some(("UINT8", 5)), Some("uint8"), Some("|u1"), Some("U8");
    /// An unsigned integer of 16 bits.
    U16, Unsigned, 16, "u16", Some(("UINT16", 4)), Some("uint16"), Some("<u2"), Some("U16");
    /// An unsigned integer of 32 bits.
    U32, Unsigned, 32, "u32", Some(("UINT32", 3)), Some("uint32"), Some("<u4"), Some("U32");
    /// An unsigned integer of 64 bits.
    U64, Unsigned, 64, "u64", Some(("UINT64", 10)), Some("uint64"), Some("<u8"), Some("U64");
    /// IEEE half precision.
    F16, Float, 16, "f16", Some(("FLOAT16", 2)), Some("float16"), Some("<f2"), Some("F16");
    /// IEEE single precision.
    F32, Float, 32, "f32", Some(("FLOAT32", 1)), Some("float32"), Some("<f4"), Some("F32");
    /// IEEE double precision.
    F64, Float, 64, "f64", Some(("FLOAT64", 9)), Some("float64"), Some("<f8"), Some("F64");
    /// The upper half of an IEEE single precision number.
    BF16, Float, 16, "bf16", None, Some("bfloat16"), None, Some("BF16");
    /// 4 bits: sign, 2 exponent, 1 mantissa; finite values only.
    F4E2M1FN, Float, 4, "f4e2m1fn", None, Some("float4_e2m1fn"), None, Some("F4");
    /// 6 bits: sign, 2 exponent, 3 mantissa; finite values only.
    F6E2M3FN, Float, 6, "f6e2m3fn", None, Some("float6_e2m3fn"), None, Some("F6_E2M3");
    /// 6 bits: sign, 3 exponent, 2 mantissa; finite values only.
    F6E3M2FN, Float, 6, "f6e3m2fn", None, Some("float6_e3m2fn"), None, Some("F6_E3M2");
    /// 8 bits: sign, 3 exponent, 4 mantissa, with the infinities and NaNs of IEEE.
    F8E3M4, Float, 8, "f8e3m4", None, Some("float8_e3m4"), None, None;
    /// 8 bits: sign, 4 exponent, 3 mantissa, with the infinities and NaNs of IEEE.
    F8E4M3, Float, 8, "f8e4m3", None, Some("float8_e4m3"), None, None;
    /// 8 bits: sign, 4 exponent, 3 mantissa, no infinities.
    F8E4M3FN, Float, 8, "f8e4m3fn", None, Some("float8_e4m3fn"), None, Some("F8_E4M3");
    /// 8 bits: sign, 4 exponent with a bias of 11, 3 mantissa, no infinities and no negative zero.
    F8E4M3B11FNUZ, Float, 8, "f8e4m3b11fnuz", None, Some("float8_e4m3b11fnuz"), None, None;
    /// 8 bits: sign, 4 exponent, 3 mantissa, no infinities and no negative zero.
    F8E4M3FNUZ, Float, 8, "f8e4m3fnuz", None, Some("float8_e4m3fnuz"), None, Some("F8_E4M3FNUZ");
    /// 8 bits: sign, 5 exponent, 2 mantissa, with the infinities and NaNs of IEEE.
    F8E5M2, Float, 8, "f8e5m2", None, Some("float8_e5m2"), None, Some("F8_E5M2");
    /// 8 bits: sign, 5 exponent, 2 mantissa, no infinities and no negative zero.
    F8E5M2FNUZ, Float, 8, "f8e5m2fnuz", None, Some("float8_e5m2fnuz"), None, Some("F8_E5M2FNUZ");
    /// 8 bits: 8 exponent, no sign, no mantissa: powers of two, and NaN.
    F8E8M0FNU, Float, 8, "f8e8m0fnu", None, Some("float8_e8m0fnu"), None, Some("F8_E8M0");
    /// A pair of IEEE single precision numbers.
    C64, Complex, 64, "c64", None, Some("complex64"), Some("<c8"), Some("C64");
    /// A pair of IEEE double precision numbers.
    C128, Complex, 128, "c128", None, Some("complex128"), Some("<c16"), None;
}

impl DataType {
    /// The number of bits that one value takes. A [`DataType::Pred`] takes 8 bits, because both models store
    /// it in a byte.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.row().bits
    }

    /// XLA's bits of an element without `E(n)`: whole bytes (`ShapeUtil::ByteSizeOfPrimitiveType`). XLA has
    /// no streams, which are packed.
    pub(crate) const fn xla_storage_bits(self) -> u32 {
        if self.is_stream() { self.row().bits } else { self.row().bits.next_multiple_of(8) }
    }

    /// Whether elements are a stream of bits in which some elements lie in two bytes, as checkpoints store
    /// integers of 3, 5, 6 and 7 bits. Layouts and copies have these types. No device has them, and checks
    /// and shaders refuse them.
    ///
    /// ```
    /// use tensor_layout::{ArrayShape, DataType};
    ///
    /// let stream: ArrayShape = "u3[2,64]".parse()?;
    /// assert!(stream.data_type().is_stream() && !DataType::U4.is_stream() && !DataType::F6E2M3FN.is_stream());
    /// assert_eq!(stream.physical_size_in_bytes()?, 48);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub const fn is_stream(self) -> bool {
        matches!(self, DataType::U3 | DataType::U5 | DataType::U6 | DataType::U7)
    }

    /// The end of an error message that only the width of the type is accepted.
    pub(crate) fn width_in_words(self) -> &'static str {
        match self.row().bits {
            1..=7 => {
                "those as wide as their type (sizes alone are XLA's, with a byte for each element: for packed ones write strides, as in \
                 u4[3,5]:[5,1], or E(n), as in u4[3,5]{1,0:E(4)})"
            }
            _ => "those as wide as their type",
        }
    }

    /// The meaning of the bits of an element.
    #[must_use]
    pub const fn kind(self) -> ElementKind {
        self.row().kind
    }

    pub(crate) const fn xla_name(self) -> &'static str {
        self.row().xla
    }

    /// The name of this type in another vocabulary (`naming`), or `None` if that vocabulary has no such type.
    #[must_use]
    pub fn name_in(self, naming: Naming) -> Option<&'static str> {
        let row = self.row();
        match naming {
            Naming::Xla => Some(row.xla),
            Naming::Directml => row.directml.map(|(name, _)| name),
            Naming::Numpy => row.numpy,
            Naming::Npy => row.descr,
            Naming::Safetensors => row.safetensors,
        }
    }

    /// Returns the data type with this name in a vocabulary. The spelling must match exactly.
    #[must_use]
    pub fn from_name_in(naming: Naming, name: &str) -> Option<DataType> {
        let prefix = if naming == Naming::Directml { "DML_TENSOR_DATA_TYPE_" } else { "" };
        let name = name.strip_prefix(prefix).unwrap_or(name);
        Self::ALL.iter().copied().find(|data_type| data_type.name_in(naming) == Some(name))
    }

    /// The value of this type in the `DML_TENSOR_DATA_TYPE` enumeration, for the thirteen types that DirectML
    /// has.
    #[cfg(feature = "directml")]
    #[must_use]
    pub const fn directml_value(self) -> Option<u32> {
        match self.row().directml {
            Some((_, value)) => Some(value),
            None => None,
        }
    }

    /// Returns the data type of a `DML_TENSOR_DATA_TYPE` value. Returns `None` for UNKNOWN (0) and for values
    /// that DirectML does not define.
    #[cfg(feature = "directml")]
    #[must_use]
    pub fn from_directml_value(value: u32) -> Option<DataType> {
        Self::ALL.iter().copied().find(|data_type| data_type.directml_value() == Some(value))
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.xla_name())
    }
}

impl FromStr for DataType {
    type Err = Error;

    /// Reads a name of any vocabulary:
    ///
    /// * XLA's names in lower or upper case, and `i32` for `s32`,
    /// * DirectML's and safetensors' names,
    /// * NumPy's and PyTorch's names with or without the module (`torch.float16`),
    /// * the names that frameworks give the usual floats: `half`, `fp16`, `fp8_e4m3`.
    ///
    /// No name has two meanings. `F8E4M3` is XLA's type with infinities. `F8_E4M3` and `fp8_e4m3` are the
    /// type without infinities (`f8e4m3fn`) of safetensors, ONNX and PyTorch.
    fn from_str(name: &str) -> Result<Self, Error> {
        let namings = [Naming::Xla, Naming::Directml, Naming::Numpy, Naming::Safetensors];
        let (whole, name) = (name, name.rsplit_once('.').map_or(name, |(_, own)| own));
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|&(_, data_type)| data_type);
        let named = other.or_else(|| namings.into_iter().find_map(|naming| Self::from_name_in(naming, name)));
        named
            .or_else(|| {
                let all_upper = !name.chars().any(|c| c.is_ascii_lowercase());
                all_upper.then(|| Self::from_name_in(Naming::Xla, &name.to_ascii_lowercase())).flatten()
            })
            .or_else(|| {
                let bits = name.strip_prefix(['i', 'I'])?;
                Self::ALL.iter().copied().find(|data_type| data_type.xla_name().strip_prefix('s') == Some(bits))
            })
            .ok_or_else(|| Error::unknown_data_type(whole.to_owned()))
    }
}

pub(crate) fn bits_in_words(bits: u32) -> String {
    counted(bits, "bit")
}

/// The names that frameworks give the usual types, in addition to the names in the table.
const OTHER_NAMES: &[(&str, DataType)] = &[
    ("half", DataType::F16),
    ("fp16", DataType::F16),
    ("fp32", DataType::F32),
    ("fp64", DataType::F64),
    ("double", DataType::F64),
    ("fp8_e4m3", DataType::F8E4M3FN),
    ("fp8_e5m2", DataType::F8E5M2),
];

//! `BlockType`: the types of ggml that store some values and their scales together, in a block of bytes.
//!
//! A row of the table has the name, ggml's number, the values and the bytes of a block, and where the bits
//! of a value are. Value `k` of a block has one or two *fields*: `width` bits from bit `first` on, moved by
//! the digits of `k`. The field `4 bits from 16: (16,4) (1,8)` of q4_0 is bit `16 + (k / 16) * 4 + (k % 16)
//! * 8`: the values `k` and `k + 16` share byte `2 + k % 16`.
//!
//! A type without fields has values that no bits hold alone: indices into tables that the library does not
//! know (iq1, iq2, iq3), or five values in a byte (tq1_0).

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::error::Error;
use crate::exact::Exact;

/// Bits of value `k` of a block, as the head of this file explains them.
struct BitField {
    width: u64,
    first: u64,
    /// The digits of `k`, the largest divisor first, each with its stride in bits.
    digits: &'static [(u64, u64)],
}

struct Row {
    name: &'static str,
    number: u32,
    values: u64,
    bytes: u64,
    fields: &'static [BitField],
}

macro_rules! block_types {
    ($($name:literal $variant:ident $number:literal $values:literal $bytes:literal
        $([$width:literal bits from $first:literal: $($digit:expr),*])*;)*) => {
        /// A type of ggml whose values are stored in blocks: some values of the innermost axis with their
        /// scales.
        ///
        /// Sizes are those of ggml 0.26.0, of which GGUF files are made. (gguf 0.19.0 counts 40 bytes for a
        /// block of q8_1, and does not know q2_0.)
        ///
        /// ```
        /// use tensor_layout::element::BlockType;
        ///
        /// let q4_0: BlockType = "q4_0".parse()?;
        /// assert_eq!((q4_0.values(), q4_0.bytes(), q4_0.number()), (32, 18, 2));
        /// assert_eq!("Q4_K".parse::<BlockType>()?, BlockType::Q4K);
        /// // Value 17 is in the upper half of byte 3, whose lower half has value 1.
        /// assert_eq!(q4_0.value_bits(17), [28..32]);
        /// # Ok::<(), tensor_layout::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum BlockType { $(#[doc = concat!("ggml's `", $name, "`: ", $values, " values in ", $bytes, " bytes.")] $variant,)* }

        impl BlockType {
            /// Every block type, in the order of ggml's numbers.
            pub const ALL: &'static [BlockType] = &[$(BlockType::$variant),*];

            const fn row(self) -> Row {
                match self {
                    $(BlockType::$variant => Row {
                        name: $name, number: $number, values: $values, bytes: $bytes,
                        fields: &[$(BitField { width: $width, first: $first, digits: &[$($digit),*] }),*],
                    },)*
                }
            }
        }
    };
}

block_types! {
    "q4_0" Q40 2 32 18 [4 bits from 16: (16, 4), (1, 8)];
    "q4_1" Q41 3 32 20 [4 bits from 32: (16, 4), (1, 8)];
    "q5_0" Q50 6 32 22 [4 bits from 48: (16, 4), (1, 8)] [1 bits from 16: (1, 1)];
    "q5_1" Q51 7 32 24 [4 bits from 64: (16, 4), (1, 8)] [1 bits from 32: (1, 1)];
    "q8_0" Q80 8 32 34 [8 bits from 16: (1, 8)];
    "q8_1" Q81 9 32 36 [8 bits from 32: (1, 8)];
    "q2_K" Q2K 10 256 84 [2 bits from 128: (128, 256), (32, 2), (1, 8)];
    "q3_K" Q3K 11 256 110 [2 bits from 256: (128, 256), (32, 2), (1, 8)] [1 bits from 0: (32, 1), (1, 8)];
    "q4_K" Q4K 12 256 144 [4 bits from 128: (64, 256), (32, 4), (1, 8)];
    "q5_K" Q5K 13 256 176 [4 bits from 384: (64, 256), (32, 4), (1, 8)] [1 bits from 128: (32, 1), (1, 8)];
    "q6_K" Q6K 14 256 210 [4 bits from 0: (128, 512), (64, 4), (1, 8)] [2 bits from 1024: (128, 256), (32, 2), (1, 8)];
    "q8_K" Q8K 15 256 292 [8 bits from 32: (1, 8)];
    "iq2_xxs" Iq2Xxs 16 256 66;
    "iq2_xs" Iq2Xs 17 256 74;
    "iq3_xxs" Iq3Xxs 18 256 98;
    "iq1_s" Iq1S 19 256 50;
    "iq4_nl" Iq4Nl 20 32 18 [4 bits from 16: (16, 4), (1, 8)];
    "iq3_s" Iq3S 21 256 110;
    "iq2_s" Iq2S 22 256 82;
    "iq4_xs" Iq4Xs 23 256 136 [4 bits from 64: (32, 128), (16, 4), (1, 8)];
    "iq1_m" Iq1M 29 256 56;
    "tq1_0" Tq10 34 256 54;
    "tq2_0" Tq20 35 256 66 [2 bits from 0: (128, 256), (32, 2), (1, 8)];
    "mxfp4" Mxfp4 39 32 17 [4 bits from 8: (16, 4), (1, 8)];
    "nvfp4" Nvfp4 40 64 36 [4 bits from 32: (16, 64), (8, 4), (1, 8)];
    "q1_0" Q10 41 128 18 [1 bits from 16: (1, 1)];
    "q2_0" Q20 42 64 18 [2 bits from 16: (1, 2)];
}

impl BlockType {
    pub(crate) const fn name(self) -> &'static str {
        self.row().name
    }

    /// ggml's number of the type, which GGUF files store.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.row().number
    }

    /// Returns the block type with this number of ggml. Numbers of plain types, and of types that ggml
    /// removed (4, 5, 31 to 33, 36 to 38), give `None`.
    #[must_use]
    pub fn from_number(number: u32) -> Option<BlockType> {
        Self::ALL.iter().copied().find(|block_type| block_type.number() == number)
    }

    /// The values of a block.
    #[must_use]
    pub const fn values(self) -> u64 {
        self.row().values
    }

    /// The number of bytes of a block.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.row().bytes
    }

    /// The bits that hold value `k` of a block alone, counted from bit 0 of byte 0, low bits first. The upper
    /// bits of types of 3, 5 and 6 bits are a second range. The list is empty for a type whose values share
    /// their bits, and for a `k` that is no value of a block.
    #[must_use]
    pub fn value_bits(self, k: u64) -> Vec<Range<u64>> {
        let row = self.row();
        let range = |field: &BitField| {
            let (mut first, mut rest) = (field.first, k);
            for &(divisor, stride) in field.digits {
                first = first.plus(rest.divided_by(divisor).times(stride));
                rest = rest.modulo(divisor);
            }
            first..first.plus(field.width)
        };
        row.fields.iter().filter(|_| k < row.values).map(range).collect()
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BlockType {
    type Err = Error;

    /// Reads ggml's name, in upper or lower case.
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().copied().find(|block_type| block_type.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::unknown_data_type(name.to_owned()))
    }
}

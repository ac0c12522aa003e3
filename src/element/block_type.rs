//! `BlockType`: the types of ggml that store some values and their scales together, in a block of bytes.
//!
//! A row of the table has the name, ggml's number, the values and the bytes of a block, and its *fields*: the
//! values, the scales and the minima. An entry of a field is a number of one type, for `per` values of the
//! block. Entry `k` begins at bit `from`, moved by the digits of `k`. The field `values U4 from 16: (16, 4),
//! (1, 8)` of q4_0 has value `k` at bit `16 + (k / 16) * 4 + (k % 16) * 8`: the values `k` and `k + 16` share
//! byte `2 + k % 16`.
//!
//! A number whose bits are apart is in several fields: `bit 4` is a field of the bits of a number from bit 4
//! on. The 6-bit scales of q4_K are four bits and two, and the half of iq1_m is four nibbles.
//!
//! Bits that are no field belong to values that no bits hold alone, indices into tables that the library does
//! not know (iq1, iq2, iq3) or five values in a byte (tq1_0), or are sums of the values (q8_1, q8_K).

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use super::DataType;
use crate::error::Error;
use crate::exact::Proven;

/// What a field of a block holds.
///
/// ```
/// use tensor_layout::element::{BlockType, FieldRole};
///
/// let roles: Vec<FieldRole> = BlockType::Q41.fields().iter().map(|field| field.role).collect();
/// assert_eq!(roles, [FieldRole::Values, FieldRole::Scales, FieldRole::Minima]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldRole {
    /// The values.
    Values,
    /// The numbers by which the values are multiplied.
    Scales,
    /// The numbers that are added to, or subtracted from, the scaled values.
    Minima,
}

/// A field of a block: numbers of one type, or some bits of these numbers, and where they are.
///
/// ```
/// use tensor_layout::{DataType, element::BlockType};
///
/// let [values, scales] = BlockType::Nvfp4.fields() else { panic!("two fields") };
/// assert_eq!((values.data_type, scales.data_type, scales.per), (DataType::F4E2M1FN, DataType::F8E4M3FN, 16));
/// // Value 17 is the low half of byte 13, and its scale is byte 1.
/// assert_eq!((values.bits(17), scales.bits(17 / scales.per)), (104..108, 8..16));
///
/// // The scales of q3_K have six bits, four in one field and the bits 4 and 5 in another. 32 is added to them.
/// let [.., low, high, _] = BlockType::Q3K.fields() else { panic!("five fields") };
/// assert_eq!((low.data_type, high.data_type, high.lowest_bit, high.flip), (DataType::U4, DataType::U2, 4, 2));
/// assert_eq!((low.bits(9), high.bits(9)), (780..784, 844..846));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockField {
    /// What the field holds.
    pub role: FieldRole,
    /// The type of an entry.
    pub data_type: DataType,
    /// The place of an entry's lowest bit in its number. 0, unless fields of the same role and the same `per`
    /// before this one have the lower bits.
    pub lowest_bit: u32,
    /// The number of values that share an entry: 1 for the values.
    pub per: u64,
    /// The bits of an entry that differ from those of the signed integer that is meant: `8` for q4_0, whose
    /// values are stored with 8 added. 0 where nothing is added.
    pub flip: u8,
    first: u64,
    /// The digits of the number of an entry, the largest divisor first, each with its stride in bits.
    digits: &'static [(u64, u64)],
}

impl BlockField {
    /// The bits of an entry in its block, counted from bit 0 of byte 0, low bits first.
    #[must_use]
    pub fn bits(&self, entry: u64) -> Range<u64> {
        let (mut first, mut rest) = (self.first, entry);
        for &(divisor, stride) in self.digits {
            first = first.plus(rest.divided_by(divisor).times(stride));
            rest = rest.modulo(divisor);
        }
        first..first.plus(self.data_type.bits().into())
    }

    /// The first bit of entry 0, and the digits of an entry: the number of values of each digit and its
    /// stride in bits, the slowest first.
    pub(crate) fn digits(&self, entries: u64) -> (u64, impl Iterator<Item = (u64, u64)> + '_) {
        let mut above = entries;
        let digits = self.digits.iter().map(move |&(divisor, stride)| {
            let count = above.divided_by(divisor);
            above = divisor;
            (count, stride)
        });
        (self.first, digits)
    }
}

struct Row {
    name: &'static str,
    number: u32,
    values: u64,
    bytes: u64,
    fields: &'static [BlockField],
}

macro_rules! block_types {
    ($($name:literal $variant:ident $number:literal $values:literal $bytes:literal
        $([$role:ident $type:ident $(bit $bit:literal)? $(per $per:literal)? $(flip $flip:literal)?
            from $first:literal $(: $($digit:expr),*)?])*;)*) => {
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
                        fields: &[$(BlockField {
                            role: FieldRole::$role, data_type: DataType::$type, lowest_bit: 0 $(+ $bit)?,
                            per: 1 $(* $per)?, flip: 0 $(| $flip)?, first: $first,
                            digits: &[$($($digit),*)?],
                        }),*],
                    },)*
                }
            }
        }
    };
}

block_types! {
    "q4_0" Q40 2 32 18 [Values U4 flip 8 from 16: (16, 4), (1, 8)] [Scales F16 per 32 from 0];
    "q4_1" Q41 3 32 20 [Values U4 from 32: (16, 4), (1, 8)] [Scales F16 per 32 from 0] [Minima F16 per 32 from 16];
    "q5_0" Q50 6 32 22 [Values U4 from 48: (16, 4), (1, 8)] [Values U1 bit 4 flip 1 from 16: (1, 1)]
        [Scales F16 per 32 from 0];
    "q5_1" Q51 7 32 24 [Values U4 from 64: (16, 4), (1, 8)] [Values U1 bit 4 from 32: (1, 1)]
        [Scales F16 per 32 from 0] [Minima F16 per 32 from 16];
    "q8_0" Q80 8 32 34 [Values S8 from 16: (1, 8)] [Scales F16 per 32 from 0];
    "q8_1" Q81 9 32 36 [Values S8 from 32: (1, 8)] [Scales F16 per 32 from 0];
    "q2_K" Q2K 10 256 84 [Values U2 from 128: (128, 256), (32, 2), (1, 8)]
        [Scales U4 per 16 from 0: (1, 8)] [Minima U4 per 16 from 4: (1, 8)]
        [Scales F16 per 256 from 640] [Minima F16 per 256 from 656];
    "q3_K" Q3K 11 256 110 [Values U2 from 256: (128, 256), (32, 2), (1, 8)]
        [Values U1 bit 2 flip 1 from 0: (32, 1), (1, 8)]
        [Scales U4 per 16 from 768: (8, 4), (1, 8)] [Scales U2 bit 4 per 16 flip 2 from 832: (4, 2), (1, 8)]
        [Scales F16 per 256 from 864];
    "q4_K" Q4K 12 256 144 [Values U4 from 128: (64, 256), (32, 4), (1, 8)]
        [Scales U4 per 32 from 32: (4, 64), (1, 8)] [Scales U2 bit 4 per 32 from 36: (4, 2), (1, 8)]
        [Minima U4 per 32 from 64: (4, 36), (1, 8)] [Minima U2 bit 4 per 32 from 68: (4, 2), (1, 8)]
        [Scales F16 per 256 from 0] [Minima F16 per 256 from 16];
    "q5_K" Q5K 13 256 176 [Values U4 from 384: (64, 256), (32, 4), (1, 8)] [Values U1 bit 4 from 128: (32, 1), (1, 8)]
        [Scales U4 per 32 from 32: (4, 64), (1, 8)] [Scales U2 bit 4 per 32 from 36: (4, 2), (1, 8)]
        [Minima U4 per 32 from 64: (4, 36), (1, 8)] [Minima U2 bit 4 per 32 from 68: (4, 2), (1, 8)]
        [Scales F16 per 256 from 0] [Minima F16 per 256 from 16];
    "q6_K" Q6K 14 256 210 [Values U4 from 0: (128, 512), (64, 4), (1, 8)]
        [Values U2 bit 4 flip 2 from 1024: (128, 256), (32, 2), (1, 8)]
        [Scales S8 per 16 from 1536: (1, 8)] [Scales F16 per 256 from 1664];
    "q8_K" Q8K 15 256 292 [Values S8 from 32: (1, 8)] [Scales F32 per 256 from 0];
    "iq2_xxs" Iq2Xxs 16 256 66 [Scales U4 per 32 from 76: (1, 64)] [Scales F16 per 256 from 0];
    "iq2_xs" Iq2Xs 17 256 74 [Scales U4 per 16 from 528: (1, 4)] [Scales F16 per 256 from 0];
    "iq3_xxs" Iq3Xxs 18 256 98 [Scales U4 per 32 from 556: (1, 32)] [Scales F16 per 256 from 0];
    "iq1_s" Iq1S 19 256 50 [Scales U1 per 32 from 284: (1, 16)] [Scales U1 bit 1 per 32 from 285: (1, 16)]
        [Scales U1 bit 2 per 32 from 286: (1, 16)] [Scales F16 per 256 from 0];
    "iq4_nl" Iq4Nl 20 32 18 [Values U4 from 16: (16, 4), (1, 8)] [Scales F16 per 32 from 0];
    "iq3_s" Iq3S 21 256 110 [Scales U4 per 32 from 848: (1, 4)] [Scales F16 per 256 from 0];
    "iq2_s" Iq2S 22 256 82 [Scales U4 per 16 from 592: (1, 4)] [Scales F16 per 256 from 0];
    "iq4_xs" Iq4Xs 23 256 136 [Values U4 from 64: (32, 128), (16, 4), (1, 8)]
        [Scales U4 per 32 from 32: (1, 4)] [Scales U2 bit 4 per 32 flip 2 from 16: (1, 2)] [Scales F16 per 256 from 0];
    "iq1_m" Iq1M 29 256 56 [Scales U1 per 16 from 384: (4, 16), (1, 3)]
        [Scales U1 bit 1 per 16 from 385: (4, 16), (1, 3)] [Scales U1 bit 2 per 16 from 386: (4, 16), (1, 3)]
        [Scales U4 per 256 from 396] [Scales U4 bit 4 per 256 from 412] [Scales U4 bit 8 per 256 from 428]
        [Scales U4 bit 12 per 256 from 444];
    "tq1_0" Tq10 34 256 54 [Scales F16 per 256 from 416];
    "tq2_0" Tq20 35 256 66 [Values U2 from 0: (128, 256), (32, 2), (1, 8)] [Scales F16 per 256 from 512];
    "mxfp4" Mxfp4 39 32 17 [Values F4E2M1FN from 8: (16, 4), (1, 8)] [Scales F8E8M0FNU per 32 from 0];
    "nvfp4" Nvfp4 40 64 36 [Values F4E2M1FN from 32: (16, 64), (8, 4), (1, 8)] [Scales F8E4M3FN per 16 from 0: (1, 8)];
    "q1_0" Q10 41 128 18 [Values U1 from 16: (1, 1)] [Scales F16 per 128 from 0];
    "q2_0" Q20 42 64 18 [Values U2 from 16: (1, 2)] [Scales F16 per 64 from 0];
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
        let holds = |field: &&BlockField| k < row.values && field.role == FieldRole::Values;
        row.fields.iter().filter(holds).map(|field| field.bits(k)).collect()
    }

    /// The fields of a block: the values, then the scales and minima, those for the fewest values first. The
    /// fields of the same numbers follow each other, the lowest bits first.
    #[must_use]
    pub const fn fields(self) -> &'static [BlockField] {
        self.row().fields
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

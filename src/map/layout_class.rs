//! `LayoutClass`: the forms that layouts take.

use core::fmt;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

/// The form of a layout, the simplest form first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LayoutClass {
    /// Each dimension has one stride. A [`BufferTensorDesc`](crate::BufferTensorDesc) of the same rank
    /// describes the layout.
    Affine,
    /// Each dimension consists of digits whose divisors divide each other. A descriptor of higher rank
    /// describes the layout.
    Split,
    /// Each dimension consists of digits, but the divisor of some digit does not divide the divisor of the
    /// next larger digit.
    RaggedSplit,
    /// Some dimensions form one number that cannot be separated into the dimensions.
    Fused,
    /// Digits give an offset, and a [`Swizzle`](super::Swizzle) then flips bits of it.
    Swizzled,
    /// A `*` in a later tile joined parts of several dimensions to a number that no chain of digits
    /// describes, so offsets are computed level by level. In rare spellings, such as `T(2)(*,5)`, the joined
    /// digits form the original number again. The crate does not look for these spellings.
    Irreducible,
}

impl LayoutClass {
    /// Every class, the simplest first.
    pub const ALL: [LayoutClass; 6] = [
        LayoutClass::Affine,
        LayoutClass::Split,
        LayoutClass::RaggedSplit,
        LayoutClass::Fused,
        LayoutClass::Swizzled,
        LayoutClass::Irreducible,
    ];

    fn name(self) -> &'static str {
        match self {
            LayoutClass::Affine => "affine",
            LayoutClass::Split => "split",
            LayoutClass::RaggedSplit => "ragged_split",
            LayoutClass::Fused => "fused",
            LayoutClass::Swizzled => "swizzled",
            LayoutClass::Irreducible => "irreducible",
        }
    }
}

// `Form` and `Target` of `crates/shader/` are printed in the same way. A macro for the three would not be
// shorter.
impl fmt::Display for LayoutClass {
    /// Writes the class in snake case: `ragged_split`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LayoutClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "a class of layouts", &Self::ALL, LayoutClass::name)
    }
}

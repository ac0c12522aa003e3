//! `LayoutClass`: the form that a layout takes.

use core::fmt;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

/// The form that a layout takes, the simplest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LayoutClass {
    /// One stride for each dimension: a [`BufferTensorDesc`](crate::BufferTensorDesc) of the same rank.
    Affine,
    /// Each dimension falls into digits that divide each other: a descriptor of higher rank.
    Split,
    /// Each dimension falls into digits, but some do not divide the ones above.
    RaggedSplit,
    /// Some dimensions can only be placed together.
    Fused,
    /// Evaluated level by level: `*` in a later tile joined digits that do not line up. (In rare spellings,
    /// such as `T(2)(*,5)`, the joined digits recombine to the number they came from; that is not looked
    /// for.)
    Irreducible,
}

impl LayoutClass {
    /// Every class, the simplest first.
    pub const ALL: [LayoutClass; 5] = [
        LayoutClass::Affine,
        LayoutClass::Split,
        LayoutClass::RaggedSplit,
        LayoutClass::Fused,
        LayoutClass::Irreducible,
    ];

    fn name(self) -> &'static str {
        match self {
            LayoutClass::Affine => "affine",
            LayoutClass::Split => "split",
            LayoutClass::RaggedSplit => "ragged_split",
            LayoutClass::Fused => "fused",
            LayoutClass::Irreducible => "irreducible",
        }
    }
}

// `Form` and `Target` of `crates/shader/` have such a list as well. A macro for the three lists would not be
// shorter.
impl fmt::Display for LayoutClass {
    /// The class in snake case: `ragged_split`.
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

//! `IndexWidth`: the integer type that a kernel needs for the offsets of a tensor.

use core::fmt;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

use super::desc::BufferTensorDesc;

/// The narrowest integer type that holds every element offset of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexWidth {
    /// Every offset is at most 2³¹−1.
    I32,
    /// Every offset is at most 2³²−1.
    U32,
    /// Some offset needs more than 32 bits.
    U64,
}

impl IndexWidth {
    /// Every width, the narrowest first.
    pub const ALL: [IndexWidth; 3] = [IndexWidth::I32, IndexWidth::U32, IndexWidth::U64];

    pub(crate) fn name(self) -> &'static str {
        match self {
            IndexWidth::I32 => "i32",
            IndexWidth::U32 => "u32",
            IndexWidth::U64 => "u64",
        }
    }

    pub(crate) fn for_elements(elements: u64) -> IndexWidth {
        let last = elements.saturating_sub(1);
        if i32::try_from(last).is_ok() {
            IndexWidth::I32
        } else if u32::try_from(last).is_ok() {
            IndexWidth::U32
        } else {
            IndexWidth::U64
        }
    }
}

impl fmt::Display for IndexWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for IndexWidth {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "an index width", &Self::ALL, IndexWidth::name)
    }
}

impl BufferTensorDesc {
    /// The narrowest integer for every offset of this tensor, the base offset included.
    ///
    /// A small slice at the end of a large buffer needs the wide type. Kernels that multiply offsets by the
    /// size of an element need `byte_index_width` of an [`UploadReport`](crate::upload::UploadReport).
    #[must_use]
    pub fn index_width(&self) -> IndexWidth {
        IndexWidth::for_elements(self.span_elements())
    }
}

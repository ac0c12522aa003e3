//! The parts of layouts and copies, for authors of back ends.
//! Code that describes, checks or copies a tensor needs nothing of this module. A back end that generates
//! code reads the digits of an [`IndexMap`](crate::IndexMap), the loop nests of a copy, and the blocks and
//! offsets of a descriptor.
//!
//! ```
//! use tensor_layout::plan::{Digit, TileGroup, TileLevel};
//! use tensor_layout::{ArrayShape, ToIndexMap};
//!
//! let map = "f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?.to_index_map()?;
//! let strides = |digits: &[Digit]| digits.iter().map(|digit| digit.stride).collect::<Vec<_>>();
//! assert_eq!(strides(map.components()[1].chain.digits()), [4, 1]);
//!
//! // Where `*` joins what does not line up, there are tiles, level by level, and no digits.
//! let map = "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}".parse::<ArrayShape>()?.to_index_map()?;
//! let level: &TileLevel = &map.levels().expect("a `*`").levels()[1];
//! let group: &TileGroup = &level.groups()[0];
//! assert_eq!(group.bounds(), [2, 3]);
//! # Ok::<(), tensor_layout::Error>(())
//! ```

pub use crate::map::plan::{
    BufferBoxes, Chain, Component, CopyBox, Digit, DigitPlace, Loop, OffsetBox, Stride, TileGroup, TileLevel,
    TileLevels,
};
#[cfg(feature = "relayout")]
pub use crate::relayout::passes::CopyPass;
// For the crates of this repository: what follows may change with any version.
#[doc(hidden)]
pub use crate::error::{Code, Row, counted};
#[doc(hidden)]
pub use crate::map::plan::{EQUALITY_WORK_LIMIT, PADDING_SEARCH_LIMIT};
#[doc(hidden)]
pub use crate::strided::blocks::read_after_type as read_blocks_after_type;
#[doc(hidden)]
pub use crate::strided::text::read_after_sizes as read_strides_or_order;
#[doc(hidden)]
pub use crate::tiled::parse::{read_after_sizes as read_layout_after_sizes, read_extents};
#[doc(hidden)]
pub use crate::typed_sizes::{read_type, read_type_and_sizes};

//! DirectML's model: a tensor is described by sizes and strides in elements.
//!
//! The rules come from the pages *DML_BUFFER_TENSOR_DESC*, *Using strides to express padding and memory
//! layout* and *DirectML helper functions*.
//!
//! ```
//! use tensor_layout::strided::{AxisOrder, Facts, IndexWidth, Offsets, Overlap, NewAxes, TensorFlags};
//! use tensor_layout::{BufferTensorDesc, DataType};
//!
//! let desc = BufferTensorDesc::with_order(DataType::F16, &[2, 3, 4, 5], AxisOrder::NHWC)?.with_flags(TensorFlags::OwnedByDirectml);
//! assert_eq!(desc.strides(), [60, 1, 15, 3]);
//! let Facts { packed, in_order, .. } = desc.facts();
//! assert!(packed && !in_order);
//! assert_eq!(desc.rank_at_least(5, NewAxes::Front).sizes(), [1, 2, 3, 4, 5]);
//! assert_eq!(desc.index_width(), IndexWidth::I32);
//! let mut offsets: Offsets = desc.offsets();
//! assert_eq!((offsets.next(), offsets.nth(4)), (Some(0), Some(15)));
//! // Whether two indices share a place is searched for where strides do not decide it, up to a limit.
//! assert_eq!(desc.overlap(), Overlap::No);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

// This module comes first, so that the constructors come first on the page of `BufferTensorDesc`.
mod desc;
mod equality;

mod axes;
pub(crate) mod blocks;
mod facts;
mod free_strides;
mod gap_owner;
mod index_width;
mod invariants;
mod numbers;
mod offsets;
mod overlap;
mod pair_overlap;
mod shapes;
mod signed;
mod size;
mod slice;
pub(crate) mod text;
mod view;

pub use axes::AxisOrder;
pub use blocks::{BlockPlace, BlockTensorDesc};
pub use desc::{BufferTensorDesc, GapOwner, TensorFlags};
pub use facts::Facts;
pub use index_width::IndexWidth;
pub use numbers::Integer;
pub use offsets::Offsets;
pub use overlap::{OVERLAP_WORK_LIMIT, Overlap};
pub use signed::SignedDesc;
pub use size::calc_buffer_tensor_size;
pub use slice::{Slice, Slices};
pub use view::NewAxes;

pub(crate) use free_strides::set_free_strides;
pub(crate) use numbers::{index_of, sizes_of};
pub(crate) use overlap::find_overlap;
pub(crate) use slice::Taken;

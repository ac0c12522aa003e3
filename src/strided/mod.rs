//! DirectML's model: sizes, strides in elements, and nothing else.
//!
//! Rules are those of the pages *DML_BUFFER_TENSOR_DESC*, *Using strides to express padding and
//! memory layout* and *DirectML helper functions*.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod access;
mod axes;
mod axis_list;
mod desc;
mod facts;
mod index_width;
mod overlap;
mod pair_overlap;
mod print;
mod read;
mod shapes;
mod size;
mod slice;
mod view;

pub use access::{BlockIter, Blocks, GemmOperand, ManyBlocks, MemoryOrder, Offsets, UniformBlocks};
pub use axes::AxisOrder;
pub use desc::{BufferTensorDesc, TensorFlags};
pub use facts::Facts;
pub use index_width::IndexWidth;
pub use overlap::{OVERLAP_WORK_LIMIT, Overlap};
pub use size::calc_buffer_tensor_size;
pub use slice::{Slice, Slices};
pub use view::{Side, broadcast_sizes, coalesce_all, concat};

pub(crate) use overlap::find_overlap;
pub(crate) use read::{read_order, read_strides};
pub(crate) use slice::Taken;

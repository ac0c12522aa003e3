//! Copies as lists of transfers, for whatever executes them: plain ranges for RDMA and `vkCmdCopyBuffer`,
//! strided descriptors for NIXL and `cudaMemcpy2D`, or loops of any depth.
//!
//! A transfer library is given a list. Each entry costs about as much as a few kilobytes, so the number of
//! entries decides how long a copy of small runs takes. [`transfers`] lists a copy with as few entries as the
//! executor allows, which [`TransferLimits`] describe.
//!
//! A copy of the library is a few loop nests over elements, with two sets of strides
//! ([`CopyBox`](tensor_layout::plan::CopyBox)). From there:
//!
//! 1. Each nest is written in bytes. Its innermost loop is the *run*, which is contiguous on both sides. Two
//!    loops that form one loop on both sides are merged (`boxes.rs`).
//! 2. Two nests that continue each other become one: the ragged edge of a tile and the whole tiles, or the
//!    entries of a table (`nest.rs`).
//! 3. If the executor takes loops, those with the most steps stay inside each transfer, and the other loops
//!    list the transfers (`list.rs`).
//! 4. If the executor takes plain ranges, the runs of all nests are visited in the order of the destination,
//!    and neighbours that are contiguous on both sides become one (`ranges.rs`). These are the maximal runs,
//!    so no list of ranges is shorter.
//!
//! Steps 1 to 3 work on nests alone, of which there are a few, however many transfers they stand for.
//!
//! ```
//! use tensor_layout::BufferTensorDesc;
//! use tensor_layout_transfers::{TransferLimits, Loop, transfers};
//!
//! // Rows of 6 elements of 2 bytes, 16 bytes apart, to packed rows.
//! let (rows, packed): (BufferTensorDesc, BufferTensorDesc) = ("f16[4,6]:[8,1]".parse()?, "f16[4,6]:[6,1]".parse()?);
//! let list = transfers(&rows, &packed, &TransferLimits::ranges())?;
//! let ranges: Vec<_> = list.iter().map(|one| (one.source, one.destination, one.bytes)).collect();
//! assert_eq!(ranges, [(0, 0, 12), (16, 12, 12), (32, 24, 12), (48, 36, 12)]);
//!
//! let strided = transfers(&rows, &packed, &TransferLimits::with_loops(1))?;
//! let only = strided.iter().next().unwrap();
//! assert_eq!(only.loops, [Loop { count: 4, source_stride: 16, destination_stride: 12 }]);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod boxes;
mod fault;
mod givers;
mod list;
mod nest;
mod ranges;
mod reshard;
mod run;
mod shards;
mod transfer_limits;

pub use list::{Summary, Transfer, Transfers, transfers};
pub use nest::{Loop, NEST_LIMIT};
pub use reshard::{Pair, reshard};
pub use shards::{BOX_LIMIT, Sharded, Shards};
pub use transfer_limits::TransferLimits;

//! Kernels over vectors, each written once for vectors of any width.
//!
//! # Safety
//!
//! Every `unsafe fn` here that is generic over a [`Vector`] `V` has one condition that its own `# Safety`
//! list does not repeat: *the CPU has the features of `V`*. It holds inside [`Vector::vectorize`], whose
//! caller promises it, and in all calls from there, which keep the type `V`. Each function lists its other
//! conditions.
//!
//! Three constants have the same meaning everywhere: `LANES` is the number of 16-byte lanes of `V`, `UNIT` is
//! the length of a unit in bytes, and `IN_LANE` is the number of units in a lane.
//!
//! Every prefetch here may be given any address, because a prefetch of memory that is not mapped has no
//! effect.

mod block;
mod channels;
mod copy;
mod edge;
mod exchange_bits;
mod four_channels;
mod gather_blocks;
mod index_bits;
mod interleave;
mod lines;
mod offsets;
mod order;
mod plane;
mod prefetch;
mod run;
mod runs;
mod shuffles;
mod side_by_side;
#[cfg(feature = "software")]
pub(crate) mod software;
mod square;
mod transpose;
mod vector;
mod walk;

pub(super) use lines::short;
pub(super) use run::{Run, run};
pub(super) use vector::{Operation, Vector, origin_in_three};
pub(super) use walk::Walk;

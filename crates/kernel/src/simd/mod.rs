//! Kernels over vectors, written once for every width.
//!
//! # Safety
//!
//! Every `unsafe fn` here that is generic over a [`Vector`] `V` has one condition that its own `# Safety`
//! does not repeat: *the CPU has the features of `V`*. It is met by running inside [`Vector::vectorize`],
//! whose caller promises it, and all calls between these functions keep the same `V`. What else a function
//! needs, it lists.
//!
//! `LANES` is the number of 16-byte lanes of `V`, `UNIT` the bytes that stay together, `IN_LANE` how many
//! units a lane holds.

mod block;
mod byte_shuffle;
mod copy;
mod edge;
mod exchange_bits;
mod gather_blocks;
mod interleave;
mod leftover;
mod lines;
mod offsets;
mod order;
mod part;
mod plane;
mod prefetch;
mod reverse;
mod reverse_vector;
mod run;
mod run_panel;
mod runs;
mod shuffles;
mod side_by_side;
#[cfg(feature = "software")]
pub(crate) mod software;
mod transpose;
mod vector;
mod walk;

pub(super) use lines::short;
pub(super) use run::RunKernel;
pub(super) use vector::{Operation, Vector, origin_in_three};
pub(super) use walk::Walk;

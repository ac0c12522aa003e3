//! Walking a plan: the passes of a copy, the boxes of a program, the padding. Kernels do the rest.

mod bit_plane;
mod bit_rows;
mod call;
pub(super) mod elements;
pub(super) mod fill;
pub(super) mod once;
pub(super) mod passes;
pub(super) mod program;
mod subbyte;
mod width;

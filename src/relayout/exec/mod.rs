//! Running a plan: the passes of a copy, the boxes of a program, the padding. Kernels do the rest.

pub(super) mod elements;
pub(super) mod fill;
pub(super) mod once;
pub(super) mod passes;
pub(super) mod program;
mod steps;

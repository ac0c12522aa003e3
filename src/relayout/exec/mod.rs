//! Running a plan: the passes of a copy, the boxes of a program, and the padding. Kernels copy the elements.

pub(super) mod elements;
pub(super) mod fill;
pub(super) mod once;
pub(super) mod passes;
pub(super) mod program;
mod steps;

//! Planning: a pair of layouts becomes passes, a pass becomes a program of boxes, and a box becomes a copy of
//! bytes.
//!
//! ```text
//! program     the passes, and the boxes of one pass; how much it moves decides how it stores
//! planned     what a box becomes: plain loops, one copy, or steps through staging buffers
//! nest        a box as loops in bytes, and the operations on them
//! select      which loops go into one iteration, in which order the others run
//! resolve     an iteration: which code runs it
//! ```
//!
//! No code here touches a buffer. [`cost`] has the rules and the thresholds that are equal everywhere, and
//! [`machine`] has the numbers that depend on the machine. The result is a list of planned boxes, most of
//! which are one `strided_copy::Copy`. `exec` runs it.

pub(super) mod bits;
mod channels;
pub(super) mod clip;
pub(super) mod cost;
pub(super) mod fill;
pub(super) mod machine;
pub(super) mod nest;
mod panels;
mod permutation;
pub(super) mod planned;
pub(super) mod program;
mod resolve;
pub(super) mod select;
pub(super) mod widths;

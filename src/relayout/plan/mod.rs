//! What to do: a pair of layouts becomes passes, a pass a program of boxes, a box a loop nest around a
//! micro-kernel.
//!
//! Nothing here touches a buffer. [`cost`] holds the rules and every threshold, [`machine`] those that depend
//! on the machine; [`nest`] is the intermediate representation that `exec` walks and `kernel` runs.

pub(super) mod clip;
pub(super) mod cost;
pub(super) mod fill;
pub(super) mod machine;
pub(super) mod nest_loops;
pub(super) mod passes;
pub(super) mod plain;
pub(super) mod program;
pub(super) mod schedule;
pub(super) mod select;
mod sequence;
pub(super) mod subbyte;
pub(super) mod together;
pub(super) mod width;

#[cfg(test)]
mod tests;

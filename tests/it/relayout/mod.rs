//! Copies.

mod caches;
mod choices;
mod copy;
mod explain;
mod liars;
mod pieces;
pub(crate) mod plan_as_data;
mod plans;
mod properties;
mod reversed;
mod rows;
mod streamed;
mod swizzled;
mod threads;
mod widths;

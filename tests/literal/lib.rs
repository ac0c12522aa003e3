//! What tests do for every element of every case, in a crate that is optimised well: the literal meaning of
//! layouts and copies, and the allocator that counts.

#[path = "../counting/mod.rs"]
pub mod counting;
#[path = "mod.rs"]
mod literal;

pub use literal::*;

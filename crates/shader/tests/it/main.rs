//! What the crate does, seen from outside: a module a topic.

mod auto_traits;
mod counted;
mod index;
#[cfg(feature = "naga")]
mod languages;
mod limits;
mod planes;
mod programs;

use tensor_layout_literal as literal;

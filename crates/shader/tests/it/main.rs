//! What the crate does, seen from outside: a module a topic.

mod auto_traits;
mod counted;
mod index;
#[cfg(feature = "naga")]
mod languages;
mod limits;
mod planes;
mod programs;
#[path = "../../../../tests/public_types/mod.rs"]
mod public_types;

use tensor_layout_literal as literal;

//! What the crate does, seen from outside: a module a topic.

mod auto_traits;
mod counted;
mod index;
mod limits;
#[path = "../../../../tests/literal/mod.rs"]
mod literal;
mod page;
mod planes;
mod programs;
#[path = "../../../../tests/public_types/mod.rs"]
mod public_types;

//! What the crate does, seen from outside: a module a topic.

mod executed;
mod least;
mod lemmas;
mod limits;
mod literal;
mod shards;

//! What the crate does, seen from outside: a module a topic.

mod least;
mod literal;

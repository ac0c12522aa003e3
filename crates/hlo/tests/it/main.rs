//! What the crate does, seen from outside: a module a topic.

mod assigned;
mod auto_traits;
mod dumps;
mod in_place;
mod joined_lines;
mod memory;
mod memory_names;
mod memory_sharing;
mod memory_tpu;
mod out_of_memory;
#[path = "../../../../tests/public_types/mod.rs"]
mod public_types;

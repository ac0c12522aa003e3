//! Tests of the library from outside, a module for each topic.
#![allow(unsafe_code, reason = "an allocator that counts")]

mod api_contract;
mod auto_traits;
#[path = "../counting/mod.rs"]
mod counting;
mod descriptor;
mod dims;
mod directml;
mod draw;
mod error_sentences;
mod interop;
#[path = "../literal/mod.rs"]
mod literal;
mod map;
mod named;
mod notation;
#[path = "../public_types/mod.rs"]
mod public_types;
mod relayout;
mod tiled;
mod upload;

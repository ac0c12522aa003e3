//! Tests of the library from outside, a module for each topic.

mod api_contract;
mod auto_traits;
mod block_fields;
mod blocks;
mod descriptor;
mod digits;
mod directml;
mod draw;
mod element;
mod error_sentences;
mod frames;
mod interop;
mod kv;
mod layout;
mod lemmas;
mod map;
mod named;
mod notation;
mod read;
mod relayout;
mod streams;
mod tiled;
mod upload;

use tensor_layout_literal as literal;
use tensor_layout_literal::counting;

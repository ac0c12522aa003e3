#![doc = include_str!("../README.md")]
//!
//! | module | contents |
//! |---|---|
//! | the root | [`open`], [`File`], [`Tensor`]; [`Writer`]; the files underneath: [`Input`], [`NewFile`], [`Pieces`]
//! | | [`lay_out`] | a whole model in other layouts |
//! | [`recipe`] | the outputs that an engine reads, planned from a text |
//! | [`npy`] | the headers of .npy files |
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod error;
mod file;
mod gguf;
mod header;
mod index;
mod input;
pub mod lay_out;
mod new_file;
pub mod npy;
mod pieces;
pub mod recipe;
mod safetensors;
mod stored;
mod writer;

pub use error::{Error, is_unseen, printable, visible};
pub use file::{File, Part, Tensor, open, read};
pub use index::is_index;
pub use input::Input;
pub use new_file::{NewFile, WrittenFile, folder_of, replaces};
pub use pieces::{PIECE, PieceError, Pieces, Progress, zeroed};
pub use stored::Readers;
pub use writer::Writer;

//! The notations of the neighbours: oneDNN's tags.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

pub mod onednn;

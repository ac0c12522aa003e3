#![doc = include_str!("../README.md")]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

pub mod npy;

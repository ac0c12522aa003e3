//! This crate is empty. Its manifest names the engines.

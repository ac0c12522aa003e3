//! Copies.

mod copy;
mod explain;
mod plan_as_data;
mod properties;
mod reversed;
mod rows;
mod threads;
mod widths;

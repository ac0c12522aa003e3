//! tensor-layout for C and C++: `include/tensor_layout.h`, which cbindgen makes from this crate.
//!
//! Every function follows one pattern. It checks its pointers and lengths. It does its work inside
//! [`guarded`](error::guarded), which turns an error or a panic into a status. It writes its answer through a
//! pointer that was checked first:
//!
//! ```text
//! C caller -> pointers checked (input) -> tensor-layout -> status, TlError, answer
//!                                      \-> panic caught -> TL_STATUS_PANIC
//! ```
//!
//! A layout and a plan never change after they are made, so several threads may use them at the same time.
#![allow(unsafe_code, reason = "C passes pointers; every block says why it may follow them")]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(clippy::missing_safety_doc, reason = "the rules for all functions are at the head of the header")]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic would end the program of the caller: build with `--profile c`, which unwinds");

pub mod data_type;
pub mod error;
mod input;
pub mod layout;
pub mod plan;
pub mod validate;

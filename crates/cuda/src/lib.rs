//! Layout changes on NVIDIA GPUs. [`KernelCache`] compiles the kernels of [`tensor_layout_shader::Program`],
//! [`CudaRelayout`] runs them on the caller's stream, [`execute`] runs a list of transfers as copies of rows,
//! and [`upload`] and [`read_back`] copy tensors to the device and back.
//!
//! The context, the stream and the memory belong to the caller. Only [`read_back`] synchronises.
#![doc = include_str!("../README.md")]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod device;
mod error;
mod list;
mod memory;
mod relayout;
mod transfer;

pub use device::device;
pub use error::Error;
pub use list::execute;
pub use memory::{Memory, MemoryMut};
pub use relayout::{CudaRelayout, KernelCache};
pub use tensor_layout_shader::Sizes;
pub use transfer::{read_back, upload};

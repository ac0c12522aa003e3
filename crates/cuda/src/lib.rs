//! Layout changes on NVIDIA GPUs: [`KernelCache`] compiles the kernels of
//! [`tensor_layout_shader::Program`], [`CudaRelayout`] runs them on the engine's stream, and [`upload`] and
//! [`read_back`] bring tensors to the device and back.
//!
//! The context, the stream and the memory are the engine's. Nothing here synchronises but [`read_back`].
#![doc = include_str!("../README.md")]

mod device;
mod error;
mod relayout;
mod transfer;

pub use device::device;
pub use error::Error;
pub use relayout::{CudaRelayout, KernelCache};
pub use tensor_layout_shader::Sizes;
pub use transfer::{read_back, upload};

//! [`tensor-layout`](tensor_layout) on [wgpu]: creates buffers for layouts, uploads tensors in a layout,
//! changes layouts on the device, and reads tensors back in any layout.
//!
//! * [`required_limits`] and [`limits`]: the limits of an adapter, against which every tensor is checked.
//! * [`TensorBuffer`]: a buffer of the right size and usage, from a descriptor or any other layout.
//! * [`upload_arena`]: many tensors in as few buffers as they fit, filled.
//! * [`Upload`] and [`UploadBelt`]: uploads into existing buffers, in pieces.
//! * [`PipelineCache`] and [`DeviceRelayout`]: copies from one layout to another on the device, in the
//!   caller's encoder.
//! * [`Readback`]: reads a tensor back as bytes or as an array, asynchronously or blocking.
//!
//! The crate keeps no global state, starts no thread, submits nothing, and polls a device only in
//! [`Readback::wait`].

mod arena;
mod buffer;
mod error;
mod limits;
mod mapped;
mod readback;
mod relayout;
mod upload;

pub use arena::{Source, upload_arena};
pub use buffer::{BufferOptions, TensorBuffer};
pub use error::Error;
pub use limits::{check_limits, device_profile, limits, profile, required_limits, upload_limits};
pub use readback::{MappedTensor, Readback};
pub use relayout::{DeviceRelayout, PipelineCache};
pub use tensor_layout_shader::Sizes;
pub use upload::{Upload, UploadBelt};

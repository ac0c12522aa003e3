//! [`tensor-layout`](tensor_layout) on [wgpu]: a layout becomes a buffer on the device, an upload writes it
//! in that layout, and it comes back in any other.
//!
//! * [`required_limits`] and [`limits`]: what an adapter grants, as limits that every tensor is held against.
//! * [`TensorBuffer`]: a buffer of the right size and usage, from a descriptor or any other layout.
//! * [`Upload`] and [`UploadBelt`]: into buffers that exist, in pieces.
//! * [`PipelineCache`] and [`DeviceRelayout`]: from one layout to another on the device, in the caller's
//!   encoder.
//! * [`Readback`]: bytes or an array, awaited or waited for.
//!
//! The crate keeps no global state, starts no thread, submits nothing, and polls a device in
//! [`Readback::wait`] alone.

mod buffer;
mod error;
mod limits;
mod mapped;
mod readback;
mod relayout;
mod upload;

pub use buffer::{BufferOptions, TensorBuffer};
pub use error::Error;
pub use limits::{check_limits, device_profile, limits, profile, required_limits, upload_limits};
pub use readback::{MappedTensor, Readback};
pub use relayout::{DeviceRelayout, PipelineCache};
pub use tensor_layout_shader::Sizes;
pub use upload::{Upload, UploadBelt};

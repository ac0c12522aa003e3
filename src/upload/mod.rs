//! Checks that a buffer is large enough, aligned, within the limits of a device and safe to write, before the
//! GPU gets it.
//!
//! [`validate`] checks one tensor in one buffer and reports every problem at once. [`validate_bindings`] also
//! checks the tensors of one dispatch against each other. [`pack_buffer`] places many tensors in one buffer
//! so that both checks pass. [`pieces_along`] divides a tensor that is too large for one binding into tensors
//! that fit, and [`Windows`] divides any range of bytes into bindings. [`suggest`] finds the nearest layout
//! that a device accepts, and [`channel_conflict`] finds rows that share memory channels. [`Texture`] returns
//! the offsets of the rows of a texture in a buffer that is copied to it.
//!
//! ```
//! use tensor_layout::upload::{self, UploadBuffer, DeviceLimits, Role};
//! use tensor_layout::{BufferTensorDesc, DataType};
//!
//! // Three halves are 6 bytes, but a device wants 8.
//! let desc = BufferTensorDesc::packed(DataType::F16, &[3])?;
//! let buffer = UploadBuffer::new(256, 16, Role::Input);
//! let report = upload::validate(&desc, &buffer, &DeviceLimits::directml()).unwrap();
//! assert_eq!((report.exact_bytes, report.cpu_bytes, report.total_bytes), (6, 6, 8));
//! assert_eq!((report.padding, report.bound), (6..8, 16..24));
//!
//! let buffer = UploadBuffer::new(20, 6, Role::Input);
//! let errors = upload::validate(&desc, &buffer, &DeviceLimits::webgpu()).unwrap_err();
//! assert_eq!(errors.codes(), ["offset_unaligned"]);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod axis_pieces;
mod bindings;
mod channels;
mod copied_box;
mod feature_level;
mod limits;
mod limits_by_name;
mod multiples;
mod pack;
mod pieces;
mod report;
mod size_text;
mod strides;
mod suggest;
mod tensor;
mod tensor_limits;
mod texture;
mod validate;
mod warning;
mod windows;
mod write_units;

pub use axis_pieces::{BindingPiece, BindingPieces, pieces_along};
pub use bindings::{Binding, validate_bindings};
pub use channels::{ChannelConflict, channel_conflict};
pub use copied_box::validate_box;
pub use feature_level::FeatureLevel;
pub use limits::{BoxLimits, DeviceLimits, TypeLimits};
pub use pack::{PackedBuffer, pack_buffer};
pub use pieces::Pieces;
pub use report::{Errors, UploadReport};
#[cfg(feature = "plan")]
pub use size_text::read_size;
pub use suggest::{Suggestion, suggest};
pub use tensor_limits::{MetalUsage, Swizzle, Uniform};
pub use texture::{Subresource, Texture, TextureApi, TextureCopy, TexturePlane};
pub use validate::{Role, UploadBuffer, validate, validate_description};
pub use warning::Warning;
pub use windows::{Window, Windows, windows_of};

//! Checks that a buffer is large enough, aligned, within the limits of a device and safe to write, before the
//! GPU gets it.
//!
//! [`validate`] checks one tensor in one buffer and reports every problem at once. [`validate_bindings`] also
//! checks the tensors of one dispatch against each other. [`Arena`] places many tensors in as few buffers as
//! a device takes, cuts those that are too large for one binding, and makes every check. [`PackedBuffer`]
//! only chooses offsets in one buffer. [`split_binding`] divides a tensor that is too large for one binding
//! into tensors that fit. [`suggest`] finds the nearest layout that a device accepts.
//!
//! ```
//! use tensor_layout::upload::{self, UploadBuffer, DeviceLimits, Role, UploadReport};
//! use tensor_layout::{BufferTensorDesc, DataType};
//!
//! // Three halves are 6 bytes, but a device wants 8.
//! let desc = BufferTensorDesc::packed(DataType::F16, &[3])?;
//! let buffer = UploadBuffer::new(256, 16, Role::Input);
//! let report: UploadReport = upload::validate(&desc, &buffer, &DeviceLimits::directml()).unwrap();
//! assert_eq!((report.exact_bytes, report.cpu_bytes, report.total_bytes), (6, 6, 8));
//! assert_eq!((report.padding, report.bound), (6..8, 16..24));
//!
//! let buffer = UploadBuffer::new(20, 6, Role::Input);
//! let errors = upload::validate(&desc, &buffer, &DeviceLimits::webgpu()).unwrap_err();
//! assert_eq!(errors.codes(), ["offset_unaligned"]);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod arena;
mod bindings;
mod devices;
mod feature_level;
mod limits;
mod planes;
mod planes_of_tensors;
mod report;
mod scaled;
mod split;
mod strides;
mod suggest;
mod tensor;
mod tensor_map;
mod validate;
mod write_units;

pub use arena::{Arena, ArenaBinding, ArenaErrors, PackedBuffer};
pub use bindings::{Binding, validate_bindings};
pub use feature_level::FeatureLevel;
#[cfg(feature = "serde")]
pub(crate) use limits::limit_fields;
#[cfg(feature = "plan")]
pub use limits::read_size;
pub use limits::{DeviceLimits, TypeLimits};
pub use planes::{PlaneLimits, PlaneRole};
pub use report::{Errors, UploadReport, WideIndex};
pub use scaled::{ScaledPiece, ScaledTensor};
pub use split::{BindingPiece, split_binding};
pub use suggest::{Suggestion, suggest};
pub use tensor_map::{BoxReport, Im2col, Interleave, TensorMapBox};
pub use validate::{Role, UploadBuffer, validate, validate_description};

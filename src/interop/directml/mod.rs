//! DirectML: conversions to its structures and back, on any platform.
//! * [`DirectmlTensorDesc`] makes the `DML_TENSOR_DESC` of a descriptor in one step, checked for a feature
//!   level. It also fills a `DML_BUFFER_BINDING`.
//! * [`DirectmlTensor`] takes two steps, and lends the `DML_BUFFER_TENSOR_DESC`. For the `windows` crate the
//!   feature `windows` has a `From` both ways.
//! * [`DirectmlFields`] and [`RawBufferTensorDesc::to_desc`] convert the structures back, with every field
//!   checked.
//! * The JSON of DxDispatch's models is a notation of the crate `tensor-layout-text`.
//!
//! ```
//! use tensor_layout::interop::directml::{DirectmlTensor, DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER};
//! use tensor_layout::interop::Lent;
//! use tensor_layout::interop::directml::{RawBufferTensorDesc, RawTensorDesc};
//! use tensor_layout::upload::FeatureLevel;
//! use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
//!
//! let desc = BufferTensorDesc::nhwc(DataType::F16, [1, 3, 8, 8])?.with_flags(TensorFlags::OwnedByDirectml);
//! let tensor = DirectmlTensor::new(&desc, FeatureLevel::V5_0).unwrap();
//! assert_eq!((tensor.offset_in_bytes, tensor.total_size_in_bytes), (0, 384));
//!
//! // Both structures point into `tensor`, and cannot outlive it.
//! let lent: Lent<'_, RawBufferTensorDesc> = tensor.lend();
//! let raw: &RawBufferTensorDesc = &lent;
//! assert_eq!((raw.data_type, raw.flags), (2, DML_TENSOR_FLAG_OWNED_BY_DML));
//! let outer: Lent<'_, RawTensorDesc> = lent.tensor_desc();
//! let for_operators: &RawTensorDesc = &outer;
//! assert_eq!(for_operators.tensor_type, DML_TENSOR_TYPE_BUFFER);
//!
//! // SAFETY: the arrays belong to `tensor`.
//! assert_eq!(unsafe { raw.to_desc() }?, desc);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(unsafe_code, reason = "raw pointers of a C interface; each block says why it is sound")]

mod convert;
mod raw;
#[cfg(all(windows, feature = "windows"))]
mod windows;

pub use convert::{DirectmlFields, DirectmlTensor, DirectmlTensorDesc};
pub use raw::{
    DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER, RawBufferBinding, RawBufferTensorDesc, RawTensorDesc,
};

//! DirectML: its structures, both ways, on any platform.
//!
//! * [`DirectmlTensor`] checks a descriptor for a feature level and lends `DML_BUFFER_TENSOR_DESC` and
//!   `DML_TENSOR_DESC`; for the `windows` crate the feature `windows` has a `From` both ways.
//! * [`DirectmlFields`] and [`DmlBufferTensorDesc::to_desc`] read them back, checked.
//! * `JsonTensor` (feature `serde`) is the form of DxDispatch's models.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]
#![allow(unsafe_code, reason = "raw pointers of a C interface; each block says why it is sound")]

#[cfg(feature = "serde")]
mod json;
mod lend;
mod raw;
mod read;
#[cfg(all(windows, feature = "windows"))]
mod windows;

#[cfg(feature = "serde")]
pub use json::JsonTensor;
pub use lend::{DirectmlTensor, LentTensor, LentTensorDesc, buffer_binding};
pub use raw::{
    DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER, DmlBufferBinding, DmlBufferTensorDesc, DmlTensorDesc,
};
pub use read::DirectmlFields;

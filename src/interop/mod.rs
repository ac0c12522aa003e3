//! The rim: other libraries' types, a feature each. Nothing inside the crate uses it.

#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "pjrt")]
pub mod pjrt;

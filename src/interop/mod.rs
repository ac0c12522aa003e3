//! The rim: other libraries' types, a feature each. Nothing inside the crate uses it.

#[cfg(feature = "directml")]
pub mod directml;
#[cfg(feature = "dlpack")]
pub mod dlpack;
pub mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "pjrt")]
pub mod pjrt;

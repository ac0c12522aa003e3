//! The rim: other libraries' types, a feature each. Nothing inside the crate uses it.

#[cfg(feature = "directml")]
pub mod directml;
pub mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;

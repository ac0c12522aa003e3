//! The rim: other libraries' types, a feature each. Nothing inside the crate uses it.

#[cfg(feature = "directml")]
pub mod directml;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "mapped")]
pub mod mapped_file;
pub mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "pjrt")]
pub mod pjrt;

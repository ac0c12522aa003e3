//! Other libraries' types, a feature each. Nothing else in the crate uses this folder.

#[cfg(feature = "directml")]
pub mod directml;
#[cfg(feature = "dlpack")]
pub mod dlpack;
pub mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "pjrt")]
pub mod pjrt;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "serde")]
pub mod serde;

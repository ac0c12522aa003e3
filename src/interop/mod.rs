//! Conversions to and from the types of other libraries, with a feature for each.
//!
//! ```
//! # #[cfg(feature = "ndarray")] {
//! use tensor_layout::{interop::ndarray, BufferTensorDesc, DataType};
//!
//! // Rows of three, four apart, as an array of ndarray without a copy.
//! let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[4, 1]))?;
//! let buffer = [1.0_f32, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0];
//! assert_eq!(ndarray::view(&desc, &buffer)?[[1, 2]], 6.0);
//! # }
//! # Ok::<(), tensor_layout::Error>(())
//! ```

#[cfg(feature = "directml")]
pub mod directml;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(any(feature = "directml", feature = "dlpack", feature = "pjrt"))]
mod foreign;
pub mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "pjrt")]
pub mod pjrt;
#[cfg(feature = "serde")]
pub mod serde;

#[cfg(any(feature = "directml", feature = "dlpack", feature = "pjrt"))]
pub use foreign::Lent;

#![doc = include_str!("guide.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(
    not(feature = "plan"),
    allow(unreachable_pub, dead_code, unused_imports, reason = "what only these features use or offer")
)]

#[cfg(target_endian = "big")]
compile_error!(
    "tensor-layout has been tested on little-endian targets only, and its answers have to be right: see docs/TRUST.md"
);

extern crate alloc;

mod error;
mod exact;
mod typed_sizes;

pub mod bridge;
#[cfg(not(feature = "plan"))]
mod checked;
#[cfg(feature = "plan")]
#[doc(hidden)] // For the crates of this repository: it may change with any version.
pub mod checked;
#[cfg(not(feature = "plan"))]
mod cursor;
#[cfg(feature = "plan")]
#[doc(hidden)] // For the crates of this repository: it may change with any version.
pub mod cursor;
pub mod element;
pub mod interop;
pub mod map;
#[cfg(feature = "plan")]
pub mod plan;
#[cfg(feature = "relayout")]
pub mod relayout;
#[cfg(not(feature = "plan"))]
mod short_sort;
#[cfg(feature = "plan")]
#[doc(hidden)] // For the crates of this repository: it may change with any version.
pub mod short_sort;
pub mod strided;
pub mod tiled;
pub mod upload;
#[cfg(feature = "plan")]
#[doc(hidden)] // For the crates of this repository: it may change with any version.
pub mod words;

#[doc(inline)]
pub use bridge::{AnyLayout, lower};
#[doc(inline)]
pub use element::DataType;
pub use error::{Error, ErrorKind};
#[doc(inline)]
pub use map::{IndexMap, LayoutClass, ToIndexMap};
#[cfg(feature = "relayout")]
#[doc(inline)]
pub use relayout::Relayout;
#[doc(inline)]
pub use strided::{AxisOrder, BufferTensorDesc, Facts, TensorFlags, calc_buffer_tensor_size};
#[doc(inline)]
pub use tiled::{ArrayShape, Shape};
#[doc(inline)]
pub use upload::{DeviceLimits, Role, UploadBuffer, validate};

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

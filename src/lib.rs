//! Where every element of a tensor lies in its buffer.
mod checked;
mod cursor;
mod error;

pub mod element;
pub mod hlo;
pub mod notation;
pub mod strided;
pub mod tiled;

pub use element::DataType;
pub use error::Error;
pub use strided::{AxisOrder, BufferTensorDesc, Facts, TensorFlags, calc_buffer_tensor_size};
pub use tiled::{ArrayShape, Shape};

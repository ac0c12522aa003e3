//! Other libraries' types.

mod c;
mod ndarray;
mod safetensors;
mod serde;

//! Types of other libraries.

mod c;
mod ndarray;
mod serde;

//! Index maths of a layout as shader code: to offsets, back to indices, and along an axis.

mod inverse;
mod levels;
mod offset;
mod range;
mod walk;

pub(crate) use inverse::index_at;
pub(crate) use offset::offset_of;
pub(crate) use range::{check_range, number};
pub(crate) use walk::{Walk, parameters};

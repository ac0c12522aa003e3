//! Index maths of a layout as shader code: index to offset, offset to index, and walks along an axis.

mod functions;
mod inverse;
mod levels;
mod offset;
mod range;
mod swizzle;
mod walk;

pub(crate) use functions::{index_function, offset_function};
pub(crate) use range::{check_range, number, refuse_streams};
pub(crate) use swizzle::{swizzled, unswizzled};
pub(crate) use walk::Walk;

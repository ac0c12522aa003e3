//! `Storage`: properties of a buffer that few maps state: an alignment, zeros in the padding, and an order of
//! the axes.

use alloc::boxed::Box;

/// Properties of a buffer that few maps state. A map without them has an alignment of 1, any bytes in its
/// padding, and row-major order.
#[derive(Debug, Clone)]
pub(super) struct Storage {
    pub(super) alignment: u64,
    pub(super) has_zero_padding: bool,
    /// Empty for row-major order.
    pub(super) minor_to_major: Box<[usize]>,
}

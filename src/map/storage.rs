//! What few maps say of their buffers: an alignment, zeros in the padding, and an order of the axes.

use alloc::boxed::Box;

/// What few maps have. `None` in place of it says: any alignment, any bytes in the padding, row-major order.
#[derive(Debug, Clone)]
pub(super) struct Storage {
    pub(super) alignment: u64,
    pub(super) has_zero_padding: bool,
    /// Empty for row-major order.
    pub(super) minor_to_major: Box<[usize]>,
}

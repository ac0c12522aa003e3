//! `Owns`: which bytes of its buffer belong to a tensor.
//!
//! Sizes and strides do not tell a tensor with padded rows from a slice of a larger tensor: the bytes between
//! the elements are padding here and elements of others there. So a descriptor remembers what it owns, and a
//! slice finds it out. Take two rows of a tensor whose rows are padded, and two columns of it:
//!
//! ```text
//! the tensor: f16[4,3]:[5,1]        rows 1..3                  columns 1..3
//! e elements, . gaps                the gap between the        between its elements are
//!                                   rows is a gap of the       the elements of column 0
//! e e e . .                         tensor: owned
//! e e e . .                         [e e e . .                    e[e e . .
//! e e e . .                          e e e].                      e e e . .
//! e e e                                                           e e e . .
//!                                                                 e e e]
//! Owns::Buffer                      Owns::Gaps                 Owns::Elements
//! ```
//!
//! The rule is exact where the strides nest, as they do in every tensor that a slice of a packed or padded
//! tensor is made of: each stride is above the reach of all smaller strides together. Sort the axes by
//! stride, the largest first. The elements of a slice are then neighbours among those of the tensor exactly
//! if some axes keep one index, one axis keeps a range of neighbouring indices, and all smaller axes are
//! whole. Other slices of a tensor own their elements alone.

/// What a tensor owns of its buffer, and so may overwrite when it is written.
///
/// It matters where a tensor is written. [`Relayout::with_padding`](crate::relayout::Relayout::with_padding)
/// fills gaps that are owned, and [`validate`](crate::upload::validate) refuses an output whose gaps are not
/// its own on a device that may overwrite them.
///
/// ```
/// use tensor_layout::{strided::Owns, BufferTensorDesc, DataType};
///
/// let cache = BufferTensorDesc::padded_rows(DataType::F16, &[2, 64, 100], 256)?;
/// assert_eq!(cache.owns(), Owns::Buffer);
/// // A layer, and rows of it: what is between their rows is padding of the cache.
/// assert_eq!(cache.select(0, 1)?.owns(), Owns::Gaps);
/// assert_eq!(cache.select(0, 1)?.slice_axis(0, 8..16)?.owns(), Owns::Gaps);
/// // Some columns: the other columns are between them.
/// assert_eq!(cache.slice_axis(2, 0..50)?.owns(), Owns::Elements);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owns {
    /// The elements alone. The bytes between them may belong to other tensors.
    Elements,
    /// The bytes from the first element to the last, rounded up to 4 bytes as DirectML binds them. What is
    /// before and after belongs to other tensors.
    Gaps,
    /// The whole buffer.
    Buffer,
}

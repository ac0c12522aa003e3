//! `TensorFlags`: the owner of the buffer of a tensor.

/// The owner of the buffer of a tensor (`DML_TENSOR_FLAGS`).
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
///
/// let weights = BufferTensorDesc::packed(DataType::F32, &[64])?.with_flags(TensorFlags::OwnedByDirectml);
/// assert_eq!(weights.flags(), TensorFlags::OwnedByDirectml);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TensorFlags {
    /// The caller binds the buffer for every execution.
    #[default]
    None,
    /// DirectML copies the tensor when the operator is initialized (`OWNED_BY_DML`). Only inputs may have
    /// this flag.
    OwnedByDirectml,
}

//! `ErrorKind`: the few kinds of errors that a caller treats differently.

use super::Error;

/// The kind of an error, for callers that do not match every variant. New variants of [`Error`] fall into
/// these kinds.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, ErrorKind};
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1]))?;
/// // A padded tensor has no flat view: copy it.
/// assert_eq!(desc.reshape(&[24]).unwrap_err().kind(), ErrorKind::NotExpressible);
/// assert_eq!(desc.reshape(&[25]).unwrap_err().kind(), ErrorKind::InvalidArgument);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text does not follow its grammar, or names something that does not exist.
    Parse,
    /// Arguments contradict each other, or break a rule that holds on every device. The caller made a
    /// mistake.
    InvalidArgument,
    /// An axis, an index, an offset or another number is outside its range. The caller made a mistake.
    OutOfRange,
    /// A size or an offset does not fit its integer type.
    Overflow,
    /// An operation does not handle this data type or this element width.
    Unsupported,
    /// The question makes sense, but there is no such view, description or copy. The caller has to move the
    /// data instead.
    NotExpressible,
    /// A search was stopped at its work limit.
    Undecided,
    /// A buffer is too short for its layout.
    Buffer,
    /// Elements that are written share memory with other elements.
    Overlap,
    /// A device does not accept the tensor, the buffer or the binding.
    DeviceLimit,
    /// A model file, or the index of a sharded model, is damaged or contradicts itself.
    Model,
}

impl Error {
    /// The kind of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Parse { .. } | Error::UnknownName { .. } => ErrorKind::Parse,
            Error::InvalidArgument { rule, .. } => rule.kind(),
            Error::DataTypeMismatch { .. } | Error::FillTooWide { .. } => ErrorKind::InvalidArgument,
            Error::OutOfLimits { .. } => ErrorKind::OutOfRange,
            Error::Overflow { .. } => ErrorKind::Overflow,
            Error::UnsupportedDataType { .. } => ErrorKind::Unsupported,
            Error::NotExpressible { .. } | Error::NotAView { .. } => ErrorKind::NotExpressible,
            Error::Undecided { .. } => ErrorKind::Undecided,
            Error::BufferTooShort { .. } => ErrorKind::Buffer,
            Error::OverlappingDestination { .. } | Error::BindingConflict { .. } => ErrorKind::Overlap,
            Error::DeviceLimit { .. } => ErrorKind::DeviceLimit,
            Error::Model(_) => ErrorKind::Model,
        }
    }
}

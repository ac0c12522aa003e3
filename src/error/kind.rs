//! `ErrorKind`: the few things a caller does about an error.

use super::Error;

/// What sort of error it is, for callers that do not match every variant: new variants fall into the same few
/// kinds.
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
    /// Text that does not follow its grammar, or names something that does not exist.
    Parse,
    /// Arguments that contradict each other or a rule that holds everywhere: a mistake of the caller.
    InvalidArgument,
    /// An axis, an index, an offset or another number outside its range: a mistake of the caller.
    OutOfRange,
    /// A size or an offset that does not fit its integer type.
    Overflow,
    /// A data type or a width that cannot be handled here.
    Unsupported,
    /// A sensible question with the answer no: there is no such view, description or copy. Move the data
    /// instead.
    NotExpressible,
    /// A search that was stopped at its work limit.
    Undecided,
    /// A buffer that is too short for its layout.
    Buffer,
    /// Elements that are written share memory with others.
    Overlap,
    /// Something a device does not accept.
    DeviceLimit,
    /// A model file, or the index of a sharded one, that is damaged or contradicts itself.
    Model,
}

impl Error {
    /// What sort of error it is.
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

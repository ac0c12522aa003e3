//! The error type, which names the limit, the usage or the tensor that was refused.

use std::fmt;

use tensor_layout::upload;

/// The reason why an operation is not possible on this device.
///
/// `Display` writes a whole sentence (or one for each problem of a tensor). [`Error::code`] is a stable code
/// for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A layout, a pair of layouts or a slice of bytes was refused. The inner error of `tensor-layout` says
    /// why.
    Layout(tensor_layout::Error),
    /// All rules of this device that a tensor breaks.
    Tensor(upload::Errors),
    /// A limit of the adapter, or of the device that was requested from it, is smaller than needed.
    Limit {
        /// The name of the limit: a field of [`wgpu::Limits`].
        name: &'static str,
        /// The least value that would be enough.
        needed: u64,
        /// The value that the adapter or the device grants.
        granted: u64,
    },
    /// A buffer lacks a usage that the operation needs.
    Usage {
        /// The buffer, as a noun phrase for the message.
        what: &'static str,
        /// The missing usages.
        missing: wgpu::BufferUsages,
    },
    /// A tensor does not have the layout that the copy was planned for.
    OtherLayout {
        /// The name of the tensor in the message.
        what: &'static str,
    },
    /// The source and the destination of a copy are in the same buffer, which one dispatch cannot bind for
    /// reading and for writing.
    OneBuffer,
    /// The device could not map a buffer, or is lost.
    Map {
        /// The message of wgpu.
        message: String,
    },
}

impl Error {
    /// The stable code of the error. An error of `tensor-layout` keeps its own code. A tensor with several
    /// problems has the code of the first problem.
    ///
    /// ```
    /// use tensor_layout_wgpu::Error;
    ///
    /// let error = Error::Limit { name: "max_buffer_size", needed: 300 << 20, granted: 256 << 20 };
    /// assert_eq!(error.code(), "device_limit");
    /// assert_eq!(error.to_string(), "the device grants a max_buffer_size of 268435456, but 314572800 is needed");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Layout(error) => error.code(),
            Error::Tensor(errors) => errors.codes().first().copied().unwrap_or("refused"),
            Error::Limit { .. } => "device_limit",
            Error::Usage { .. } => "buffer_usage",
            Error::OtherLayout { .. } => "other_layout",
            Error::OneBuffer => "one_buffer",
            Error::Map { .. } => "map",
        }
    }

    /// The names of the fields of [`wgpu::Limits`] that are too small. Look for an adapter with larger
    /// limits, or request larger limits from this adapter.
    #[must_use]
    pub fn limits(&self) -> Vec<&'static str> {
        match self {
            Error::Layout(error) => limit_of(error).into_iter().collect(),
            Error::Tensor(errors) => errors.iter().filter_map(limit_of).collect(),
            Error::Limit { name, .. } => vec![name],
            _ => Vec::new(),
        }
    }
}

/// Returns the field of [`wgpu::Limits`] from which the broken rule of `tensor-layout` was made.
fn limit_of(error: &tensor_layout::Error) -> Option<&'static str> {
    match error.code() {
        "binding_limit" => Some("max_storage_buffer_binding_size"),
        "buffer_limit" => Some("max_buffer_size"),
        "offset_unaligned" => Some("min_storage_buffer_offset_alignment"),
        _ => None,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Layout(error) => sentence(error, f),
            Error::Tensor(errors) => {
                for (position, error) in errors.iter().enumerate() {
                    if position > 0 {
                        f.write_str("\n")?;
                    }
                    sentence(error, f)?;
                }
                Ok(())
            }
            Error::Limit { name, needed, granted } => {
                write!(f, "the device grants a {name} of {granted}, but {needed} is needed")
            }
            Error::Usage { what, missing } => write!(f, "{what} was made without the usage {missing:?}"),
            Error::OtherLayout { what } => write!(f, "{what} is not laid out as the copy was planned for"),
            Error::OneBuffer => f.write_str(
                "the source and the destination are in one buffer, and WebGPU does not let a dispatch read and write one buffer \
                 through two bindings",
            ),
            Error::Map { message } => write!(f, "the buffer could not be mapped: {message}"),
        }
    }
}

/// Writes the error as a sentence, followed by the limit of wgpu from which the rule was made.
fn sentence(error: &tensor_layout::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    match limit_of(error) {
        Some(name) => write!(f, " (the device's {name})"),
        None => Ok(()),
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Layout(error) => Some(error),
            Error::Tensor(errors) => Some(errors),
            _ => None,
        }
    }
}

impl From<tensor_layout::Error> for Error {
    fn from(error: tensor_layout::Error) -> Error {
        Error::Layout(error)
    }
}

impl From<upload::Errors> for Error {
    fn from(errors: upload::Errors) -> Error {
        Error::Tensor(errors)
    }
}

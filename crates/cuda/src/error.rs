//! The error type, which describes what was refused in a sentence.

use std::fmt;

use cudarc::driver::DriverError;
use cudarc::nvrtc::CompileError;

/// The reason why an operation is not possible on the device.
///
/// `Display` writes a whole sentence. [`Error::code`] is a stable code for programs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// A layout, a pair of layouts or a slice of bytes was refused. The inner error of `tensor-layout` says
    /// why.
    Layout(tensor_layout::Error),
    /// A call of the CUDA driver failed.
    Driver(DriverError),
    /// NVRTC did not compile a kernel.
    Compile(CompileError),
    /// Device memory is too short for a tensor.
    TooShort {
        /// The name of the tensor in the message.
        what: &'static str,
        /// The length of the device memory, in bytes.
        bytes: u64,
        /// The length that is needed, in bytes: a multiple of 4.
        needed: u64,
    },
    /// The address of device memory is not a multiple of 4 bytes.
    Unaligned {
        /// The name of the tensor in the message.
        what: &'static str,
        /// The address that was given.
        address: u64,
    },
}

impl Error {
    /// The stable code of the error. An error of `tensor-layout` keeps its own code.
    ///
    /// ```
    /// use tensor_layout_cuda::Error;
    ///
    /// let error = Error::TooShort { what: "the source", bytes: 8, needed: 12 };
    /// assert_eq!(error.code(), "too_short");
    /// assert_eq!(error.to_string(), "the source has 8 bytes of device memory, but 12 are needed");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Layout(error) => error.code(),
            Error::Driver(_) => "driver",
            Error::Compile(_) => "compile",
            Error::TooShort { .. } => "too_short",
            Error::Unaligned { .. } => "offset_unaligned",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Layout(error) => error.fmt(f),
            Error::Driver(error) => write!(f, "the CUDA driver refuses: {error}"),
            Error::Compile(error) => write!(f, "NVRTC does not compile a kernel: {error}"),
            Error::TooShort { what, bytes, needed } => {
                write!(f, "{what} has {bytes} bytes of device memory, but {needed} are needed")
            }
            Error::Unaligned { what, address } => {
                write!(f, "{what} begins at the address {address:#x}, which is not a multiple of 4")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Layout(error) => Some(error),
            Error::Driver(error) => Some(error),
            Error::Compile(error) => Some(error),
            _ => None,
        }
    }
}

impl From<tensor_layout::Error> for Error {
    fn from(error: tensor_layout::Error) -> Error {
        Error::Layout(error)
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Error {
        Error::Driver(error)
    }
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        Error::Compile(error)
    }
}

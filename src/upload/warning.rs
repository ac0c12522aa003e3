//! `Warning`: facts that a check accepts but its caller should know.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::strided::IndexWidth;

/// A fact that a device accepts but that a caller should know: see
/// [`UploadReport::warnings`](super::UploadReport::warnings).
///
/// `Display` writes the warning as a sentence.
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Role, Warning};
/// use tensor_layout::BufferTensorDesc;
///
/// // Rows of 3, 4 apart: padding of its own, or the columns of someone else?
/// let rows: BufferTensorDesc = "f32[2,3]:[4,1]".parse()?;
/// let report = validate(&rows, &UploadBuffer::new(28, 0, Role::Output), &DeviceLimits::directml())?;
/// let [warning @ Warning::GapsOverwritten { bits: 32 }] = &report.warnings[..] else { panic!() };
/// assert_eq!(warning.code(), "gaps_may_be_overwritten");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The device may overwrite the bits between the elements of an output that has its buffer to itself.
    GapsOverwritten {
        /// The number of bits between the elements.
        bits: u128,
    },
    /// A kernel that computes offsets in bytes needs a wider integer type than a kernel that computes them in
    /// elements.
    WideByteOffsets {
        /// The type for offsets in elements.
        elements: IndexWidth,
        /// The type for offsets in bytes.
        bytes: IndexWidth,
    },
}

impl Warning {
    /// A stable code for the kind of warning.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Warning::GapsOverwritten { .. } => "gaps_may_be_overwritten",
            Warning::WideByteOffsets { .. } => "wide_byte_offsets",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::GapsOverwritten { bits } => write!(
                f,
                "the device may overwrite the {} between the elements of this output: if they are not its own padding, say so, with \
                 `as_part` or a base offset",
                in_bytes(*bits)
            ),
            Warning::WideByteOffsets { elements, bytes } => write!(
                f,
                "offsets fit {elements} in elements and need {bytes} in bytes: a kernel that multiplies by the size of an element first \
                 overflows"
            ),
        }
    }
}

/// Formats a number of bits, in bytes if it is a multiple of 8.
pub(super) fn in_bytes(bits: u128) -> String {
    if bits.is_multiple_of(8) { format!("{} bytes", bits.div_euclid(8)) } else { format!("{bits} bits") }
}

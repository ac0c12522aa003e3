//! The bytes that a copy writes, in memory of any kind.

use std::fmt;
use std::mem::MaybeUninit;

/// The bytes of a destination. They are a slice, initialised or not, or memory that may only be written, such
/// as a mapped GPU buffer ([`from_ptr`](Self::from_ptr)).
///
/// Functions take `impl Into<DestinationBytes>`, so a `&mut [u8]`, a `&mut Vec<u8>`, a `&mut [u8; N]` and a
/// `&mut [MaybeUninit<u8>]` can be passed directly.
///
/// ```
/// use tensor_layout::relayout::DestinationBytes;
///
/// let mut bytes = [0; 6];
/// let destination = DestinationBytes::from(&mut bytes);
/// assert!(destination.len() == 6 && !destination.is_empty());
/// ```
pub struct DestinationBytes<'a>(pub(crate) strided_copy::WriteOnly<'a>);

impl DestinationBytes<'_> {
    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> From<&'a mut [u8]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a> From<&'a mut Vec<u8>> for DestinationBytes<'a> {
    fn from(bytes: &'a mut Vec<u8>) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [u8; N]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl fmt::Debug for DestinationBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DestinationBytes").field("len", &self.len()).finish()
    }
}

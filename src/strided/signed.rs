//! Descriptors of tensors with axes that run backwards in memory.

use alloc::vec::Vec;

use crate::checked::{self, Dims, OFFSET};
use crate::element::DataType;
use crate::error::Error;

use super::desc::BufferTensorDesc;
use super::numbers::{Integer, sizes_of};

/// A tensor with negative strides: a descriptor of its elements from the lowest address on, and the axes
/// that run backwards.
///
/// A [`BufferTensorDesc`] has no direction. [`Settings::reversed`](crate::relayout::Settings::reversed)
/// takes the reversed axes as another argument, and copies in the order of the indices.
///
/// ```
/// use tensor_layout::{relayout::{Relayout, Settings}, strided::SignedDesc, BufferTensorDesc, DataType};
///
/// // Two rows of three, the last one first: index [0,0] is stored three elements after the lowest address.
/// let rows: SignedDesc = BufferTensorDesc::from_signed(DataType::U8, &[2_usize, 3], &[-3_isize, 1])?;
/// assert_eq!((rows.desc.to_string(), rows.first), ("u8[2,3]:[3,1]".into(), 3));
/// assert_eq!(rows.reversed, [0]);
///
/// let mut turned = [0; 6];
/// let settings = Settings { reversed: rows.reversed, ..Settings::default() };
/// Relayout::with_settings(&rows.desc, &BufferTensorDesc::packed(DataType::U8, &[2, 3])?, &settings)?.run(b"abcdef", &mut turned)?;
/// assert_eq!(&turned, b"defabc");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedDesc {
    /// The elements from the lowest address on. The strides have no signs.
    pub desc: BufferTensorDesc,
    /// The axes longer than 1 whose stride is negative, in ascending order. Empty for a tensor
    /// without elements.
    pub reversed: Vec<usize>,
    /// The offset of index 0 of all axes, in elements from the start of the buffer of [`desc`](Self::desc).
    pub first: u64,
}

impl BufferTensorDesc {
    /// Converts sizes and strides of any integer types, where strides may be negative. Returns the descriptor
    /// from the lowest address on, and the axes that run backwards. The stride of an axis without a second
    /// index may be any number, and becomes 0 if it does not fit a `u64`.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); `negative` is for sizes alone.
    pub fn from_signed<S: Integer, T: Integer>(
        data_type: DataType,
        sizes: &[S],
        strides: &[T],
    ) -> Result<SignedDesc, Error> {
        const STRIDES: &str = "one of the strides";
        if strides.len() != sizes.len() {
            return Err(Error::rank_mismatch("strides", sizes.len(), strides.len()));
        }
        let sizes = sizes_of(sizes)?;
        let (mut distances, mut reversed, empty) = (Dims::new(), Vec::new(), sizes.contains(&0));
        for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
            let stride: Result<i128, _> = stride.try_into();
            if size <= 1 || empty {
                distances.push(stride.ok().and_then(|stride| u64::try_from(stride).ok()).unwrap_or(0));
                continue;
            }
            let stride = stride.map_err(|_| Error::overflow(STRIDES, 64))?;
            if stride < 0 {
                reversed.push(axis);
            }
            distances.push(checked::narrow(stride.unsigned_abs(), STRIDES)?);
        }
        let desc = Self::new(data_type, &sizes, Some(&distances))?;
        let mut first = 0;
        for &axis in &reversed {
            let last = sizes.get(axis).copied().unwrap_or(1).saturating_sub(1);
            let stride = distances.get(axis).copied().unwrap_or(0);
            first = checked::add(first, checked::mul(last, stride, OFFSET)?, OFFSET)?;
        }
        Ok(SignedDesc { desc, reversed, first })
    }
}

impl SignedDesc {
    #[cfg(any(feature = "relayout", feature = "dlpack"))]
    /// Moves the elements to a buffer in which index 0 is `first` elements after a pointer. The buffer begins
    /// at this pointer, or at the lowest address if that is before the pointer.
    pub(crate) fn with_first(self, first: u64) -> Result<SignedDesc, Error> {
        let desc = self.desc.beginning_at(first.saturating_sub(self.first))?;
        Ok(SignedDesc { desc, first: self.first.max(first), ..self })
    }

    #[cfg(any(feature = "dlpack", feature = "ndarray", feature = "pjrt"))]
    pub(crate) fn forwards(self) -> Result<BufferTensorDesc, Error> {
        match self.reversed.first() {
            Some(&axis) => Err(Error::negative("strides", axis)),
            None => Ok(self.desc),
        }
    }
}

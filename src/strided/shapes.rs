//! Descriptors for memory orders, and for rows with an aligned pitch.

use alloc::format;

use crate::checked::{self, BYTES, Dims, ELEMENTS};
use crate::element::DataType;
use crate::error::{Error, counted};

use super::axes::{AxisOrder, packed_strides};
use super::desc::BufferTensorDesc;
use super::numbers::{Integer, sizes_of};

impl BufferTensorDesc {
    /// Returns a packed tensor in the memory order `order`. The `sizes` are in the logical order
    /// of its letters.
    ///
    /// **Post-condition** (`with_order_is_packed_in_that_order`): the axes in memory order, the slowest
    /// first, count the offsets 0, 1, 2, and so on.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there is not one size for each letter, and the errors of [`new`](Self::new).
    pub fn with_order<T: Integer>(data_type: DataType, sizes: &[T], order: AxisOrder) -> Result<Self, Error> {
        let sizes = sizes_of(sizes)?;
        checked::product(&sizes, ELEMENTS)?;
        let strides = order.strides(&sizes)?;
        let explicit = order.axes().enumerate().any(|(position, axis)| position != axis);
        Self::of_strides(data_type, sizes, strides, explicit)
    }

    /// Returns a packed tensor in the order NCHW.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn nchw<T: Integer>(data_type: DataType, sizes: [T; 4]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NCHW)
    }

    /// Returns a packed tensor in the order NHWC. The `sizes` are still N, C, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn nhwc<T: Integer>(data_type: DataType, sizes: [T; 4]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NHWC)
    }

    /// Returns a packed tensor in the order NCDHW. The `sizes` are N, C, D, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn ncdhw<T: Integer>(data_type: DataType, sizes: [T; 5]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NCDHW)
    }

    /// Returns a packed tensor in the order NDHWC. The `sizes` are still N, C, D, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn ndhwc<T: Integer>(data_type: DataType, sizes: [T; 5]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NDHWC)
    }

    /// Returns a row-major tensor in which every row (last axis) begins at a multiple of `alignment` bytes.
    /// Copies between buffers and textures require such rows: 256 bytes for Direct3D 12
    /// (`TEXTURE_DATA_PITCH_ALIGNMENT`) and WebGPU (`bytesPerRow`).
    ///
    /// **Post-condition** (`padded_rows_begin_aligned`): every row is contiguous and begins at the first
    /// multiple of `alignment` bytes after the row before it.
    ///
    /// # Errors
    ///
    /// `not_expressible` if `alignment` is 0 or does not hold whole elements, and the errors of
    /// [`new`](Self::new).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let image = BufferTensorDesc::padded_rows(DataType::F16, &[3, 480, 100], 256)?;
    /// assert_eq!(image.strides(), [61_440, 128, 1]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn padded_rows<T: Integer>(data_type: DataType, sizes: &[T], alignment: u64) -> Result<Self, Error> {
        let sizes = sizes_of(sizes)?;
        let mut rows = sizes.clone();
        if let Some(last) = rows.last_mut() {
            *last = aligned(data_type, *last, alignment)?;
        }
        let strides = packed_strides(&rows, (0..rows.len()).rev())?;
        Self::of_strides(data_type, sizes, strides, true)
    }

    /// Returns a tensor in the order NHWC in which every row of pixels begins at a multiple of `alignment`
    /// bytes, as a texture with interleaved channels is copied. The `sizes` are still N, C, H, W.
    ///
    /// **Post-condition** (`nhwc_padded_rows_begin_aligned`): the pixels of a row are packed, and rows are a
    /// multiple of `alignment` bytes apart.
    ///
    /// # Errors
    ///
    /// The errors of [`padded_rows`](Self::padded_rows).
    pub fn nhwc_padded_rows<T: Integer>(data_type: DataType, sizes: [T; 4], alignment: u64) -> Result<Self, Error> {
        let sizes = sizes_of(&sizes)?;
        let &[_, channels, height, width] = sizes.as_slice() else {
            return Err(Error::rank_mismatch("sizes", 4, sizes.len()));
        };
        let row = checked::mul(width.max(1), channels.max(1), ELEMENTS)?;
        let pitch = aligned(data_type, row, alignment)?;
        let image = checked::mul(pitch, height.max(1), ELEMENTS)?;
        let strides = Dims::from_slice(&[image, 1, pitch, channels.max(1)]);
        Self::of_strides(data_type, sizes, strides, true)
    }
}

/// Rounds a row, in elements, up to a multiple of `alignment` bytes.
fn aligned(data_type: DataType, row: u64, alignment: u64) -> Result<u64, Error> {
    let (bits, in_bits) = (u64::from(data_type.bits()), checked::mul(alignment, 8, BYTES)?);
    match (in_bits.checked_div(bits), in_bits.checked_rem(bits)) {
        (Some(unit @ 1..), Some(0)) => checked::round_up(row, unit, ELEMENTS),
        _ => {
            let reason =
                format!("{} cannot hold whole elements of {}", counted(alignment, "byte"), counted(bits, "bit"));
            Err(Error::not_expressible("padding of rows", reason))
        }
    }
}

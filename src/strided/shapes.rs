//! Descriptors for memory orders, and for rows with an aligned pitch.

use alloc::format;

use crate::checked::{self, BYTES, Dims, ELEMENTS};
use crate::element::DataType;
use crate::error::Error;

use super::axes::{AxisOrder, packed_strides};
use super::desc::BufferTensorDesc;
use super::naturals::naturals;

impl BufferTensorDesc {
    /// Returns a packed tensor in the memory order `order`. The `sizes` are in the logical order
    /// of its letters.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there is not one size for each letter, and the errors of
    /// [`new`](Self::new).
    ///
    /// ```
    /// use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};
    ///
    /// let weights = BufferTensorDesc::with_order(DataType::F16, &[64, 3, 7, 7], "HWIO".parse()?)?;
    /// assert_eq!(weights.strides(), [1, 64, 1344, 192]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_order<T: Copy + TryInto<i128>>(
        data_type: DataType,
        sizes: &[T],
        order: AxisOrder,
    ) -> Result<Self, Error> {
        Self::in_order(data_type, &naturals("sizes", "one of the sizes", sizes)?, order)
    }

    fn in_order(data_type: DataType, sizes: &[u64], order: AxisOrder) -> Result<Self, Error> {
        checked::product(sizes, ELEMENTS)?;
        let strides = order.strides(sizes)?;
        let explicit = order.axes().enumerate().any(|(position, axis)| position != axis);
        Self::build(data_type, sizes, &strides, explicit)
    }

    /// Returns a packed tensor in the order NCHW. The `sizes` are N, C, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let [nchw, nhwc] = [BufferTensorDesc::nchw, BufferTensorDesc::nhwc].map(|make| make(DataType::F32, [1, 3, 4, 4]));
    /// assert_eq!((nchw?.strides(), nhwc?.strides()), (&[48, 16, 4, 1][..], &[48, 1, 12, 3][..]));
    /// let [ncdhw, ndhwc] = [BufferTensorDesc::ncdhw, BufferTensorDesc::ndhwc].map(|make| make(DataType::F32, [1, 3, 2, 4, 4]));
    /// assert_eq!((ncdhw?.strides()[1], ndhwc?.strides()[1]), (32, 1));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn nchw<T: Copy + TryInto<i128>>(data_type: DataType, sizes: [T; 4]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NCHW)
    }

    /// Returns a packed tensor in the order NHWC. The `sizes` are still N, C, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn nhwc<T: Copy + TryInto<i128>>(data_type: DataType, sizes: [T; 4]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NHWC)
    }

    /// Returns a packed tensor in the order NCDHW. The `sizes` are N, C, D, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn ncdhw<T: Copy + TryInto<i128>>(data_type: DataType, sizes: [T; 5]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NCDHW)
    }

    /// Returns a packed tensor in the order NDHWC. The `sizes` are still N, C, D, H, W.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn ndhwc<T: Copy + TryInto<i128>>(data_type: DataType, sizes: [T; 5]) -> Result<Self, Error> {
        Self::with_order(data_type, &sizes, AxisOrder::NDHWC)
    }

    /// Returns a row-major tensor in which every row (last axis) begins at a multiple of `alignment` bytes.
    /// Copies between buffers and textures require such rows: 256 bytes for Direct3D 12
    /// (`TEXTURE_DATA_PITCH_ALIGNMENT`) and WebGPU (`bytesPerRow`).
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
    pub fn padded_rows<T: Copy + TryInto<i128>>(
        data_type: DataType,
        sizes: &[T],
        alignment: u64,
    ) -> Result<Self, Error> {
        Self::in_rows(data_type, &naturals("sizes", "one of the sizes", sizes)?, alignment)
    }

    fn in_rows(data_type: DataType, sizes: &[u64], alignment: u64) -> Result<Self, Error> {
        let bits = u64::from(data_type.bits());
        let in_bits = checked::mul(alignment, 8, BYTES)?;
        let (Some(unit @ 1..), Some(0)) = (in_bits.checked_div(bits), in_bits.checked_rem(bits)) else {
            let reason = format!("{alignment} bytes do not hold one or more whole elements of {bits} bits");
            return Err(Error::not_expressible("padding of rows", reason));
        };
        let mut rows = Dims::from_slice(sizes);
        if let Some(last) = rows.last_mut() {
            *last = checked::round_up(*last, unit, ELEMENTS)?;
        }
        let strides = packed_strides(&rows, (0..rows.len()).rev())?;
        Self::new(data_type, sizes, Some(&strides))
    }
}

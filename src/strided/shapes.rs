//! Descriptors from what engines have at hand: signed shapes, sizes in memory order, interleaved channels.

use alloc::format;

use smallvec::SmallVec;

use crate::checked::{self, BYTES, Dims, ELEMENTS};
use crate::element::DataType;
use crate::error::Error;

use super::axes::{AxisOrder, packed_strides};
use super::desc::BufferTensorDesc;
use super::naturals::naturals;

impl BufferTensorDesc {
    /// As [`new`](Self::new), from sizes and strides of any integer type: the `i64` of ONNX, the `isize` of
    /// other tensor crates, the `u32` of DirectML. Only types that convert exactly are taken, so no floats.
    ///
    /// # Errors
    ///
    /// [`ArgumentRule::Negative`](crate::ArgumentRule::Negative) for a number below zero (a dynamic size, a
    /// reversed axis), [`Error::Overflow`] for one of 2^64 or more, and as for [`new`](Self::new).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::from_integers(DataType::F32, &[2_i64, 3], None)?;
    /// assert_eq!(desc.sizes(), [2, 3]);
    /// let refused = BufferTensorDesc::from_integers(DataType::F32, &[2_isize, 3], Some(&[-3, 1])).unwrap_err();
    /// assert_eq!(refused.to_string(), "number 0 of the strides is negative, which cannot be expressed here");
    /// let refused = BufferTensorDesc::from_integers(DataType::F32, &[1_u128 << 64], None).unwrap_err();
    /// assert_eq!(refused.to_string(), "one of the sizes does not fit into 64 bits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    ///
    /// ```compile_fail
    /// # use tensor_layout::{BufferTensorDesc, DataType};
    /// let _ = BufferTensorDesc::from_integers(DataType::F32, &[2.7_f64], None);
    /// ```
    pub fn from_integers<T: Copy + TryInto<i128>>(
        data_type: DataType,
        sizes: &[T],
        strides: Option<&[T]>,
    ) -> Result<Self, Error> {
        let sizes = naturals("sizes", "one of the sizes", sizes)?;
        let strides = strides.map(|strides| naturals("strides", "one of the strides", strides)).transpose()?;
        Self::new(data_type, &sizes, strides.as_deref())
    }

    /// Packed in the memory order `order`, with the sizes in that order as well: a framework's
    /// `[N, H, W, C]` shape becomes a descriptor with sizes N, C, H, W.
    ///
    /// # Errors
    ///
    /// [`Error::RankMismatch`] or [`Error::Overflow`].
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::with_memory_sizes(DataType::F32, &[2, 3, 4], "NWC".parse()?)?;
    /// assert_eq!((desc.sizes(), desc.strides()), (&[2, 4, 3][..], &[12, 1, 4][..]));
    /// // And as the four axes a convolution wants, with a height of 1:
    /// assert_eq!(desc.scatter_axes(4, &[0, 1, 3])?.sizes(), [2, 4, 1, 3]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_memory_sizes(data_type: DataType, sizes: &[u64], order: AxisOrder) -> Result<Self, Error> {
        if sizes.len() != order.rank() {
            return Err(Error::RankMismatch { what: "sizes", expected: order.rank(), found: sizes.len() });
        }
        let mut logical = Dims::from_elem(0, sizes.len());
        for (axis, &size) in order.axes().zip(sizes) {
            if let Some(slot) = logical.get_mut(axis) {
                *slot = size;
            }
        }
        Self::with_order(data_type, &logical, order)
    }

    /// Packed with axis 1, the channels, innermost, whatever the rank: DirectMLX's
    /// `TensorPolicy::InterleavedChannel`. Below rank 3 there is less to order: `[a]` is packed, `[a, b]`
    /// has strides `[b, 1]`.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::interleaved_channel(DataType::F32, &[2, 3, 4, 5, 6])?;
    /// assert_eq!(desc.strides(), [360, 1, 90, 18, 3]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn interleaved_channel(data_type: DataType, sizes: &[u64]) -> Result<Self, Error> {
        checked::product(sizes, ELEMENTS)?;
        let mut minor_to_major: SmallVec<[usize; 8]> = (0..sizes.len()).rev().collect();
        if let Some(channel) = minor_to_major.iter().position(|&axis| axis == 1) {
            let channel = minor_to_major.remove(channel);
            minor_to_major.insert(0, channel);
        }
        let strides = packed_strides(sizes, minor_to_major.into_iter(), |_| false)?;
        Self::new(data_type, sizes, Some(&strides))
    }

    /// Row-major with every row (last axis) beginning at a multiple of `alignment` bytes, as copies
    /// between buffers and textures want it: 256 for Direct3D 12 (`TEXTURE_DATA_PITCH_ALIGNMENT`) and WebGPU
    /// (`bytesPerRow`).
    ///
    /// # Errors
    ///
    /// [`Error::NotExpressible`] if `alignment` is 0 or does not hold whole elements; [`Error::Overflow`].
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let image = BufferTensorDesc::padded_rows(DataType::F16, &[3, 480, 100], 256)?;
    /// assert_eq!(image.strides(), [61_440, 128, 1]);
    /// assert_eq!(image.row_pitch()?, 128);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn padded_rows(data_type: DataType, sizes: &[u64], alignment: u64) -> Result<Self, Error> {
        let bits = u64::from(data_type.bits());
        let in_bits = checked::mul(alignment, 8, BYTES)?;
        let (Some(unit @ 1..), Some(0)) = (in_bits.checked_div(bits), in_bits.checked_rem(bits)) else {
            let reason = format!("{alignment} bytes do not hold one or more whole elements of {bits} bits");
            return Err(Error::NotExpressible { target: "padding of rows", reason });
        };
        let mut rows = Dims::from_slice(sizes);
        if let Some(last) = rows.last_mut() {
            *last = checked::round_up(*last, unit, ELEMENTS)?;
        }
        let strides = packed_strides(&rows, (0..rows.len()).rev(), |_| false)?;
        Self::new(data_type, sizes, Some(&strides))
    }

    /// The same type, sizes, flags, alignment and base with other strides. The sizes in bytes follow;
    /// a total size that was set by hand is forgotten.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 3])?.with_strides(&[8, 1])?;
    /// assert_eq!(desc.total_tensor_size_in_bytes(), 44);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_strides(self, strides: &[u64]) -> Result<Self, Error> {
        let other = Self::new(self.data_type(), self.sizes(), Some(strides))?.with_base_offset(self.base_offset())?;
        other.with_flags(self.flags()).with_base_offset_alignment(self.base_offset_alignment())
    }

    /// Do both put elements of the same type at the same places? Flags, alignment and total size
    /// are not looked at, nor are strides that are never used.
    ///
    /// [`map::same_layout`](crate::map::same_layout) asks the same of layouts in any notation.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[1, 3])?;
    /// let other = desc.clone().with_strides(&[99, 1])?.with_flags(TensorFlags::OwnedByDml);
    /// assert!(desc.same_layout(&other) && desc != other);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn same_layout(&self, other: &Self) -> bool {
        self.data_type() == other.data_type()
            && self.sizes() == other.sizes()
            && (self.element_count() == 0 || self.base_offset() == other.base_offset())
            && self.used_strides().eq(other.used_strides())
    }
}

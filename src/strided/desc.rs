//! `BufferTensorDesc`: a strided tensor in a buffer.

use alloc::format;

use crate::checked::{self, Exact, OFFSET};
use crate::element::DataType;
use crate::error::{Code, Error};

use super::axis_list::AxisList;
use super::free_strides::strides_of;
use super::naturals::{first_that_does_not_fit, naturals};
use super::size::{Extent, extent, pack, size_in_bytes};

mod equality;
mod flags;
#[cfg(feature = "relayout")]
mod identity;
mod invariants;
mod part;
mod size_in_bytes;

pub use flags::TensorFlags;

/// A tensor in a buffer: the data type, the sizes, and the distance between neighbours on each axis.
///
/// This is DirectML's `DML_BUFFER_TENSOR_DESC` as an immutable value. Sizes are in elements and in the fixed
/// order N, C, \[D\], H, W. Strides are in elements too. A stride of 0 repeats an axis (broadcast), and
/// larger strides leave padding. Rank 0 (one element) and sizes of 0 (no elements) are legal here.
/// [`upload::validate`](crate::upload::validate) tells whether a device accepts them.
///
/// Every constructor checks these invariants, and debug builds check every value again. The code cites the
/// invariants by number:
///
/// 1. There are as many strides as sizes.
/// 2. The product of the sizes fits 64 bits.
/// 3. The base offset plus the span (one past the largest offset) fits 64 bits, and so does the
///    size in bytes.
/// 4. The total size is at least the minimum size, and a multiple of 4.
/// 5. The promised alignment is 0, or a power of two that is at least the size of an element.
///
/// Two descriptors are equal if they describe the same elements at the same offsets. The stride of an axis of
/// size 1 does not count, because no element uses it.
///
/// A slice that leaves out elements is a part of a larger buffer. Every view of this slice is a part too, and
/// so are descriptors with a base offset. The bytes between the elements of a part may belong to other
/// tensors. A part is therefore never equal to a tensor that has its buffer to itself. The text of a part has
/// a base offset, even if the offset is `+0`.
/// [`Relayout::with_padding`](crate::relayout::Relayout::with_padding) does not fill the gaps of a part.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::nhwc(DataType::F32, [1, 3, 480, 640])?;
/// assert_eq!(desc.sizes(), [1, 3, 480, 640]);
/// assert_eq!(desc.strides(), [921_600, 1, 1920, 3]);
/// assert_eq!(desc.offset(&[0, 2, 1, 0])?, 1922);
/// assert_eq!(desc.min_size_in_bytes(), 3_686_400);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Clone)]
pub struct BufferTensorDesc {
    axes: AxisList,
    base_offset: u64,
    elements: u64,
    span_elements: u64,
    /// The total size in bytes, if it was set by hand and is above the minimum. Otherwise 0.
    larger_total: u64,
    base_offset_alignment: u32,
    data_type: DataType,
    flags: TensorFlags,
    explicit_strides: bool,
    /// Whether the tensor is a slice that leaves out elements of its buffer, or a view of this slice.
    sliced: bool,
}

impl BufferTensorDesc {
    /// Returns a descriptor of these `sizes`, with `strides` in elements, or packed row-major without
    /// `strides`. The numbers may be integers of any type: the `usize` of Rust's tensors, the `i64` of ONNX,
    /// the `u32` of DirectML.
    ///
    /// The tensor has its buffer to itself, so gaps between its elements are its own padding. If the gaps
    /// may belong to other tensors, mark the tensor as a part by
    /// [`with_base_offset`](Self::with_base_offset), with an offset that may be 0, or by
    /// [`as_part`](Self::as_part). [`slice`](Self::slice) sets this mark itself.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there are not as many strides as sizes.
    /// `negative` for a negative number, except for strides that are
    /// [free](Self::with_canonical_strides). `overflow` if a number, the number of elements, the
    /// largest offset or the size in bytes passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let (shape, strides): (&[usize], &[usize]) = (&[2, 3], &[5, 1]);
    /// assert_eq!(BufferTensorDesc::new(DataType::F32, shape, Some(strides))?.min_size_in_bytes(), 32);
    /// let refused = BufferTensorDesc::new(DataType::F32, &[2_isize, 3], Some(&[-3, 1])).unwrap_err();
    /// assert_eq!(refused.to_string(), "number 0 of the strides is negative, which cannot be expressed here");
    /// let refused = BufferTensorDesc::new(DataType::F32, &[1_u128 << 64], None).unwrap_err();
    /// assert_eq!(refused.to_string(), "one of the sizes does not fit into 64 bits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    ///
    /// Types that do not convert exactly are not taken:
    ///
    /// ```compile_fail
    /// # use tensor_layout::{BufferTensorDesc, DataType};
    /// let _ = BufferTensorDesc::new(DataType::F32, &[2.7_f64], None);
    /// ```
    #[inline]
    pub fn new<T: Copy + TryInto<i128>>(
        data_type: DataType,
        sizes: &[T],
        strides: Option<&[T]>,
    ) -> Result<Self, Error> {
        // The descriptor is filled in place: a copy of its axes takes as long as all arithmetic.
        let axes = AxisList::zeros(sizes.len());
        let mut desc = Self::unmeasured(data_type, axes, strides.is_some());
        let (own_sizes, own_strides) = desc.axes.both_mut();
        let fit = first_that_does_not_fit(sizes, own_sizes).is_none()
            && strides.is_none_or(|strides| {
                strides.len() == sizes.len() && first_that_does_not_fit(strides, own_strides).is_none()
            });
        if !fit {
            return Self::of_odd_numbers(data_type, sizes, strides);
        }
        desc.measure()?;
        Ok(desc)
    }

    /// Handles sizes and strides that `new` cannot convert directly: some numbers do not fit a `u64`, which
    /// only free strides may do, or there are not as many strides as sizes.
    #[cold]
    fn of_odd_numbers<T: Copy + TryInto<i128>>(
        data_type: DataType,
        sizes: &[T],
        strides: Option<&[T]>,
    ) -> Result<Self, Error> {
        let sizes = naturals("sizes", "one of the sizes", sizes)?;
        let strides = strides.map(|strides| strides_of(&sizes, strides)).transpose()?;
        Self::build(data_type, &sizes, strides.as_deref().unwrap_or_default(), true)
    }

    /// Computes the number of elements and the span of a new descriptor. A descriptor that was made without
    /// strides gets those of a packed row-major tensor.
    fn measure(&mut self) -> Result<(), Error> {
        let extent = match self.explicit_strides {
            true => extent(self.sizes(), self.strides())?,
            false => pack(&mut self.axes)?,
        };
        checked_end(self.data_type, 0, extent.span)?;
        (self.elements, self.span_elements) = (extent.elements, extent.span);
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        Ok(())
    }

    /// Returns a packed row-major tensor: the last axis is the fastest, and there are no gaps
    /// between elements.
    ///
    /// # Errors
    ///
    /// `negative` and `overflow`, for the same reasons as [`new`](Self::new).
    #[inline]
    pub fn packed<T: Copy + TryInto<i128>>(data_type: DataType, sizes: &[T]) -> Result<Self, Error> {
        Self::new(data_type, sizes, None)
    }

    #[inline]
    pub(super) fn build(
        data_type: DataType,
        sizes: &[u64],
        strides: &[u64],
        explicit_strides: bool,
    ) -> Result<Self, Error> {
        let extent = extent(sizes, strides)?;
        checked_end(data_type, 0, extent.span)?;
        Ok(Self::whole(data_type, AxisList::new(sizes, strides), extent, explicit_strides))
    }

    /// Returns a tensor that has its buffer to itself. `extent` must be the extent of `axes`, and the caller
    /// must have checked its end with `checked_end`. Nothing can fail here, so the compiler writes the axes
    /// directly into the descriptor.
    #[inline]
    fn whole(data_type: DataType, axes: AxisList, extent: Extent, explicit_strides: bool) -> Self {
        let (elements, span_elements) = (extent.elements, extent.span);
        BufferTensorDesc { elements, span_elements, ..Self::unmeasured(data_type, axes, explicit_strides) }.checked()
    }

    /// Returns a tensor whose number of elements and span are not known yet.
    #[inline]
    fn unmeasured(data_type: DataType, axes: AxisList, explicit_strides: bool) -> Self {
        BufferTensorDesc {
            axes,
            base_offset: 0,
            elements: 0,
            span_elements: 0,
            larger_total: 0,
            base_offset_alignment: 0,
            data_type,
            flags: TensorFlags::None,
            explicit_strides,
            sliced: false,
        }
    }

    /// Returns another descriptor of the same buffer, which must not reach past the end of this tensor. The
    /// view keeps the flags, the alignment and a total size that was set by hand.
    #[inline]
    pub(super) fn build_view(&self, data_type: DataType, axes: AxisList, base_offset: u64) -> Result<Self, Error> {
        let extent = extent(axes.sizes(), axes.strides())?;
        let span_elements = checked_end(data_type, base_offset, extent.span)?;
        let (elements, explicit_strides) = (extent.elements, true);
        let view =
            BufferTensorDesc { axes, base_offset, elements, span_elements, data_type, explicit_strides, ..*self };
        if data_type != self.data_type {
            return view.with_base_offset_alignment(self.base_offset_alignment);
        }
        Ok(view.checked())
    }

    /// Returns a view of these elements with other axes. The number of elements and the largest offset must
    /// not change, so nothing has to be checked again.
    #[inline]
    pub(super) fn with_axes(&self, axes: AxisList) -> Self {
        BufferTensorDesc { axes, explicit_strides: true, ..*self }.checked()
    }

    /// Returns this tensor with other flags.
    #[must_use]
    pub fn with_flags(self, flags: TensorFlags) -> Self {
        BufferTensorDesc { flags, ..self }
    }

    /// Returns this tensor in a buffer of `total` bytes. The total must be a multiple of 4, and at least
    /// [`min_size_in_bytes`](Self::min_size_in_bytes).
    ///
    /// # Errors
    ///
    /// `total_size_too_small` or `total_size_unaligned` if `total`
    /// breaks one of these two rules.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let rows = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
    /// assert_eq!((rows.rank(), rows.element_count(), rows.span_elements()), (2, 6, 8));
    /// assert_eq!((rows.explicit_strides(), rows.base_offset_alignment()), (Some(&[5, 1][..]), 0));
    /// assert_eq!(rows.min_size_in_bytes(), 32);
    /// // With the padding after the last row.
    /// assert_eq!(rows.clone().with_total_size_in_bytes(40)?.total_tensor_size_in_bytes(), 40);
    /// assert_eq!(rows.with_total_size_in_bytes(28).unwrap_err().code(), "total_size_too_small");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_total_size_in_bytes(self, total: u64) -> Result<Self, Error> {
        let min = self.min_size_in_bytes();
        if total < min {
            return Err(Code::TotalSizeTooSmall.by(total, min));
        }
        if !total.is_multiple_of(4) {
            return Err(Code::TotalSizeUnaligned.by(total, 0));
        }
        Ok(BufferTensorDesc { larger_total: if total == min { 0 } else { total }, ..self }.checked())
    }

    /// Returns this tensor with a promise about the alignment of its binding, in bytes. 0 promises nothing.
    /// Other alignments are powers of two that are at least as large as an element.
    ///
    /// # Errors
    ///
    /// `bad_alignment` for any other number.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType, TensorFlags};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[3])?.with_base_offset_alignment(32)?;
    /// assert_eq!((desc.base_offset_alignment(), desc.data_type()), (32, DataType::F32));
    /// assert_eq!(desc.flags(), TensorFlags::None);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_base_offset_alignment(self, alignment: u32) -> Result<Self, Error> {
        let min = self.data_type.bits().div_ceil(8);
        if alignment != 0 && (!alignment.is_power_of_two() || alignment < min) {
            return Err(Code::BadAlignment.by(alignment.into(), min.next_power_of_two().into()));
        }
        Ok(BufferTensorDesc { base_offset_alignment: alignment, ..self }.checked())
    }

    /// Returns this tensor as a part of a larger buffer: it begins `base_offset` elements after the start of
    /// that buffer, as a slice does. The result is also a part if the offset is 0, because the bytes between
    /// its elements may belong to other tensors (see [`is_part`](Self::is_part)).
    ///
    /// Every size in bytes counts from the start of the buffer, so the sizes grow by the offset. A total size
    /// that was set by hand is the size of the buffer. This total does not change, unless the tensor now
    /// reaches further.
    ///
    /// DirectML's structure has no field for this offset, so add its bytes to the offset at which the
    /// buffer is bound.
    ///
    /// # Errors
    ///
    /// `overflow` if the end of the tensor passes 64 bits, or if the offset does not fit a `u64`.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let tokens = BufferTensorDesc::new(DataType::U8, &[2, 3, 4], Some(&[32, 4, 1]))?;
    /// let (own, part) = (tokens.clone(), tokens.with_base_offset(0)?);
    /// assert!(!own.is_part() && part.is_part() && own != part);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_base_offset(self, base_offset: impl TryInto<u64>) -> Result<Self, Error> {
        let base_offset = base_offset.try_into().map_err(|_| Error::overflow(OFFSET, 64))?;
        Ok(self.beginning_at(base_offset)?.into_part())
    }

    /// Does the work of [`with_base_offset`](Self::with_base_offset) for an offset in bytes. Types below a
    /// byte are allowed too.
    ///
    /// # Errors
    ///
    /// `not_expressible` if the offset is not a whole number of elements, and the errors of
    /// [`with_base_offset`](Self::with_base_offset).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let weights = BufferTensorDesc::packed(DataType::S4, &[64, 32])?.with_base_offset_in_bytes(256)?;
    /// assert_eq!((weights.base_offset(), weights.base_offset_in_bytes()?), (512, 256));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_base_offset_in_bytes(self, bytes: impl TryInto<u64>) -> Result<Self, Error> {
        let bytes = bytes.try_into().map_err(|_| Error::overflow(OFFSET, 64))?;
        let (in_bits, bits) = (checked::wide_product(bytes, 8_u64), u128::from(self.data_type.bits()));
        if !in_bits.is_multiple_of(bits) {
            let reason = format!("byte {bytes} is inside an element of {bits} bits");
            return Err(Error::not_expressible("base offset", reason));
        }
        self.with_base_offset(checked::narrow::<u64>(in_bits.div_euclid(bits), OFFSET)?)
    }

    /// Returns this tensor at another base offset. Whether it counts as a part of a larger buffer does not
    /// change.
    pub(crate) fn beginning_at(self, base_offset: u64) -> Result<Self, Error> {
        let span = if self.elements == 0 { 0 } else { self.span_elements.minus(self.base_offset) };
        let span_elements = checked_end(self.data_type, base_offset, span)?;
        let (total, moved) = (self.larger_total, BufferTensorDesc { base_offset, span_elements, ..self });
        let larger_total = if total > moved.min_size_in_bytes() { total } else { 0 };
        Ok(BufferTensorDesc { larger_total, ..moved }.checked())
    }

    /// The type of an element.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The sizes in elements, in logical order.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        self.axes.sizes()
    }

    /// The strides in elements, in logical order. Packed strides are returned if none were given.
    #[must_use]
    pub fn strides(&self) -> &[u64] {
        self.axes.strides()
    }

    pub(super) fn axis_list(&self) -> &AxisList {
        &self.axes
    }

    /// The strides as they were given. `None` for a packed row-major tensor that was made without strides.
    #[must_use]
    pub fn explicit_strides(&self) -> Option<&[u64]> {
        self.explicit_strides.then_some(self.strides())
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.sizes().len()
    }

    /// The flags, which say who owns the buffer.
    #[must_use]
    pub fn flags(&self) -> TensorFlags {
        self.flags
    }

    /// The promised alignment of the bound buffer, in bytes. 0 means that nothing is promised.
    #[must_use]
    pub fn base_offset_alignment(&self) -> u32 {
        self.base_offset_alignment
    }

    /// The offset where the tensor begins in its buffer, in elements.
    #[must_use]
    pub fn base_offset(&self) -> u64 {
        self.base_offset
    }

    /// The offset of an index, in bytes from the start of the buffer, as a `usize` to index slices of bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`offset`](Self::offset) and [`base_offset_in_bytes`](Self::base_offset_in_bytes).
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let rows = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
    /// assert_eq!(rows.offset_in_bytes(&[1, 2])?, 28);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn offset_in_bytes(&self, index: &[u64]) -> Result<usize, Error> {
        self.in_whole_bytes(self.offset(index)?)
    }

    fn in_whole_bytes(&self, elements: u64) -> Result<usize, Error> {
        let bits = self.data_type.bits();
        let all = checked::wide_product(elements, bits);
        if all.is_multiple_of(8) {
            return checked::narrow(all.div_euclid(8), OFFSET);
        }
        Err(Error::in_bits(Code::OffsetInsideByte, None, elements, 0, bits))
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    pub fn element_count(&self) -> u64 {
        self.elements
    }

    /// One past the largest element offset, in elements from the start of the buffer. 0 if there
    /// are no elements.
    #[must_use]
    pub fn span_elements(&self) -> u64 {
        self.span_elements
    }

    /// The offset of an index, in elements from the start of the buffer: the base offset plus the dot product
    /// of index and strides.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `index` does not have an entry for each axis, or
    /// `index_out_of_range` for an index at or above its size.
    pub fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        if index.len() != self.rank() {
            return Err(Error::rank_mismatch("indices", self.rank(), index.len()));
        }
        let mut offset = self.base_offset;
        for (axis, ((&i, &size), &stride)) in index.iter().zip(self.sizes()).zip(self.strides()).enumerate() {
            if i >= size {
                return Err(Code::IndexOutOfRange.at(axis, i, size));
            }
            // The index is inside the sizes, and invariant 3 bounds the largest offset, so the
            // sum cannot wrap.
            offset = offset.wrapping_add(i.wrapping_mul(stride));
        }
        Ok(offset)
    }
}

/// Returns one past the largest offset of a tensor that spans `span` elements from its base. Fails if this
/// end or its size in bytes passes 64 bits.
#[inline]
fn checked_end(data_type: DataType, base_offset: u64, span: u64) -> Result<u64, Error> {
    let end = if span == 0 { 0 } else { checked::add(base_offset, span, OFFSET)? };
    // Below 2^57 elements of at most 128 bits, the size in bytes always fits.
    if end >> 57 != 0 {
        size_in_bytes(end, data_type.bits())?;
    }
    Ok(end)
}

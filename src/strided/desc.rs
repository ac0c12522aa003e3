//! `BufferTensorDesc`: a strided tensor in a buffer.

use alloc::format;

use crate::checked::{self, Dims, OFFSET, Proven, zeros};
use crate::element::DataType;
use crate::error::{Code, Error};

use super::numbers::{Integer, extent, first_that_does_not_fit, index_of, natural, pack, size_in_bytes};

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
/// Two descriptors are equal if they describe the same elements at the same offsets and [own](GapOwner) the
/// same bytes. The stride of an axis of size 1 does not count, because no element uses it.
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
pub struct BufferTensorDesc {
    pub(super) sizes: Dims,
    pub(super) strides: Dims,
    pub(super) base_offset: u64,
    pub(super) elements: u64,
    pub(super) span_elements: u64,
    /// The size of the smallest buffer, in bytes.
    pub(super) min_size: u64,
    /// The total size in bytes, if it was set by hand and is above the minimum. Otherwise 0.
    pub(super) larger_total: u64,
    pub(super) base_offset_alignment: u32,
    pub(super) data_type: DataType,
    pub(super) flags: TensorFlags,
    pub(super) explicit_strides: bool,
    /// Never [`GapOwner::All`] with a base offset.
    pub(super) owns: GapOwner,
}

/// Who owns the gaps of a tensor: which bytes of its buffer the tensor may overwrite when it is written.
///
/// It matters where a tensor is written. [`Relayout::with_padding`](crate::relayout::Relayout::with_padding)
/// fills gaps that are owned, and [`validate`](crate::upload::validate) refuses an output whose gaps are not
/// its own on a device that may overwrite them.
///
/// ```
/// use tensor_layout::{strided::GapOwner, BufferTensorDesc, DataType};
///
/// let cache = BufferTensorDesc::padded_rows(DataType::F16, &[2, 64, 100], 256)?;
/// assert_eq!(cache.gap_owner(), GapOwner::All);
/// // A layer, and rows of it: what is between their rows is padding of the cache.
/// assert_eq!(cache.select(0, 1)?.gap_owner(), GapOwner::Inside);
/// assert_eq!(cache.select(0, 1)?.slice_axis(0, 8..16)?.gap_owner(), GapOwner::Inside);
/// // Some columns: the other columns are between them.
/// assert_eq!(cache.slice_axis(2, 0..50)?.gap_owner(), GapOwner::Others);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapOwner {
    /// The bytes between the elements may belong to other tensors: the tensor owns its elements alone.
    Others,
    /// The tensor owns the bytes from its first element to its last, rounded up to 4 bytes as DirectML binds
    /// them. What is before and after belongs to other tensors.
    Inside,
    /// The tensor owns the whole buffer.
    All,
}

/// The owner of the buffer of a tensor (`DML_TENSOR_FLAGS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TensorFlags {
    /// The caller binds the buffer for every execution.
    #[default]
    None,
    /// DirectML copies the tensor when the operator is initialized (`OWNED_BY_DML`). Only inputs may have
    /// this flag.
    OwnedByDirectml,
}

impl BufferTensorDesc {
    /// Returns a descriptor of these `sizes`, with `strides` in elements, or packed row-major without
    /// `strides`. The numbers may be integers of any type: the `usize` of Rust's tensors, the `i64` of ONNX,
    /// the `u32` of DirectML.
    ///
    /// The tensor has its buffer to itself, so gaps between its elements are its own padding. If the gaps
    /// may belong to other tensors, say so with [`as_part`](Self::as_part) or
    /// [`with_base_offset`](Self::with_base_offset). [`slice`](Self::slice) finds out by itself.
    ///
    /// **Post-condition** (`new_keeps_sizes_and_strides`): the sizes and strides are those given, and the
    /// offset of an index is the dot product of index and strides.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if there are not as many strides as sizes. `negative` for a negative number, except
    /// for [free](Self::with_canonical_strides) strides. `overflow` if a number, the number of elements, the
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
    #[inline]
    pub fn new<T: Integer>(data_type: DataType, sizes: &[T], strides: Option<&[T]>) -> Result<Self, Error> {
        // The descriptor is filled in place: a copy of its axes takes as long as all arithmetic.
        let mut desc = Self::unmeasured(data_type, zeros(sizes.len()), zeros(sizes.len()));
        if let Some((axis, size)) = first_that_does_not_fit(sizes, &mut desc.sizes) {
            return Err(natural("sizes", "one of the sizes", axis, size));
        }
        match strides {
            None => desc.measure_packed()?,
            Some(strides) => {
                desc.set_strides(strides)?;
                desc.measure()?;
            }
        }
        Ok(desc)
    }

    /// Sets the strides. A free stride may be any number, and becomes 0 if it does not fit a `u64`.
    #[inline]
    fn set_strides<T: Integer>(&mut self, strides: &[T]) -> Result<(), Error> {
        if strides.len() != self.sizes.len() {
            return Err(Error::rank_mismatch("strides", self.sizes.len(), strides.len()));
        }
        if first_that_does_not_fit(strides, &mut self.strides).is_none() {
            return Ok(());
        }
        let empty = self.sizes.contains(&0);
        let slots = self.strides.iter_mut().zip(&self.sizes);
        for (axis, (&stride, (slot, &size))) in strides.iter().zip(slots).enumerate() {
            *slot = match stride.try_into().ok().and_then(|stride: i128| u64::try_from(stride).ok()) {
                Some(stride) => stride,
                None if empty || size == 1 => 0,
                None => return Err(natural("strides", "one of the strides", axis, stride)),
            };
        }
        Ok(())
    }

    #[inline]
    pub(super) fn unmeasured(data_type: DataType, sizes: Dims, strides: Dims) -> Self {
        BufferTensorDesc {
            sizes,
            strides,
            base_offset: 0,
            elements: 0,
            span_elements: 0,
            min_size: 0,
            larger_total: 0,
            base_offset_alignment: 0,
            data_type,
            flags: TensorFlags::None,
            explicit_strides: true,
            owns: GapOwner::All,
        }
    }

    /// Every constructor and every view ends here, or with [`checked`](Self::checked).
    #[inline]
    pub(super) fn measure(&mut self) -> Result<(), Error> {
        let (elements, span) = extent(&self.sizes, &self.strides)?;
        self.set_extent(elements, span)
    }

    #[inline]
    fn measure_packed(&mut self) -> Result<(), Error> {
        self.explicit_strides = false;
        let elements = pack(&self.sizes, &mut self.strides)?;
        self.set_extent(elements, elements)
    }

    #[inline]
    pub(super) fn set_extent(&mut self, elements: u64, span: u64) -> Result<(), Error> {
        let end = if span == 0 { 0 } else { checked::add(self.base_offset, span, OFFSET)? };
        self.min_size = size_in_bytes(end, self.data_type.bits())?;
        (self.elements, self.span_elements) = (elements, end);
        if self.larger_total <= self.min_size {
            self.larger_total = 0;
        }
        debug_assert_eq!(self.broken_invariant(), None, "{self:?}");
        Ok(())
    }

    /// Returns a packed row-major tensor: the last axis is the fastest, and there are no gaps
    /// between elements.
    ///
    /// **Post-condition** (`packed_counts_offsets_in_order`): the offsets in the order of the indices are
    /// 0, 1, 2, and so on.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    #[inline]
    pub fn packed<T: Integer>(data_type: DataType, sizes: &[T]) -> Result<Self, Error> {
        Self::new(data_type, sizes, None)
    }

    pub(super) fn of_strides(data_type: DataType, sizes: Dims, strides: Dims, explicit: bool) -> Result<Self, Error> {
        let mut desc = Self::unmeasured(data_type, sizes, strides);
        desc.explicit_strides = explicit;
        desc.measure()?;
        Ok(desc)
    }

    /// Returns a tensor that begins `base_offset` elements into a buffer of at least `total` bytes, a
    /// multiple of 4, and owns these bytes of it.
    pub(crate) fn in_buffer(
        data_type: DataType,
        sizes: Dims,
        strides: Dims,
        (base_offset, owns): (u64, GapOwner),
        total: u64,
    ) -> Result<Self, Error> {
        let mut desc = Self::unmeasured(data_type, sizes, strides);
        (desc.base_offset, desc.owns, desc.larger_total) = (base_offset, owns, total);
        desc.measure()?;
        Ok(desc)
    }

    /// Returns a view of the same buffer with these sizes, whose strides are 0 for now.
    #[inline]
    pub(super) fn view_of_sizes(&self, sizes: Dims) -> Self {
        BufferTensorDesc { strides: zeros(sizes.len()), sizes, explicit_strides: true, ..*self }
    }

    /// Returns a view of all elements with other axes. Nothing has to be measured again.
    #[inline]
    pub(super) fn with_axes(&self, sizes: Dims, strides: Dims) -> Self {
        BufferTensorDesc { sizes, strides, explicit_strides: true, ..*self }.checked()
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
    /// `total_size_too_small` or `total_size_unaligned`.
    pub fn with_total_size_in_bytes(self, total: u64) -> Result<Self, Error> {
        if total < self.min_size {
            return Err(Code::TotalSizeTooSmall.for_value(total, self.min_size));
        }
        if !total.is_multiple_of(4) {
            return Err(Code::TotalSizeUnaligned.for_value(total, 0));
        }
        Ok(BufferTensorDesc { larger_total: if total == self.min_size { 0 } else { total }, ..self }.checked())
    }

    /// Returns this tensor with a promise about the alignment of its binding, in bytes. 0 promises nothing.
    /// Other alignments are powers of two that are at least as large as an element.
    ///
    /// # Errors
    ///
    /// `bad_alignment` for any other number.
    pub fn with_base_offset_alignment(self, alignment: u32) -> Result<Self, Error> {
        let min = self.data_type.bits().div_ceil(8);
        if alignment != 0 && (!alignment.is_power_of_two() || alignment < min) {
            return Err(Code::BadAlignment.for_value(alignment.into(), min.next_power_of_two().into()));
        }
        Ok(BufferTensorDesc { base_offset_alignment: alignment, ..self }.checked())
    }

    /// Returns this tensor as a part of a larger buffer: it begins `base_offset` elements after the start of
    /// that buffer, as a slice does. The result [owns](GapOwner) its elements alone, also if the offset is 0.
    ///
    /// Every size in bytes counts from the start of the buffer, so the sizes grow by the offset. A total size
    /// that was set by hand is the size of the buffer. This total does not change, unless the tensor now
    /// reaches further.
    ///
    /// # Errors
    ///
    /// `overflow` if the end of the tensor passes 64 bits, or if the offset does not fit a `u64`.
    pub fn with_base_offset(self, base_offset: impl TryInto<u64>) -> Result<Self, Error> {
        let base_offset = base_offset.try_into().map_err(|_| Error::overflow(OFFSET, 64))?;
        Ok(self.beginning_at(base_offset)?.with_gap_owner(GapOwner::Others))
    }

    /// [`with_base_offset`](Self::with_base_offset) for an offset in bytes, also for types below a byte.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a part of an element, and the errors of
    /// [`with_base_offset`](Self::with_base_offset).
    pub fn with_base_offset_in_bytes(self, bytes: impl TryInto<u64>) -> Result<Self, Error> {
        let bytes = bytes.try_into().map_err(|_| Error::overflow(OFFSET, 64))?;
        let (in_bits, bits) = (checked::wide_product(bytes, 8_u64), u128::from(self.data_type.bits()));
        if !in_bits.is_multiple_of(bits) {
            let reason = format!("byte {bytes} is inside an element of {bits} bits");
            return Err(Error::not_expressible("base offset", reason));
        }
        self.with_base_offset(checked::narrow::<u64>(in_bits.div_euclid(bits), OFFSET)?)
    }

    /// What the tensor owns does not change, except that with a base offset it has no buffer to itself.
    pub(crate) fn beginning_at(mut self, base_offset: u64) -> Result<Self, Error> {
        let span = if self.elements == 0 { 0 } else { self.span_elements.minus(self.base_offset) };
        self.base_offset = base_offset;
        if base_offset != 0 && self.owns == GapOwner::All {
            self.owns = GapOwner::Others;
        }
        self.set_extent(self.elements, span)?;
        Ok(self)
    }

    /// The type of an element.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The sizes in elements, in logical order.
    #[must_use]
    #[inline]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The strides in elements, in logical order. Packed strides are returned if none were given.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    pub(super) fn axis(&self, axis: usize) -> Result<(u64, u64), Error> {
        let found = self.sizes.get(axis).copied().zip(self.strides.get(axis).copied());
        found.ok_or_else(|| Error::axis_out_of_range(axis, self.rank()))
    }

    pub(super) fn axes(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator + Clone {
        self.sizes.iter().copied().zip(self.strides.iter().copied())
    }

    /// The strides as they were given. `None` for a packed row-major tensor that was made without strides.
    #[must_use]
    pub fn explicit_strides(&self) -> Option<&[u64]> {
        self.explicit_strides.then_some(&self.strides)
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.sizes.len()
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

    /// The guaranteed alignment of a place some elements after the start of the buffer, in bytes: the
    /// promised alignment, reduced by this distance. 0 means that nothing is guaranteed.
    pub(crate) fn alignment_after(&self, elements: u64) -> u32 {
        let (promise, bits) = (self.base_offset_alignment, self.data_type.bits());
        let distance = checked::wide_product(elements, bits);
        let had = 1_u128.checked_shl(distance.trailing_zeros()).map_or(u128::MAX, |had| had.div_euclid(8));
        let least = u32::try_from(u128::from(promise).min(had)).unwrap_or(promise);
        if least < bits.div_ceil(8) { 0 } else { least }
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
    /// `offset_inside_byte`, `overflow` if the offset does not fit a `usize`, and the errors of
    /// [`offset`](Self::offset).
    pub fn offset_in_bytes<T: Integer>(&self, index: &[T]) -> Result<usize, Error> {
        let (elements, bits) = (self.offset(index)?, self.data_type.bits());
        let all = checked::wide_product(elements, bits);
        if all.is_multiple_of(8) {
            return checked::narrow(all.div_euclid(8), OFFSET);
        }
        Err(Code::OffsetInsideByte.for_value(elements, 0).with_other(bits.into()))
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
    /// of index and strides. The index may be integers of any type.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` if `index` does not have an entry for each axis, or
    /// `index_out_of_range` for an index that is negative, or at or above its size.
    #[inline]
    pub fn offset<T: Integer>(&self, index: &[T]) -> Result<u64, Error> {
        if index.len() != self.rank() {
            return Err(Error::rank_mismatch("indices", self.rank(), index.len()));
        }
        let mut offset = self.base_offset;
        for (axis, (&i, (size, stride))) in index.iter().zip(self.axes()).enumerate() {
            let i = index_of(i);
            if i >= size {
                return Err(Code::IndexOutOfRange.on_axis(axis, i, size));
            }
            // The index is inside the sizes, and invariant 3 bounds the largest offset, so the
            // sum cannot wrap.
            offset = offset.wrapping_add(i.wrapping_mul(stride));
        }
        Ok(offset)
    }

    /// The strides, with 0 where the size is 1 or the tensor is empty.
    pub(super) fn used_strides(&self) -> impl Iterator<Item = u64> {
        let empty = self.elements == 0;
        self.axes().map(move |(size, stride)| if empty || size == 1 { 0 } else { stride })
    }
}

impl Clone for BufferTensorDesc {
    // The clone of a `SmallVec` takes its numbers one by one.
    #[inline]
    fn clone(&self) -> Self {
        BufferTensorDesc { sizes: Dims::from_slice(&self.sizes), strides: Dims::from_slice(&self.strides), ..*self }
    }
}

//! `pieces_along`: divides a tensor that is too large for one binding into tensors that fit.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::checked::{self, BYTES, Exact, OFFSET, gcd, wide_product};
use crate::error::{Code, Error};
use crate::strided::BufferTensorDesc;

use super::limits::DeviceLimits;
use super::multiples::{common_multiple, whole_elements};
use super::pieces::Pieces;
use super::validate::piece_alignment;

/// One piece of a tensor: a range of indices of one axis, and all indices of the other axes.
///
/// ```
/// use tensor_layout::upload::{pieces_along, BindingPiece, DeviceLimits};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// // 1 GiB of rows of 4 KiB, for devices that bind 128 MiB at once.
/// let desc = BufferTensorDesc::packed(DataType::F32, &[1 << 18, 1024])?;
/// let mut pieces = pieces_along(&desc, 0, &DeviceLimits::webgpu())?;
/// let first: BindingPiece = pieces.next().unwrap();
/// assert_eq!((first.indices, first.desc.sizes(), first.bound), (0..1 << 15, &[1 << 15, 1024][..], 0..1 << 27));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BindingPiece {
    /// The indices of the axis that the piece covers.
    pub indices: Range<u64>,
    /// The piece as a tensor of its own, whose offsets count from the start of `bound`.
    pub desc: BufferTensorDesc,
    /// The bytes to bind, counted from the start of the tensor's buffer.
    pub bound: Range<u64>,
}

/// An iterator over the pieces of a tensor along an axis, from [`pieces_along`]. The iterator holds one
/// descriptor and a few numbers, however many pieces there are, and returns its length without iterating.
///
/// ```
/// use tensor_layout::upload::{pieces_along, BindingPieces, DeviceLimits};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[1 << 18, 1024])?;
/// let pieces: BindingPieces = pieces_along(&desc, 0, &DeviceLimits::webgpu())?;
/// assert_eq!(pieces.count(), 8);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BindingPieces {
    desc: BufferTensorDesc,
    axis: usize,
    /// The indices of the pieces that have not been returned.
    indices: Pieces,
    alignment: u64,
    size_multiple: u64,
}

impl BindingPieces {
    fn piece(&self, indices: Range<u64>) -> Result<BindingPiece, Error> {
        let part = self.desc.slice_axis(self.axis, indices.clone())?;
        let bits = part.data_type().bits();
        let first: u64 = checked::narrow(wide_product(part.base_offset(), bits).div_euclid(8), BYTES)?;
        let start = first.minus(first.modulo(self.alignment.max(1)));
        // The bytes in front of the first element are whole elements, because the alignment is a multiple of
        // an element's bytes.
        let skipped = wide_product(start, 8_u64).divided_by(bits.into());
        let base = part.base_offset().minus(checked::narrow(skipped, OFFSET)?);
        let desc = part.beginning_at(base)?;
        let exact = checked::bytes_for(desc.span_elements(), desc.data_type().bits())?;
        let length = checked::round_up(exact, self.size_multiple, BYTES)?;
        Ok(BindingPiece { indices, desc, bound: start..checked::add(start, length, BYTES)? })
    }
}

impl Iterator for BindingPieces {
    type Item = BindingPiece;

    fn next(&mut self) -> Option<BindingPiece> {
        let indices = self.indices.next()?;
        // This cannot fail, because no size or offset of a piece is above that of the whole tensor.
        self.piece(indices).ok()
    }

    fn count(self) -> usize {
        self.indices.count()
    }
}

impl FusedIterator for BindingPieces {}

/// Divides a tensor along an axis into pieces that each fit one binding. Pieces along axis 0 of a matrix are
/// whole rows.
///
/// Every piece is a tensor of its own with the same strides. Its binding begins at an offset that the device
/// allows, at or before the first element of the piece. The distance to the first element is the base offset
/// of the piece's descriptor. Devices that are given strides and no base offset
/// ([`DeviceLimits::base_offset_in_binding`]) get pieces whose first elements are aligned. All pieces but the
/// last have the same number of indices. Bindings of neighbouring pieces may share the bytes in front of an
/// element. So bind pieces for reading only, or write each piece in a dispatch of its own.
///
/// (The report's [`pieces`](super::UploadReport::pieces) divide a range of bytes and may cut a row.)
///
/// # Errors
///
/// `axis_out_of_range` if the axis does not exist.
/// `binding_limit` if a single index of the axis takes more
/// than the largest binding. `no_pieces` if pieces with an aligned
/// start do not fit a binding. `offset_unaligned` if the
/// start of the tensor itself is unaligned and the device has no base offset. `overflow` if a number
/// passes 64 bits.
///
/// ```
/// use tensor_layout::upload::{pieces_along, validate, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// // The embedding of Whisper: twice what WebGPU binds by default.
/// let limits = DeviceLimits::webgpu();
/// let desc = BufferTensorDesc::packed(DataType::F32, &[51865, 1280])?;
/// let pieces: Vec<_> = pieces_along(&desc, 0, &limits)?.collect();
/// assert_eq!(pieces[0].indices, 0..26214);
/// assert_eq!(pieces[1].indices, 26214..51865);
/// assert_eq!(pieces[1].desc.sizes(), [25651, 1280]);
/// for piece in &pieces {
///     let buffer = UploadBuffer::new(265_548_800, piece.bound.start, Role::Input);
///     assert!(validate(&piece.desc, &buffer, &limits).is_ok());
/// }
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn pieces_along(desc: &BufferTensorDesc, axis: usize, limits: &DeviceLimits) -> Result<BindingPieces, Error> {
    let rank = desc.rank();
    let (Some(&size), Some(&stride)) = (desc.sizes().get(axis), desc.strides().get(axis)) else {
        return Err(Error::axis_out_of_range(axis, rank));
    };
    let alignment = common_multiple(
        piece_alignment(whole_elements(desc.data_type().bits()), limits),
        desc.base_offset_alignment().into(),
    )?;
    let size_multiple = limits.size_multiple.max(1);
    let in_steps = |indices: Range<u64>, step| {
        let (desc, indices) = (desc.clone(), Pieces::in_steps(indices, step));
        Ok(BindingPieces { desc, axis, indices, alignment, size_multiple })
    };
    if desc.element_count() == 0 {
        return in_steps(size..size, 1);
    }
    let bits = desc.data_type().bits();
    let row = desc.slice_axis(axis, 0..1)?;
    let row_bits = wide_product(row.span_elements().minus(row.base_offset()), bits);
    let (stride_bits, align_bits) = (wide_product(stride, bits), wide_product(alignment, 8_u64));
    let base_bits = wide_product(desc.base_offset(), bits);
    // A piece begins at a multiple of `unit` indices. Its binding begins at most `lead` bits before its first
    // element.
    let (unit, lead) = if limits.base_offset_in_binding && limits.takes_strides {
        let rest = base_bits.modulo(align_bits.max(1));
        if rest > 0 {
            let offset = checked::narrow(base_bits.div_euclid(8), BYTES)?;
            return Err(Code::OffsetUnaligned.by(offset, alignment));
        }
        (align_bits.divided_by(gcd(align_bits, stride_bits).max(1)).max(1), 0)
    } else {
        // The distance from the start of a binding to the first element leaves the same remainder modulo
        // `step` in all pieces, so it is at most `lead` bits.
        let step = gcd(align_bits, stride_bits).max(1);
        let rest = base_bits.modulo(step);
        (1, align_bits.saturating_sub(step).plus(rest))
    };
    let max = limits.max_binding.minus(limits.max_binding.modulo(size_multiple.max(1)));
    let room = wide_product(max, 8_u64);
    if fits_whole(desc, alignment, room) {
        return in_steps(0..size, size);
    }
    let Some(free) = room.checked_sub(row_bits.plus(lead)) else {
        let size = checked::narrow(row_bits.plus(lead).div_ceil(8), BYTES)?;
        return Err(Code::BindingLimit.by(size, limits.max_binding));
    };
    let fits = free.checked_div(stride_bits).unwrap_or(u128::from(size)).plus(1).min(size.into());
    let step = fits.minus(fits.modulo(unit));
    if step == 0 {
        return Err(Code::NoPieces.by(limits.max_binding, alignment));
    }
    in_steps(0..size, checked::narrow(step, OFFSET)?)
}

/// Whether the whole tensor fits one binding with an aligned start.
fn fits_whole(desc: &BufferTensorDesc, alignment: u64, room: u128) -> bool {
    let bits = desc.data_type().bits();
    let align_bits = wide_product(alignment, 8_u64);
    let lead = wide_product(desc.base_offset(), bits).modulo(align_bits.max(1));
    let span = wide_product(desc.span_elements().minus(desc.base_offset()), bits);
    lead.plus(span) <= room
}

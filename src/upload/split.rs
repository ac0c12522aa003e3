//! `split_binding`: divides a tensor that is too large for one binding into tensors that fit.
//!
//! A piece is a range of indices on each axis. The tensor is cut along the axis of the largest stride,
//! because pieces along it are apart in memory; `[1, 48, 1024, 1024]` can be cut along axis 1 only. If a
//! single index of that axis is too large for a binding, each index is cut again, along the axis of the next
//! smaller stride.
//!
//! ```text
//! split(tensor):
//!     if the tensor fits one binding: it is a piece
//!     axis = the axis of the largest stride
//!     unit = the indices of one block of that axis (1 without tiles)
//!     if one unit fits one binding: pieces of as many units as fit
//!     else: split each unit
//! ```
//!
//! A binding begins at a multiple of the device's alignment, at or before the first element of its piece. How
//! far before depends on the piece. The distances of all pieces along an axis leave one remainder modulo the
//! greatest common divisor of the alignment and the stride, so the largest of them is known without looking
//! at each.

use alloc::vec::Vec;
use core::ops::Range;

use crate::bridge::AnyLayout;
use crate::checked::{self, BYTES, Dims, OFFSET, Proven, gcd, nth_or_panic, wide_product};
use crate::element::BlockType;
use crate::error::{Code, Error};
use crate::map::{Swizzle, ToIndexMap};
use crate::strided::{BlockTensorDesc, GapOwner, Slice};

use super::limits::{DeviceLimits, common_multiple};
use super::strides::bits_to;
use super::tensor::{Layout, Tensor};

/// The most pieces of one tensor. More of them mean that the largest binding is a mistake.
const MOST_PIECES: usize = 1 << 14;

/// The most axes of all pieces together: a piece of 64 axes takes as long as eight of 8 axes.
const MOST_AXES: usize = MOST_PIECES * 8;

/// One piece of a tensor that [`split_binding`] has divided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BindingPiece {
    /// The indices of each axis that the piece covers.
    pub indices: Vec<Range<u64>>,
    /// The piece as a tensor whose offsets count from the start of `bound`: a descriptor if the whole tensor
    /// has one, else an index map.
    pub layout: AnyLayout,
    /// The tensor of blocks whose bytes `layout` has; its
    /// [`indices_of_piece`](BlockTensorDesc::indices_of_piece) gives `indices` in values. `None` for other
    /// tensors, and for a piece that cuts a block.
    pub blocks: Option<BlockTensorDesc>,
    /// The bytes to bind, counted from the start of the tensor's buffer.
    pub bound: Range<u64>,
}

/// Divides a tensor into pieces that each fit one binding, along axes that are found. A tensor that fits is
/// one piece.
///
/// Every piece is a tensor with the same strides or tiles. Its binding begins at an offset that the device
/// allows, if the tensor's buffer does, at or before the first element of the piece. The distance to the
/// first element is the base offset of the piece's layout. Devices that are given strides and no base offset
/// ([`DeviceLimits::base_offset_in_binding`]) get pieces whose first elements are aligned. All pieces along
/// an axis but the last have the same number of indices. Bindings of neighbouring pieces may share the bytes
/// in front of an element. So bind pieces for reading only, or write each piece in a dispatch of its own.
///
/// # Errors
///
/// `binding_limit` if an element with its alignment is larger than a binding, or a block of tiles is.
/// `no_pieces` if pieces with an aligned start do not fit a binding. `offset_unaligned` if the start of the
/// tensor itself is unaligned and the device has no base offset. `out_of_limits` for more than 16,384 pieces,
/// or more than 131,072 axes of all pieces together. `overflow` if a number passes 64 bits. The errors of
/// [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::upload::{split_binding, validate, BindingPiece, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// // Attention scores of one image: 192 MiB, which axis 0 cannot divide.
/// let limits = DeviceLimits::webgpu();
/// let desc = BufferTensorDesc::packed(DataType::F32, &[1, 48, 1024, 1024])?;
/// let pieces: Vec<BindingPiece> = split_binding(&desc, &limits)?;
/// assert_eq!((&pieces[0].indices[1], &pieces[1].indices[1]), (&(0..32), &(32..48)));
/// for piece in &pieces {
///     let buffer = UploadBuffer::new(192 << 20, piece.bound.start, Role::Input);
///     assert!(validate(&piece.layout, &buffer, &limits).is_ok());
/// }
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn split_binding<L: ToIndexMap + ?Sized>(layout: &L, limits: &DeviceLimits) -> Result<Vec<BindingPiece>, Error> {
    let tensor = Tensor::of(layout)?;
    let (bits, size_multiple) = (tensor.element_bits, limits.size_multiple.max(1));
    let device = common_multiple(limits.offset_alignment_of(tensor.data_type, bits), size_multiple)?;
    let alignment = common_multiple(common_multiple(device, tensor.element_bytes())?, tensor.promise)?;
    let room = wide_product(limits.max_binding.minus(limits.max_binding.modulo(size_multiple)), 8_u64);
    let mut split =
        Split { limits, bits, block_type: tensor.block_type, alignment, size_multiple, room, pieces: Vec::new() };
    let indices = tensor.sizes().iter().map(|&size| 0..size).collect();
    split.add(&tensor, indices)?;
    Ok(split.pieces)
}

struct Split<'a> {
    limits: &'a DeviceLimits,
    bits: u32,
    block_type: Option<BlockType>,
    alignment: u64,
    size_multiple: u64,
    /// The largest binding, in bits.
    room: u128,
    pieces: Vec<BindingPiece>,
}

impl Split<'_> {
    fn length(&self, part: &Tensor<'_>) -> u128 {
        wide_product(part.span_elements.saturating_sub(part.base_offset), self.bits)
    }

    fn too_large(&self, bits: u128) -> Result<(), Error> {
        Err(Code::BindingLimit.for_value(checked::narrow(bits.div_ceil(8), BYTES)?, self.limits.max_binding))
    }

    fn add(&mut self, part: &Tensor<'_>, indices: Vec<Range<u64>>) -> Result<(), Error> {
        let align_bits = wide_product(self.alignment, 8_u64).max(1);
        let base_bits = wide_product(part.base_offset, self.bits);
        let lead = base_bits.modulo(align_bits);
        let exact_starts = self.limits.base_offset_in_binding && self.limits.takes_strides;
        if exact_starts && lead > 0 {
            return Err(Code::OffsetUnaligned.for_value(bits_to(Some(base_bits.div_euclid(8))), self.alignment));
        }
        let length = lead.saturating_add(self.length(part));
        if part.element_count == 0 || length <= self.room {
            return self.push(part, indices);
        }
        let Some((axis, unit, stride)) = part.widest_axis() else { return self.too_large(length) };
        let (size, first) = (nth_or_panic(part.sizes(), axis), part.slice(axis, 0..unit, GapOwner::Others)?);
        let first = Tensor::of(&first)?;
        let (row_bits, stride_bits) = (self.length(&first), wide_product(stride, self.bits));
        // The number of units that a piece begins at a multiple of, and the most bits between the start of a
        // binding and its first element.
        let step = gcd(align_bits, stride_bits).max(1);
        let (multiple, most_lead) = match exact_starts {
            true => (align_bits.divided_by(step).max(1), 0),
            false => (1, align_bits.saturating_sub(step).plus(base_bits.modulo(step))),
        };
        let units = u128::from(size.div_ceil(unit));
        let longest = row_bits.saturating_add(most_lead);
        let fitting = self.room.checked_sub(longest).map_or(0, |free| {
            let fits = free.checked_div(stride_bits).unwrap_or(units).plus(1).min(units);
            fits.minus(fits.modulo(multiple))
        });
        let step = match fitting {
            0 if multiple > 1 => return Err(Code::NoPieces.for_value(self.limits.max_binding, self.alignment)),
            0 if first.widest_axis().is_none() => return self.too_large(longest),
            fitting => checked::narrow::<u64>(fitting.max(1), OFFSET)?.saturating_mul(unit),
        };
        // If no other piece has elements between those of a piece, the piece owns its gaps as the whole
        // tensor does.
        let owns = if row_bits <= stride_bits { part.owns.min(GapOwner::Inside) } else { GapOwner::Others };
        let mut start = 0;
        while start < size {
            let end = start.saturating_add(step).min(size);
            let piece = part.slice(axis, start..end, owns)?;
            let piece = Tensor::of(&piece)?;
            let mut indices = indices.clone();
            if let Some(range) = indices.get_mut(axis) {
                *range = range.start.plus(start)..range.start.plus(end);
            }
            // If not even one unit fits a binding, each unit is divided again, along another axis.
            if fitting == 0 {
                self.add(&piece, indices)?
            } else {
                self.push(&piece, indices)?
            }
            start = end;
        }
        Ok(())
    }

    fn push(&mut self, part: &Tensor<'_>, indices: Vec<Range<u64>>) -> Result<(), Error> {
        let count = self.pieces.len().saturating_add(1);
        let most = MOST_AXES.checked_div(part.sizes().len()).map_or(MOST_PIECES, |most| most.min(MOST_PIECES));
        if count > most {
            let most = checked::len_u64(most);
            return Err(Error::out_of_limits("the number of bindings", checked::len_u64(count), 1, most));
        }
        let first: u64 = checked::narrow(wide_product(part.base_offset, self.bits).div_euclid(8), BYTES)?;
        let start = first.minus(first.modulo(self.alignment.max(1)));
        // The bytes in front of the first element are whole elements, because the alignment is a multiple of
        // an element's bytes.
        let skipped = wide_product(start, 8_u64).divided_by(self.bits.into());
        let skipped: u64 = checked::narrow(skipped, OFFSET)?;
        let exact = checked::bytes_for(part.span_elements.minus(skipped), self.bits)?;
        let length = checked::round_up(exact, self.size_multiple, BYTES)?;
        let (layout, bound) = (part.after(skipped)?, start..checked::add(start, length, BYTES)?);
        let bytes = self.block_type.zip(layout.as_descriptor());
        let blocks = bytes.and_then(|(of, bytes)| BlockTensorDesc::from_bytes(of, bytes.clone()).ok());
        self.pieces.push(BindingPiece { indices, layout, blocks, bound });
        Ok(())
    }
}

impl Tensor<'_> {
    /// A range of indices of an axis. A map is told what the slice owns, and a descriptor finds out.
    fn slice(&self, axis: usize, indices: Range<u64>, owns: GapOwner) -> Result<AnyLayout, Error> {
        match &self.layout {
            Layout::Strided(desc) => desc.slice_axis(axis, indices).map(AnyLayout::Strided),
            Layout::Mapped(map) => {
                let mut slices: Vec<Slice> = map.sizes().iter().map(|&size| (0..size).into()).collect();
                if let Some(slice) = slices.get_mut(axis) {
                    *slice = indices.into();
                }
                Ok(AnyLayout::Mapped(map.slice(&slices)?.with_gap_owner(owns)))
            }
        }
    }

    /// The tensor with offsets that count from a later element of the buffer.
    fn after(&self, skipped: u64) -> Result<AnyLayout, Error> {
        let base = self.base_offset.minus(skipped);
        match &self.layout {
            Layout::Strided(desc) => (*desc).clone().beginning_at(base).map(AnyLayout::Strided),
            Layout::Mapped(map) => Ok(AnyLayout::Mapped(
                map.as_ref().clone().with_base(base)?.ending_at(self.span_elements.minus(skipped)),
            )),
        }
    }

    /// The axis to cut along: the one of the largest stride among those that can be cut, the indices of one
    /// block of it, and the distance between blocks, in elements.
    fn widest_axis(&self) -> Option<(usize, u64, u64)> {
        let mut widest: Option<(usize, u64, u64)> = None;
        let sizes = self.sizes();
        let mut look = |axis: usize, unit: u64, stride: u64| {
            if nth_or_panic(sizes, axis) > unit && stride > widest.map_or(0, |(_, _, widest)| widest) {
                widest = Some((axis, unit, stride));
            }
        };
        match &self.layout {
            Layout::Strided(desc) => {
                for (axis, &stride) in desc.strides().iter().enumerate() {
                    look(axis, 1, stride);
                }
            }
            Layout::Mapped(map) => {
                // A swizzled tensor is cut between two spans of its swizzle.
                let span = map.swizzle().map_or(1, Swizzle::span);
                let mut look = |axis, unit: u64, stride: u64| {
                    let units = span.divided_by(gcd(stride, span).max(1));
                    look(axis, unit.saturating_mul(units), stride.saturating_mul(units));
                };
                for component in map.components.iter() {
                    let Some((&axis, fused)) = component.dims().split_first() else { continue };
                    let minor: Dims = fused.iter().map(|&dim| nth_or_panic(sizes, dim)).collect();
                    let minor = checked::element_count(&minor).max(1);
                    // Only whole blocks of the slowest digit lie apart.
                    if let Some(digit) = component.chain.digits().first() {
                        let block = digit.divisor.get();
                        if block.is_multiple_of(minor) {
                            look(axis, block.divided_by(minor), digit.stride);
                        } else if minor.is_multiple_of(block) {
                            look(axis, 1, digit.stride.times(minor.divided_by(block)));
                        }
                    }
                }
            }
        }
        widest
    }
}

//! `ScaledTensor`: values and the scales of their blocks, in planes of their own.

use alloc::vec::Vec;
use core::ops::Range;

use crate::checked::{self, Dims, OFFSET, Proven, nth_or_panic};
use crate::error::{Code, Error};
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::{Integer, index_of};

use super::arena::{Arena, ArenaBinding, ArenaErrors, PackedBuffer};
use super::limits::{DeviceLimits, common_multiple};
use super::report::Errors;
use super::split::{BindingPiece, split_binding};
use super::validate::Role;

/// A tensor of small numbers with one scale for each block of them, as MXFP4, MXFP8, NVFP4 and Metal's
/// auxiliary planes have it. Values and scales are layouts of their own, and may be any: packed, padded, or
/// a named layout such as `nvidia.sf_128x4`. There may be several levels of scales.
///
/// ```
/// use tensor_layout::upload::ScaledTensor;
/// use tensor_layout::{BufferTensorDesc, DataType, DeviceLimits};
///
/// // MXFP4: a power of two for each 32 values of a row.
/// let values = BufferTensorDesc::packed(DataType::F4E2M1FN, &[128, 320])?;
/// let scales = BufferTensorDesc::packed(DataType::F8E8M0FNU, &[128, 10])?;
/// let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 32])])?;
/// let packed = tensor.pack(&DeviceLimits::webgpu())?;
/// assert_eq!((packed.offsets.as_slice(), packed.len), (&[0, 20480][..], 21760));
/// // Value 70 of row 3 is element 1030 of its plane, its scale element 32 of the other.
/// assert_eq!(tensor.offsets(&[3, 70])?, [1030, 32]);
///
/// let error = ScaledTensor::new(&values, &[(&scales, &[1, 16])]).err().unwrap();
/// assert_eq!(error.to_string(), "axis 1 has size 10, but size 20 was expected");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub struct ScaledTensor<'a> {
    layouts: Vec<&'a (dyn ToIndexMap + Sync)>,
    /// The map of each plane, with its block: how many values of each axis share one element of the plane.
    /// The block of the plane of values is 1 on each axis.
    planes: Vec<(IndexMap, Dims)>,
}

impl<'a> ScaledTensor<'a> {
    /// Returns the tensor of these values, with planes of scales. A plane has the *block* of an element:
    /// how many values of each axis have one scale. The last block of an axis may be narrower.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` for a plane or a block of another rank, `out_of_limits` for a block of 0,
    /// `size_mismatch` for a plane that has not one scale for each block, and the errors of
    /// [`ToIndexMap::to_index_map`].
    pub fn new<T: Integer>(
        values: &'a (dyn ToIndexMap + Sync),
        scales: &[(&'a (dyn ToIndexMap + Sync), &[T])],
    ) -> Result<Self, Error> {
        let map = values.to_index_map()?;
        let (sizes, ones) = (Dims::from_slice(map.sizes()), Dims::from_elem(1, map.sizes().len()));
        let (mut layouts, mut planes) = (Vec::from([values]), Vec::from([(map, ones)]));
        for &(layout, block) in scales {
            let (map, block): (_, Dims) =
                (layout.to_index_map()?, block.iter().map(|&number| index_of(number)).collect());
            for length in [block.len(), map.sizes().len()] {
                if length != sizes.len() {
                    return Err(Error::rank_mismatch("sizes of a plane and of its block", sizes.len(), length));
                }
            }
            for (axis, ((&size, &number), &scales)) in sizes.iter().zip(&block).zip(map.sizes()).enumerate() {
                if number == 0 {
                    return Err(Error::out_of_limits("the block of a scale", 0, 1, u64::MAX));
                }
                if size.div_ceil(number) != scales {
                    return Err(Code::SizeMismatch.on_axis(axis, scales, size.div_ceil(number)));
                }
            }
            layouts.push(layout);
            planes.push((map, block));
        }
        Ok(ScaledTensor { layouts, planes })
    }

    /// Chooses an offset for each plane in one buffer, the values first, as [`PackedBuffer::new`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`PackedBuffer::new`].
    pub fn pack(&self, limits: &DeviceLimits) -> Result<PackedBuffer, Error> {
        let mut layouts: Vec<&dyn ToIndexMap> = Vec::new();
        for &layout in &self.layouts {
            layouts.push(layout);
        }
        PackedBuffer::new(&layouts, limits)
    }

    /// Returns the offset of a value in its plane, and of its scale in each plane of scales, in elements of
    /// the plane.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` and `index_out_of_range` for an index outside the sizes of the values.
    pub fn offsets<T: Integer>(&self, index: &[T]) -> Result<Vec<u64>, Error> {
        let index: Dims = index.iter().map(|&i| index_of(i)).collect();
        let offset = |(map, block): &(IndexMap, Dims)| {
            let place: Dims = index.iter().zip(block).map(|(i, number)| i.divided_by(*number)).collect();
            // An index of another rank is passed on as it is, and the map refuses it.
            if index.len() == block.len() { map.offset(&place) } else { map.offset(&index) }
        };
        self.planes.iter().map(offset).collect()
    }

    /// Cuts the tensor into pieces of whole rows of blocks, of which every plane fits one binding: values and
    /// scales are cut at the same indices of the outermost axis that can be cut. A tensor that fits is one
    /// piece.
    ///
    /// # Errors
    ///
    /// `no_pieces` if no number of pieces fits, and the errors of [`split_binding`].
    ///
    /// ```
    /// use tensor_layout::upload::{ScaledPiece, ScaledTensor};
    /// use tensor_layout::{BufferTensorDesc, DataType, DeviceLimits};
    ///
    /// let values = BufferTensorDesc::packed(DataType::F4E2M1FN, &[128, 320])?;
    /// let scales = BufferTensorDesc::packed(DataType::F8E8M0FNU, &[128, 10])?;
    /// let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 32])])?;
    /// let pieces: Vec<ScaledPiece> = tensor.split_binding(&DeviceLimits::webgpu().with("max_binding", "8KiB")?)?;
    /// assert_eq!((pieces.len(), pieces[1].indices[0].clone()), (4, 32..64));
    /// assert_eq!((pieces[1].planes[0].bound.clone(), pieces[1].planes[1].bound.clone()), (5120..10240, 256..640));
    /// assert_eq!(pieces[1].planes[1].indices, [32..64, 0..10]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn split_binding(&self, limits: &DeviceLimits) -> Result<Vec<ScaledPiece>, Error> {
        let sizes = self.planes.first().map_or(&[][..], |(map, _)| map.sizes());
        let mut refusal = None;
        for (axis, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
            let blocks = self.planes.iter().map(|(_, block)| nth_or_panic(block, axis).max(1));
            let unit = blocks.fold(1, |unit, block| common_multiple(unit, block).unwrap_or(u64::MAX));
            let mut count = 1_u64;
            while count <= size.div_ceil(unit) && count <= MOST_PIECES {
                let rows = checked::round_up(size.div_ceil(count), unit, OFFSET)?;
                // Tiles of scales are cut between two of them if there are enough rows.
                let rows = if rows > ROWS { checked::round_up(rows, ROWS, OFFSET)? } else { rows };
                match self.cut(axis, rows, limits) {
                    Ok(Some(pieces)) => return Ok(pieces),
                    Ok(None) => {}
                    Err(error) => refusal = Some(error),
                }
                count = count.times(2);
            }
        }
        if sizes.iter().all(|&size| size <= 1)
            && let Some(pieces) = self.cut(0, u64::MAX, limits)?
        {
            return Ok(pieces);
        }
        Err(refusal.unwrap_or_else(|| Code::NoPieces.for_value(limits.max_binding, limits.offset_alignment)))
    }

    /// Returns pieces of `rows` indices of an axis each. `None` if a plane of some piece does not fit a
    /// binding.
    fn cut(&self, axis: usize, rows: u64, limits: &DeviceLimits) -> Result<Option<Vec<ScaledPiece>>, Error> {
        let sizes = self.planes.first().map_or(&[][..], |(map, _)| map.sizes());
        let (size, mut pieces, mut start) = (sizes.get(axis).copied().unwrap_or(1), Vec::new(), 0);
        while start < size || pieces.is_empty() {
            let end = start.saturating_add(rows).min(size);
            let mut planes = Vec::new();
            for (map, block) in &self.planes {
                let block = block.get(axis).copied().unwrap_or(1).max(1);
                let own = start.divided_by(block)..end.div_ceil(block);
                let ranges = map.sizes().iter().enumerate();
                let ranges: Vec<Range<u64>> =
                    ranges.map(|(other, &size)| if other == axis { own.clone() } else { 0..size }).collect();
                let mut split = split_binding(&map.slice(&ranges)?, limits)?.into_iter();
                let (Some(piece), None) = (split.next(), split.next()) else { return Ok(None) };
                planes.push(BindingPiece { indices: ranges, ..piece });
            }
            let indices = sizes.iter().enumerate();
            let indices = indices.map(|(other, &size)| if other == axis { start..end } else { 0..size }).collect();
            pieces.push(ScaledPiece { indices, planes });
            start = end.max(start.saturating_add(1));
        }
        Ok(Some(pieces))
    }
}

const MOST_PIECES: u64 = 1 << 14;
/// The rows of the largest tile of scales (`nvidia.sf_128x4`).
const ROWS: u64 = 128;

/// One piece of a [`ScaledTensor`] that [`split_binding`](ScaledTensor::split_binding) has cut.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScaledPiece {
    /// The indices of the values.
    pub indices: Vec<Range<u64>>,
    /// The binding of each plane, the values first. Its indices are those of the plane.
    pub planes: Vec<BindingPiece>,
}

impl Arena {
    /// Places tensors of values and scales as [`Arena::new`] places others. Planes that are too large for
    /// one binding are cut at the same values ([`ScaledTensor::split_binding`]).
    /// [`Arena::tensors`](super::Arena::tensors) has each plane by itself, the values of the first tensor
    /// first.
    ///
    /// # Errors
    ///
    /// For each tensor with a problem, its position in the list and its errors.
    ///
    /// ```
    /// use tensor_layout::upload::{Arena, Role, ScaledTensor};
    /// use tensor_layout::{BufferTensorDesc, DataType, DeviceLimits};
    ///
    /// let values = BufferTensorDesc::packed(DataType::F4E2M1FN, &[128, 320])?;
    /// let scales = BufferTensorDesc::packed(DataType::F8E8M0FNU, &[128, 10])?;
    /// let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 32])])?;
    /// let arena = Arena::of_scaled(&[(&tensor, Role::Input)], &DeviceLimits::webgpu()).unwrap();
    /// assert_eq!((arena.tensors.len(), arena.buffers[0]), (2, 21760));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn of_scaled(tensors: &[(&ScaledTensor<'_>, Role)], limits: &DeviceLimits) -> Result<Arena, ArenaErrors> {
        Arena::of(tensors, limits, |arena, tensor, role, open| {
            let mut bindings: Vec<Vec<ArenaBinding>> = tensor.planes.iter().map(|_| Vec::new()).collect();
            for piece in tensor.split_binding(limits).map_err(|error| Errors::of(error, limits))? {
                for (own, piece) in bindings.iter_mut().zip(piece.planes) {
                    let placed = arena.add(&piece.layout, role, limits, open)?;
                    own.extend(placed.into_iter().map(|one| ArenaBinding { indices: piece.indices.clone(), ..one }));
                }
            }
            Ok(bindings)
        })
    }
}
